"""The recall task: facts at the start of a text, questions at its end, no fact in any window.

A text has 64 tokens and is meant for a window of 16::

    positions   0 ... 39                     40 ... 55     56 ... 63
                4 facts among 36 fillers     fillers       8 questions

A fact is one token that says "key k has value v"; the four keys of a text differ. A question is a
token that names one of those keys; its answer is the value. The first question, at 56, sees
41 to 56 exactly, and no fact lies behind 39: no question has a fact in its window. Values are drawn
evenly from 8, so who knows nothing of the facts is right once in 8: chance is 0.125.

A worked example: ``words`` of the first text of ``draw(1, seed=0)``, its fillers left out::

    position  6     11    17    20    56   57   58   59   60   61   62   63
    token     k7=2  k3=4  k0=5  k4=2  k3?  k7?  k0?  k4?  k0?  k3?  k3?  k7?
    answer                            4    2    5    2    5    4    4    2

A fact is a single token, so one layer is enough to find it: what is asked is what the cache has
kept, not how the layers work together. But a window alone is not blind by construction: two layers
can relay a fact, 15 tokens each, to a question at q from position q - 30 on (``within_reach``).
Who always does so, and guesses the rest, is right for 0.355 of all questions. That is hard to
learn: after 600 steps the models here have not begun to, after 1,200 some have.

Source: associative recall, as in arXiv 2312.04927; S24, S34.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .inputs import count

__all__ = [
    "ANSWERS", "CHANCE", "LENGTH", "QUESTIONS", "VOCAB", "WINDOW", "Texts", "batches", "draw",
    "within_reach", "words",
]  # fmt: skip

LENGTH, WINDOW = 64, 16
KEYS = VALUES = 8
FACTS, EARLY, QUESTIONS, FILLERS = 4, 40, 8, 16
CHANCE = 1 / VALUES

FACT = 0  # the first of each kind of token: a fact is FACT + key * VALUES + value
FILLER = FACT + KEYS * VALUES
QUESTION = FILLER + FILLERS
ANSWER = QUESTION + KEYS
VOCAB = ANSWER + VALUES
ANSWERS = range(ANSWER, VOCAB)

Array = npt.NDArray[np.int64]


class Texts(NamedTuple):
    """Some texts: ``tokens`` (n, 64) and ``answers`` (n, 8), the tokens that answer the last 8."""

    tokens: Array
    answers: Array


def draw(n: int, seed: int) -> Texts:
    """Draw ``n`` texts from a seed; raises ``ValueError`` or ``TypeError`` for other numbers."""
    return _draw(count("n", n, 1), np.random.default_rng([count("seed", seed, 0), 0]))


def batches(size: int, seed: int) -> Iterator[Texts]:
    """Draw ``size`` texts again and again, without end: to train with.

    The stream of a seed shares no draw with ``draw``, whatever the seed given there.
    """
    source = np.random.default_rng([count("seed", seed, 0), 1])
    rows = count("size", size, 1)
    while True:
        yield _draw(rows, source)


def _draw(n: int, source: np.random.Generator) -> Texts:
    tokens = FILLER + source.integers(FILLERS, size=(n, LENGTH))
    row = np.arange(n)[:, None]
    keys = source.random((n, KEYS)).argsort(1)[:, :FACTS]  # different ones, in any order
    values = source.integers(VALUES, size=(n, FACTS))
    places = source.random((n, EARLY)).argsort(1)[:, :FACTS]
    tokens[row, places] = FACT + keys * VALUES + values
    asked = source.integers(FACTS, size=(n, QUESTIONS))
    tokens[:, -QUESTIONS:] = QUESTION + keys[row, asked]
    return Texts(tokens, ANSWER + values[row, asked])


def within_reach(texts: Texts, layers: int) -> npt.NDArray[np.bool_]:
    """Say which questions ask of a fact that as many layers of windows can relay: (n, 8)."""
    reach = count("layers", layers, 1) * (WINDOW - 1)
    facts, asked = texts.tokens[:, None, :EARLY], texts.tokens[:, -QUESTIONS:, None] - QUESTION
    where = ((facts < FILLER) & ((facts - FACT) // VALUES == asked)).argmax(-1)
    return np.asarray(np.arange(LENGTH - QUESTIONS, LENGTH) - where <= reach)


def words(tokens: npt.ArrayLike) -> list[str]:
    """Give the tokens of a text as words: ``k3=5`` a fact, ``k3?`` a question, ``.`` a filler."""
    return [_word(int(token)) for token in np.asarray(tokens).reshape(-1)]


def _word(token: int) -> str:
    if not 0 <= token < VOCAB:
        raise ValueError(f"there is no token {token}; give tokens from 0 to {VOCAB - 1}")
    if token >= ANSWER:
        return str(token - ANSWER)
    if token >= QUESTION:
        return f"k{token - QUESTION}?"
    return "." if token >= FILLER else "k{}={}".format(*divmod(token - FACT, VALUES))
