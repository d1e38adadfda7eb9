"""What is shipped: trained weights, and ``trained/results.json`` that says what they are worth.

``python -m ringkv_edu.training_results`` makes all of it anew, one run of each policy and seed;
with names, those policies alone, beside what the file already says of the others. The weights of
the first seed are shipped, whatever they reach, in float16, and measured once more as shipped.
``--longer`` trains windows alone for as many steps as the summaries get, and tells questions whose
fact two layers of windows can relay from those whose fact is out of reach.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from . import recall
from .training import NAMED, TEXTS, TRAINED, Run, accuracy, load, named, right, save, train

__all__ = ["SEEDS", "TUNED_ON", "longer", "results"]

TUNED_ON, SEEDS = [0, 1, 2], [100, 101, 102]
COMMAND = "ringkv train {name} --seed {seed} --threads 1"


def results(names: list[str], folder: Path = TRAINED) -> dict[str, Any]:
    """Train, write weights and results to a folder after every policy, and give the results."""
    folder.mkdir(exist_ok=True)
    found = _found(folder)
    runs = [run for run in found.get("runs", []) if run["policy"] not in names]
    shipped = found.get("shipped", {})
    for name in names:
        for seed in SEEDS:
            run = _run(name, seed, folder)
            runs.append(run)
            print(json.dumps(run), flush=True)
        shipped[name] = _shipped(name, folder)
        order = list(NAMED)
        runs.sort(key=lambda run: (order.index(run["policy"]), run["seed"]))
        found |= _about() | {
            "runs": runs,
            "shipped": {name: shipped[name] for name in order if name in shipped},
        }
        _write(found, folder)
    return found


def longer(folder: Path = TRAINED, steps: int = 1200) -> dict[str, Any]:
    """Train windows alone for longer, add what they reach to the results, and give these."""
    runs, texts = [], recall.draw(TEXTS, SEEDS[-1] + 1)
    near = recall.within_reach(texts, layers=2)
    for seed in SEEDS:
        run = train("window", seed, steps)
        good = right(run.model, texts)
        parts = {"within reach": good[near], "beyond reach": good[~near]}
        line = _line("window", seed, run) | {k: round(float(x.mean()), 4) for k, x in parts.items()}
        runs.append(line)
        print(json.dumps(line), flush=True)
    share = round(float(near.mean()), 4)
    found = _found(folder) | {"longer": {"share within reach": share, "runs": runs}}
    _write(found, folder)
    return found


def _found(folder: Path) -> dict[str, Any]:
    file = folder / "results.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def _write(found: dict[str, Any], folder: Path) -> None:
    text = json.dumps(found, indent=1) + "\n"
    (folder / "results.json").write_text(text, encoding="utf-8")


def _about() -> dict[str, Any]:
    return {
        "task": "ringkv_edu.recall",
        "chance": recall.CHANCE,
        "texts": TEXTS,
        "seeds": SEEDS,
        "tuned on": TUNED_ON,
        "command": COMMAND.format(name="NAME", seed="SEED"),
        "date": datetime.date.today().isoformat(),
        "versions": {name: version(name) for name in ("torch", "numpy")}
        | {"python": platform.python_version()},
        "machine": f"{platform.machine()}, {torch.get_num_threads()} thread",
    }


def _run(name: str, seed: int, folder: Path) -> dict[str, Any]:
    run = train(name, seed)
    said = _line(name, seed, run)
    if seed == SEEDS[0]:
        about = said | {"command": COMMAND.format(name=name, seed=seed)}
        save(run.model, name, folder / f"{name}.safetensors", about)
    return said


def _line(name: str, seed: int, run: Run) -> dict[str, Any]:
    return {
        "policy": name,
        "seed": seed,
        "steps": len(run.losses),
        "accuracy": run.accuracy,
        "last loss": round(sum(run.losses[-20:]) / 20, 4),
        "cpu_seconds": round(run.cpu_seconds, 1),
    }


def _shipped(name: str, folder: Path) -> dict[str, Any]:
    """Measure a shipped file on other texts than those its run was measured on."""
    file = folder / f"{name}.safetensors"
    model, texts = load(file), SEEDS[-1] + 1
    return {
        "file": file.name,
        "seed": SEEDS[0],
        "command": COMMAND.format(name=name, seed=SEEDS[0]),
        "bytes": file.stat().st_size,
        "texts from seed": texts,
        "accuracy": accuracy(model, texts),
        "accuracy through caches": accuracy(model, texts, decode=True),
    }


def main() -> None:
    """Read the command line and make what is shipped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", help=f"some of {', '.join(NAMED)} (default: all)")
    parser.add_argument("--longer", action="store_true", help="windows alone, for 1,200 steps")
    options = parser.parse_args()
    names = options.name or list(NAMED)
    for name in names:
        named(name)
    torch.set_num_threads(1)
    if options.longer:
        longer()
    else:
        results(names)


if __name__ == "__main__":
    main()
