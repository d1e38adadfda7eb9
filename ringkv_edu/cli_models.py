"""The command of `ringkv` that trains tiny decoders."""

from __future__ import annotations

import argparse
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .cli_rings import Command
from .problem import Problem

__all__ = ["add_commands"]

MOST_STEPS, MOST_SEED = 100_000, 2**32 - 1


def train(options: argparse.Namespace) -> int:
    """Train a tiny decoder on the recall task: how much does a cache remember?"""
    import torch

    from .training import NAMED, TRAINED

    names = list(NAMED) if options.name == "all" else [options.name]
    if options.name not in (*NAMED, "all"):
        raise Problem(f"no policy is called {options.name!r}; give {', '.join(NAMED)} or all")
    _check(options)
    files = _files(options, names)
    if options.threads:
        torch.set_num_threads(options.threads)
    losses = {}
    for name in names:
        losses[name] = _train_one(name, options, files.get(name))
    if options.plot:
        from .training_report import draw_losses

        draw_losses(losses).savefig(options.plot, dpi=150)
        print(f"wrote {options.plot}")
    if len(names) > 1 and (TRAINED / "results.json").is_file():
        print(f"what was measured for the course: {TRAINED / 'results.json'}")
    return 0


def _check(options: argparse.Namespace) -> None:
    if not 0 <= options.seed <= MOST_SEED:
        raise Problem(f"--seed is {options.seed}; give a number from 0 to {MOST_SEED}")
    if options.steps is not None and not 1 <= options.steps <= MOST_STEPS:
        raise Problem(f"--steps is {options.steps}; give a number from 1 to {MOST_STEPS}")
    if options.threads is not None and options.threads < 1:
        raise Problem(f"--threads is {options.threads}; give 1 or more")
    if options.plot and not find_spec("matplotlib"):
        raise Problem("--plot needs matplotlib: pip install matplotlib, or leave --plot out")
    if options.plot and Path(options.plot).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Problem(f"--plot is {options.plot}; give a file that ends in .png, .svg or .pdf")
    if options.out and not find_spec("safetensors"):
        raise Problem("--out needs safetensors: pip install safetensors, or leave --out out")
    for name, given in (("--plot", options.plot), ("--out", options.out)):
        if given and not Path(given).resolve().parent.is_dir():
            raise Problem(f"{name} is {given}, and there is no folder {Path(given).parent}")


def _files(options: argparse.Namespace, names: list[str]) -> dict[str, Path]:
    """Say where each model goes; found out before anything is trained."""
    if not options.out:
        return {}
    out = Path(options.out)
    if options.name == "all":
        if out.exists() and not out.is_dir():
            raise Problem(f"--out is {out}, a file; for all policies give a folder")
        out.mkdir(exist_ok=True)
        return {name: out / f"{name}.safetensors" for name in names}
    if out.is_dir():
        raise Problem(
            f"--out is {out}, a folder; give a file, such as {out / names[0]}.safetensors"
        )
    return {names[0]: out}


def _train_one(name: str, options: argparse.Namespace, file: Path | None) -> list[float]:
    from .training import save, train
    from .training_report import bar, lines

    terminal, last = sys.stderr.isatty(), 0.0

    def progress(done: int, steps: int, loss: float) -> None:
        nonlocal last
        if terminal and (done == steps or time.monotonic() - last > 0.2):
            last = time.monotonic()
            print(f"\r{bar(name, done, steps, loss):<76}", end="", file=sys.stderr, flush=True)

    try:
        run = train(name, options.seed, options.steps, progress)
    finally:
        if terminal:
            print(f"\r{'':<76}\r", end="", file=sys.stderr, flush=True)
    print("\n".join(lines(name, options.seed, run)), flush=True)
    if file:
        about: dict[str, Any] = {"seed": options.seed, "steps": len(run.losses)}
        save(run.model, name, file, about | {"accuracy": run.accuracy})
        print(f"wrote {file}", flush=True)
    return run.losses


def add_commands(command: Command) -> None:
    """Add this command to the parser."""
    one = command(
        train,
        "train a tiny decoder on the recall task: how much does a cache remember?",
        "ringkv train pooled --plot loss.png\n  ringkv train all --seed 7 --out models",
    )
    one.add_argument(
        "name", nargs="?", default="pooled",
        help="full, window, pooled, learned, state, recompute, or all (default: pooled)",
    )  # fmt: skip
    one.add_argument("--seed", type=int, default=0, help="of the weights and texts (default: 0)")
    one.add_argument("--steps", type=int, help="how many (default: the policy's own, 300 to 600)")
    one.add_argument("--threads", type=int, help="threads of the CPU (default: torch's number)")
    one.add_argument("--out", metavar="FILE", help="write the weights; for all: a folder")
    one.add_argument("--plot", metavar="FILE", help="the loss curve, a .png, .svg or .pdf")
