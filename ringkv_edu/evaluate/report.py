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
    prompt: Tensor | None = None,
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
    cut from ``prompt`` (1, n) or else from ``text``, the same in all ``batch`` rows. Gives a
    dictionary for JSON; its keys say their units.
    """
    if text is None and not tasks and not lengths:
        raise ValueError("nothing is asked; give a text, tasks or lengths")
    names = [one.name for one in who]
    if not who or len(set(names)) < len(names):
        raise ValueError(f"the contenders are called {names}; give one or more, each its own name")
    prompt = text if prompt is None else prompt
    names = _checked(who, text, tasks, lengths, prompt)
    rows: dict[str, dict[str, Any]] = {name: {"name": name} for name in names}
    if text is not None:
        _add_quality(rows, who, text, chunk, first, say)
    for task in tasks:
        _add_task(rows, who, task, chunk, first, say)
    for length in lengths:
        assert prompt is not None
        some = prompt[:, :length].repeat(batch, 1)
        for name, one in speed(who, some, new, repeats, chunk, seed, say=say).items():
            rows[name].setdefault("speed", []).append(one.as_dict())
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


def _checked(
    who: Sequence[Contender],
    text: Tensor | None,
    tasks: Sequence[Asked],
    lengths: Sequence[int],
    prompt: Tensor | None,
) -> list[str]:
    """Give the contenders' names, once everything fits together."""
    if text is None and not tasks and not lengths:
        raise ValueError("nothing is asked; give a text, tasks or lengths")
    names = [one.name for one in who]
    if not who or len(set(names)) < len(names):
        raise ValueError(f"the contenders are called {names}; give one or more, each its own name")
    have = 0 if prompt is None else prompt.shape[1]
    if lengths and not 1 <= min(lengths) <= max(lengths) <= have:
        raise ValueError(
            f"lengths are {list(lengths)} and there are {have} tokens to cut prompts from; give "
            f"lengths from 1 to {have}"
        )
    return names


def _add_task(
    rows: dict[str, dict[str, Any]],
    who: Sequence[Contender],
    task: Asked,
    chunk: int,
    first: int,
    say: Say,
) -> None:
    for one in who:
        say(f"{task.name}: {one.name}")
        score = task.score(one, chunk, first)
        rows[one.name].setdefault("tasks", {})[task.name] = {
            "accuracy": score.accuracy,
            "right": score.right,
            "asked": score.asked,
            "mean_log_probability": score.log_probability,
            "chance": task.chance,
            "cache_bytes": score.peak_bytes,
            "rows": len(task.tokens),
            "mass": score.mass and score.mass._asdict(),
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
