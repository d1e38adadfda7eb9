"""Recall against memory, from the recorded runs that the package carries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

__all__ = ["RESULTS", "recall_table"]

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


def recall_table(path: Path = RESULTS) -> str:
    """Write the mean accuracy of each policy's recorded runs, beside the bytes that it keeps.

    ``path`` holds ``{"runs": [{"policy", "seed", "accuracy", "cache_bytes"}, ...]}``; runs may lack
    ``cache_bytes``. Where there is no such file, one sentence says so.
    """
    if not path.is_file():
        return "This copy of the course carries no recorded runs: `ringkv train all` makes some."
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    names = list(dict.fromkeys(run["policy"] for run in runs))
    seeds = sorted({run["seed"] for run in runs})
    head = f"{'kept':28} {'bytes':>7}  recall, mean of seeds {', '.join(map(str, seeds))}"
    lines = [_line(name, [run for run in runs if run["policy"] == name]) for name in names]
    return "\n".join(["Recorded runs; who knows nothing is right once in 8, 0.125.", head, *lines])


def _line(name: str, runs: Iterable[Mapping[str, Any]]) -> str:
    some = list(runs)
    accuracy = mean(run["accuracy"] for run in some)
    kept = {run.get("cache_bytes") for run in some} - {None}
    size = f"{kept.pop():,}" if len(kept) == 1 else "-"
    bar = "#" * round(BAR * accuracy)
    return f"{WORDS.get(name, name):28} {size:>7}  {accuracy:.3f} {bar}"
