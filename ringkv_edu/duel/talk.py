"""A talk with hidden facts: what the duel plays, drawn from a seed.

A talk is 400 tokens. A **fact** (``k7=4``) says that a name has a value; a **question** (``k7?``)
asks for what was said last of that name; everything else is small talk. The first six tokens are
facts, a system prompt: a quarter of all questions ask for these. A quarter ask for something old,
the rest for something just said. Now and then a fact is **said anew**, with another value: the
older one is stale then.

Keys and queries are drawn, not learned: the key of a fact and the query of a question about it
point the same way, so that attention finds a fact that is held, and scores it 14 where small talk
scores about 0, give or take 2.5. Values are one of eight directions; an answer is the direction
nearest to what attention gave.

``draw_talk(0)``: positions 0 to 5 say k0 to k5; the first question stands at position 30.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

__all__ = ["CODES", "DIM", "FIRST", "NAMES", "TOKENS", "Token", "answer_of", "draw_talk"]

Array = npt.NDArray[np.float32]
TOKENS, DIM, NAMES, CODES = 400, 32, 30, 8
FIRST = 6  # facts that the talk begins with
SCORE = 14.0  # of a question and the fact it asks for
RECENT, OLD, QUIET = 12, 80, 30


@dataclass(frozen=True)
class Token:
    """One token: its text, key and value (DIM,); of a question also the query and the answer."""

    position: int
    text: str
    key: Array
    value: Array
    query: Array | None = None
    answer: int | None = None


@dataclass
class _Drawn:
    """What directions the names and the values have."""

    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.names = self._directions(NAMES)
        self.codes = codes()

    def _directions(self, n: int) -> Array:
        found = self.rng.standard_normal((n, DIM))
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def noise(self) -> tuple[Array, Array]:
        """Give the key and the value of small talk."""
        key, value = self._directions(2)
        return key * np.float32(_LENGTH), value


_LENGTH = (SCORE * DIM**0.5) ** 0.5  # of keys and queries


def codes() -> Array:
    """Give the directions of the values, (CODES, DIM), the same in every talk."""
    found, _ = np.linalg.qr(np.random.default_rng(8).standard_normal((DIM, CODES)))
    return np.asarray(found.T, np.float32)


def answer_of(out: npt.ArrayLike) -> int:
    """Give the value whose direction is nearest to an output (DIM,) of attention."""
    return int(np.argmax(codes() @ np.asarray(out)))


def draw_talk(seed: int, tokens: int = TOKENS) -> list[Token]:
    """Draw a talk; the same seed gives the same one. Raises ``ValueError`` for fewer than 100."""
    if tokens < 100:
        raise ValueError(f"tokens is {tokens}; a talk with something old in it has 100 or more")
    rng, drawn = Random(f"talk:{seed}"), _Drawn(np.random.default_rng([seed, 11]))
    said: dict[int, tuple[int, int]] = {}  # name: when it was said last, and what
    talk: list[Token] = []
    for position in range(tokens):
        asked = _asked(rng, position, said) if position >= QUIET and position % 5 == 0 else None
        key, value = drawn.noise()
        if asked is not None:
            query = drawn.names[asked] * np.float32(_LENGTH)
            talk.append(Token(position, f"k{asked}?", key, value, query, said[asked][1]))
        elif position < FIRST or rng.random() < 0.2:
            name = position if position < FIRST else rng.randrange(FIRST, NAMES)
            code = _another(rng, said.get(name))
            said[name] = position, code
            key, value = drawn.names[name] * np.float32(_LENGTH), drawn.codes[code]
            talk.append(Token(position, f"k{name}={code}", key, value))
        else:
            talk.append(Token(position, rng.choice(SMALL_TALK), key, value))
    return talk


SMALL_TALK = ("and", "so", "it", "was", "said", "that", "we", "all", "know", "how", "this", "goes")


def _another(rng: Random, before: tuple[int, int] | None) -> int:
    return rng.choice([code for code in range(CODES) if before is None or code != before[1]])


def _asked(rng: Random, position: int, said: dict[int, tuple[int, int]]) -> int:
    """Choose the name that a question asks for."""
    kind = rng.choice(("first", "old", "recent", "recent"))
    later = {name: position - when for name, (when, _) in said.items() if name >= FIRST}
    if kind == "first" or not later:
        return rng.randrange(FIRST)
    if kind == "old":
        fitting = [name for name, age in later.items() if age >= OLD]
        return rng.choice(fitting or [max(later, key=lambda name: later[name])])
    fitting = [name for name, age in later.items() if age <= RECENT]
    return rng.choice(fitting or [min(later, key=lambda name: later[name])])
