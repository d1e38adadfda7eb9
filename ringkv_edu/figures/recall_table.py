"""Recall against memory, from the recorded runs that the package carries."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import NamedTuple

__all__ = ["RESULTS", "WORDS", "Recorded", "bytes_kept", "read_runs", "recall_table"]

RESULTS = Path(__file__).resolve().parents[1] / "trained" / "results.json"
WORDS = {
    "full": "everything",
    "window": "window of 16",
    "pooled": "window, mean summaries",
    "learned": "window, learned summaries",
    "state": "window, a state",
    "recompute": "window, recompute on demand",
}
BAR = 24


class Recorded(NamedTuple):
    """The recorded runs: what guessing reaches, the seeds, and each policy's accuracies."""

    chance: float
    seeds: list[int]
    accuracies: dict[str, list[float]]


def read_runs(path: Path = RESULTS) -> Recorded:
    """Read ``{"chance": ..., "runs": [{"policy", "seed", "accuracy"}, ...]}``; perhaps no runs."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    accuracies: dict[str, list[float]] = {}
    for run in found.get("runs", []):
        accuracies.setdefault(run["policy"], []).append(run["accuracy"])
    seeds = sorted({run["seed"] for run in found.get("runs", [])})
    return Recorded(found.get("chance", 0.0), seeds, accuracies)


def recall_table(path: Path = RESULTS) -> str:
    """Write the mean accuracy of each policy's recorded runs, beside the bytes that it keeps.

    ``path`` is what ``read_runs`` reads. Where no runs are recorded, one sentence says so.
    """
    found = read_runs(path)
    if not found.accuracies:
        return "This copy of the course carries no recorded runs: `ringkv train all` makes some."
    kept = bytes_kept(found.accuracies)
    lines = [
        f"Recorded runs, seeds {', '.join(map(str, found.seeds))}. "
        f"Who knows nothing reaches {found.chance}.",
        f"{'what is kept':28} {'bytes':>7}  recall",
    ]
    for name, accuracies in found.accuracies.items():
        size = f"{kept[name]:,}" if name in kept else "-"
        bar = "#" * round(BAR * mean(accuracies))
        lines.append(f"{WORDS.get(name, name):28} {size:>7}  {mean(accuracies):.3f} {bar}")
    return "\n".join(lines)


def bytes_kept(names: Iterable[str]) -> dict[str, int]:
    """Run one text through the caches of each policy, and give the bytes that they hold then.

    Empty where torch is not installed.
    """
    if find_spec("torch") is None:
        return {}
    try:
        import torch

        from .. import recall, training
    except ImportError:  # an answer's module, in a graded run
        return {}
    text = torch.from_numpy(recall.draw(1, 0).tokens)
    sizes = {}
    for name in names:
        model = training.build(name)
        caches = model.caches(1)
        for at in range(text.shape[1]):
            model.step(text[:, at : at + 1], caches)
        sizes[name] = int(sum(cache.nbytes for cache in caches))
    return sizes
