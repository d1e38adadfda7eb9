"""Sections F and G of the bug reports: sinks that stay, saving, reset, storage, dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from .adapter import Subject
from .case import Collector
from .twin import NotAsked, Twin

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
    """Look for the sinks' own keys and values, bit by bit, after thirty tokens."""
    twin = Twin(subject, window=4, sinks=2)
    if "rotates" in subject.offers:
        raise NotAsked("it stores rotated keys, which are not those that were appended")
    for _ in range(30):
        twin.append()
    for name, given in (("keys", twin.k), ("values", twin.v)):
        stored = np.asarray(getattr(twin.cache, name))
        for sink in range(2):
            same = (stored == given[:, [sink]].astype(stored.dtype)).all(axis=(0, 2))
            if not same.any():
                raise twin.differs(f"the {name} of sink {sink} are no longer stored as they were")


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


@case("44a", "ml-explore/mlx-lm#1250", "a saved state is a copy", "state")
def copies_are_apart(subject: Subject) -> None:
    """Save, let the cache run on, load twice: neither may know what came after."""
    twin = Twin(subject, window=4)
    twin.append(7)
    state = twin.cache.state_dict()
    history = twin.q, twin.k, twin.v
    twin.append(6)
    copies = [subject.cache_class.from_state_dict(state) for _ in range(2)]
    for cache in copies:
        twin.cache, (twin.q, twin.k, twin.v) = cache, history
        twin.attend()
        for _ in range(5):
            twin.step()


@case("44b", "ml-explore/mlx-lm#1631", "a saved cache keeps its sinks", "state", "sinks")
def sinks_are_saved(subject: Subject) -> None:
    """Save and load with sinks, and with slack after a rewind, if there is any."""
    slack = 3 if "slack" in subject.offers else 0
    for tokens in (0, 1, 3, 6, 13):
        twin = Twin(subject, 4, 2, slack)
        twin.append(tokens) if tokens else None
        twin.rewind(min(2, tokens)) if slack else None
        twin.restore()
        twin.attend()
        for n in (1, 1, 5, 1, 1, 1):
            twin.step(n)
            twin.expect_needed()


@case("46", "rasbt/LLMs-from-scratch#925", "after a reset a cache is like a new one")
def reset_forgets(subject: Subject) -> None:
    """Run some tokens of NaN, reset, run on: nothing of them may be left."""
    for tokens in (3, 4, 10):
        twin = Twin(subject, window=4)
        _, k, v = twin.draw(tokens)
        twin.cache.append(k * np.float32("nan"), v * np.float32("nan"))
        _begins_anew(twin)


@case("46a", "rasbt/LLMs-from-scratch#925", "the same with sinks", "sinks")
def reset_forgets_sinks(subject: Subject) -> None:
    """Run thirteen tokens with sinks, reset, run on."""
    for tokens in (1, 4, 13):
        twin = Twin(subject, window=4, sinks=2)
        twin.append(tokens)
        _begins_anew(twin)


def _begins_anew(twin: Twin) -> None:
    twin.reset()
    if twin.held:
        raise twin.differs(f"after reset() it still holds {twin.held}")
    for n in (1, 1, 2, 1, 5, 1):
        twin.step(n)
        twin.attend()
        twin.expect_needed()


@case("47", "deepbeepmeep/Wan2GP#1628", "what an empty slot holds reaches no output", "storage")
def poisoned_storage(subject: Subject) -> None:
    """Fill the raw storage with NaN before anything is appended."""
    for first in ((1, 1), (2,), (1, 4, 1), (6,)):
        twin = Twin(subject, window=4)
        for array in (twin.cache.keys, twin.cache.values):
            array[...] = np.nan
        if not np.isnan(np.asarray(twin.cache.keys)).all():
            raise NotAsked("its keys are a copy, so nothing can be written into its storage")
        for n in first:
            twin.step(n)
            twin.attend()
        for _ in range(6):
            twin.step()


@case("47a", "deepbeepmeep/Wan2GP#1628", "what was taken back reaches no output")
def poisoned_drafts(subject: Subject) -> None:
    """Draft two tokens of NaN behind one or two good ones, take them back, go on."""
    for good in (1, 2):
        twin = Twin(subject, window=4)
        twin.append(good)
        drafts = np.full((twin.kv_heads, 2, twin.head_dim), np.nan, np.float32)
        twin.cache.append(drafts, drafts)
        try:
            twin.cache.rewind(2)
        except Exception as error:
            raise NotAsked(f"it refuses to take back two tokens ({error})") from None
        for _ in range(6):
            twin.step()
            twin.attend()


@case("48", "huggingface/transformers#39730", "another dtype is refused, or the stored one stays")
def another_dtype(subject: Subject) -> None:
    """Append, and step, float16 and float64 in a float32 cache, then go on in float32."""
    for method in ("append", "step"):
        for dtype in (np.float16, np.float64):
            _another(Twin(subject, window=4), np.dtype(dtype), method)


def _another(twin: Twin, dtype: np.dtype[Any], method: str) -> None:
    before = twin.step(3).dtype
    held = twin.held
    q, k, v = (x.astype(np.float16) for x in twin.draw(1))  # numbers that all three dtypes hold
    given = [x.astype(dtype) for x in ((k, v) if method == "append" else (q, k, v))]
    try:
        getattr(twin.cache, method)(*given)
    except Exception:
        twin.q, twin.k, twin.v = (x[:, :3] for x in (twin.q, twin.k, twin.v))
        if twin.held != held:
            raise twin.differs(f"{dtype} was refused, and the cache changed") from None
    else:
        twin.k[:, -1:] = k
    for _ in range(6):
        after = twin.step().dtype
    if after != before:
        raise twin.differs(f"after {method} of {dtype}, outputs are {after}, no more {before}")
    stored = twin.cache.keys.dtype if "storage" in twin.subject.offers else "float32"
    if "float32" not in str(stored):
        raise twin.differs(f"after {method} of {dtype}, the stored dtype is {stored}")
