"""What lesson 11 starts from: memories that are already filled. Graded runs may read it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from .duel.memory import Entry, Memory
from .duel.talk import DIM, Token

__all__ = ["drawn_memory", "drawn_query", "held", "named_memory"]


def drawn_memory(
    rng: Random, tokens: int, budget: int, first: int = 0, archived: int = 0, small: int = 0
) -> Memory:
    """Fill a memory with as many tokens, over its budget; some older ones lie in the archive.

    The ``first`` tokens stand at positions 0, 1, ...; then positions have gaps. Every entry but
    the newest has been asked for before, so it has a mass, in eighths; two may have the same.
    The first ``small`` tokens of the archive have 8 bits.
    """
    texts = [f"t{n}" for n in range(tokens + archived)]
    memory = named_memory(rng, texts, budget, first)
    for entry in memory.entries[:-1]:
        entry.mass = rng.randrange(40) / 8
    for n in range(archived):
        if n < small:
            memory.shrink(memory.entries[first], 8)
        memory.drop(memory.entries[first])
    return memory


def drawn_query(rng: Random) -> np.ndarray:
    """Draw a query (DIM,) in eighths."""
    return _vector(rng)


def named_memory(rng: Random, texts: Sequence[str], budget: int, first: int = 0) -> Memory:
    """Fill a memory with tokens of these texts, keys and values drawn."""
    memory, position = Memory(budget), -1
    for n, text in enumerate(texts):
        position += 1 if n <= first else rng.randrange(1, 4)
        key, value = (_vector(rng) for _ in range(2))
        memory.write(Token(position, text, key, value))
    return memory


def held(memory: Memory) -> str:
    """Write what a memory holds, as ``position:bits``, in order of position."""
    return " ".join(_short(entry) for entry in memory.entries) or "nothing"


def _short(entry: Entry) -> str:
    return f"{entry.position}:{entry.bits}"


def _vector(rng: Random) -> np.ndarray:
    return np.array([rng.randrange(-16, 17) / 8 for _ in range(DIM)], np.float32)
