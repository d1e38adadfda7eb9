"""Sections F and G of the bug reports: sinks that stay, saving, reset, storage, dtype."""

from __future__ import annotations

import numpy as np

from .adapter import Subject
from .case import Collector
from .twin import Differs, Twin

__all__ = ["CASES"]

CASES = Collector()
case = CASES.case


@case("41", "lmstudio-ai/mlx-engine#179", "sinks outlive everything", "sinks")
def sinks_stay(subject: Subject) -> None:
    """Append thirty tokens with two sinks and a window of four."""
    twin = Twin(subject, window=4, sinks=2)
    for _ in range(30):
        twin.append()
    twin.expect_needed()
    twin.step()


@case(
    "41a", "lmstudio-ai/mlx-engine#179", "a sink's key and value never change", "sinks", "storage"
)
def sinks_unchanged(subject: Subject) -> None:
    """Compare what stands in the first two slots after two tokens and after thirty."""
    twin = Twin(subject, window=4, sinks=2)
    twin.append(2)
    first = [np.array(x[:, :2]) for x in (twin.cache.keys, twin.cache.values)]
    twin.append(28)
    later = [np.array(x[:, :2]) for x in (twin.cache.keys, twin.cache.values)]
    if any((a != b).any() for a, b in zip(first, later, strict=True)):
        raise Differs("the keys or values in the sinks' slots have changed")


@case("44", "ml-explore/mlx-lm#1250", "a saved cache goes on as if it had not been saved", "state")
def saved_and_loaded(subject: Subject) -> None:
    """Save and load after 0 to 12 tokens, the empty cache included, then go on for six."""
    for tokens in range(13):
        twin = Twin(subject, window=4)
        for _ in range(tokens):
            twin.append()
        twin.restore()
        twin.attend()
        for _ in range(6):
            twin.step()
            twin.expect_needed()


@case("44a", "ml-explore/mlx-lm#1250", "a saved cache and its copy share nothing", "state")
def copies_are_apart(subject: Subject) -> None:
    """Load a copy, let it run on, and ask the first one."""
    twin = Twin(subject, window=4)
    twin.append(7)
    copy = subject.copy(twin.cache)
    k = np.full_like(twin.k[:, :3], 9).astype(np.float32)
    copy.append(k, k)
    twin.attend()
    twin.step()


@case("46", "rasbt/LLMs-from-scratch#925", "after a reset a cache is like a new one")
def reset_forgets(subject: Subject) -> None:
    """Run ten tokens of which some are NaN, reset, run three."""
    for tokens in (3, 4, 10):
        twin = Twin(subject, window=4)
        _, k, v = twin.draw(tokens)
        twin.cache.append(k * np.float32("nan"), v * np.float32("nan"))
        twin.reset()
        if twin.held:
            raise Differs(f"after reset() it still holds {twin.held}")
        for _ in range(6):
            twin.step()
            twin.expect_needed()


@case("47", "deepbeepmeep/Wan2GP#1628", "what an empty slot holds reaches no output", "storage")
def poisoned_storage(subject: Subject) -> None:
    """Fill the raw storage with NaN before anything is appended."""
    for first in ((1, 1), (2,), (1, 4, 1), (6,)):
        twin = Twin(subject, window=4)
        twin.cache.keys[...] = np.nan
        twin.cache.values[...] = np.nan
        for n in first:
            twin.step(n)
            twin.attend()
        for _ in range(6):
            twin.step()


@case("48", "huggingface/transformers#39730", "another dtype is refused, or the stored one stays")
def another_dtype(subject: Subject) -> None:
    """Append float16 to a float32 cache."""
    twin = Twin(subject, window=4)
    twin.append(2)
    before = twin.held
    _, k, v = twin.draw(1)
    twin.q, twin.k, twin.v = (x[:, :2] for x in (twin.q, twin.k, twin.v))
    try:
        twin.cache.append(k.astype(np.float16), v.astype(np.float16))
    except (TypeError, ValueError):
        if twin.held != before:
            raise Differs("float16 was refused, but the cache has changed") from None
        twin.step()
        return
    if "storage" in subject.offers and twin.cache.keys.dtype != np.float32:
        raise Differs(f"the stored dtype became {twin.cache.keys.dtype}")
