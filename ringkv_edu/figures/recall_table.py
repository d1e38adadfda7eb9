"""Recall against memory, from the recorded runs that the package carries."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

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

    ``path`` holds ``{"chance": ..., "runs": [{"policy", "seed", "accuracy"}, ...]}``. The bytes are
    those of the caches of one text after its last token, measured here where torch is installed.
    Where no runs are recorded, one sentence says so.
    """
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    runs = found.get("runs", [])
    if not runs:
        return "This copy of the course carries no recorded runs: `ringkv train all` makes some."
    names = list(dict.fromkeys(run["policy"] for run in runs))
    seeds = ", ".join(map(str, sorted({run["seed"] for run in runs})))
    kept = _bytes_kept(names)
    lines = [
        f"Recorded runs, seeds {seeds}. Who knows nothing reaches {found['chance']}.",
        f"{'what is kept':28} {'bytes':>7}  recall",
    ]
    for name in names:
        accuracy = mean(run["accuracy"] for run in runs if run["policy"] == name)
        size = f"{kept[name]:,}" if name in kept else "-"
        bar = "#" * round(BAR * accuracy)
        lines.append(f"{WORDS.get(name, name):28} {size:>7}  {accuracy:.3f} {bar}")
    return "\n".join(lines)


def _bytes_kept(names: Iterable[str]) -> dict[str, int]:
    """Run one text through the caches of each policy, and give the bytes that they hold then."""
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
