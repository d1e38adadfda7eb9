"""One prompt set, several contenders: everything that is compared, as one JSON-able whole.

Source: S35, S36, D10. What is quoted was measured by this very run; nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..bench.machine import environment
from .contender import CHUNK, Contender
from .quality import quality
from .speed import speed
from .tasks import Asked

__all__ = ["FORMAT", "evaluate"]

Tensor = torch.Tensor
FORMAT = 1  # raised when a key changes its meaning
Say = Callable[[str], None]


def evaluate(
    who: Sequence[Contender],
    text: Tensor | None = None,
    tasks: Sequence[Asked] = (),
    lengths: Sequence[int] = (),
    *,
    new: int = 32,
    repeats: int = 3,
    batch: int = 1,
    chunk: int = CHUNK,
    first: int = 4,
    seed: int = 0,
    say: Say = lambda text: None,
) -> dict[str, Any]:
    """Compare contenders; the first is the reference.

    ``text`` (1, n) tokens: perplexity, agreement with the reference, attention mass. ``tasks``:
    far recall. ``lengths``: TTFT, TPOT, throughput and peak bytes after prompts of so many tokens,
    cut from ``text`` (the same prompt in all ``batch`` rows). Gives a dictionary for JSON; its
    keys say their units.
    """
    names = [one.name for one in who]
    if not who or len(set(names)) < len(names):
        raise ValueError(f"the contenders are called {names}; give one or more, each its own name")
    if lengths and (text is None or max(lengths) > text.shape[1] or min(lengths) < 1):
        have = 0 if text is None else text.shape[1]
        raise ValueError(f"lengths are {list(lengths)}; cut from a text of {have}")
    rows: dict[str, dict[str, Any]] = {name: {"name": name} for name in names}
    if text is not None:
        _add_quality(rows, who, text, chunk, first, say)
    for task in tasks:
        for one in who:
            say(f"{task.name}: {one.name}")
            score = task.score(one, chunk)
            rows[one.name].setdefault("tasks", {})[task.name] = {
                "accuracy": score.accuracy,
                "right": score.right,
                "asked": score.asked,
                "mean_log_probability": score.log_probability,
                "chance": task.chance,
            }
    for length in lengths:
        assert text is not None
        prompt = text[:, :length].repeat(batch, 1)
        timed = speed(who, prompt, new, repeats, chunk, seed, say=say)
        for name, one_speed in timed.items():
            rows[name].setdefault("speed", []).append(one_speed.as_dict())
    options = {
        "tokens": 0 if text is None else text.shape[1],
        "lengths": list(lengths),
        "new": new,
        "repeats": repeats,
        "batch": batch,
        "chunk": chunk,
        "first": first,
        "seed": seed,
    }
    return {
        "format": FORMAT,
        "options": options,
        "environment": environment("cpu"),
        "rows": [rows[name] for name in names],
    }


def _add_quality(
    rows: dict[str, dict[str, Any]],
    who: Sequence[Contender],
    text: Tensor,
    chunk: int,
    first: int,
    say: Say,
) -> None:
    for name, found in quality(who, text, chunk, first, say).items():
        rows[name] |= {
            "perplexity": found.perplexity(),
            "perplexity_second_half": found.perplexity(text.shape[1] // 2),
            "agreement": found.agreement,
            "divergence_nats": found.mean_divergence,
            "cache_bytes": found.peak_bytes,
            "mass": found.mass and found.mass._asdict(),
        }
