"""Plays policies from files, each in a process of its own: an endless one ends, and spoils nothing.

The process prints one JSON list, a play or a reason for each budget. It runs what the file says,
with your rights: play only what you trust.
"""

from __future__ import annotations

import contextlib
import json
import runpy
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .play import OverBudget, Play, play, together
from .talk import TOKENS, draw_talk

__all__ = ["DEFAULT_NAME", "one_or_why", "play_file", "play_rival"]

DEFAULT_NAME = "my_policy"
Outcome = Play | str


def play_rival(make: Any, budget: int, seeds: Sequence[int], tokens: int = TOKENS) -> Play:
    """Play one of the course's policies, anew on the talk of each seed."""
    return together(play(make(), draw_talk(seed, tokens), budget) for seed in seeds)


def play_file(
    path: str, name: str, budgets: Sequence[int], seeds: Sequence[int], limit: float
) -> list[Outcome]:
    """Play a policy of a file at each budget; a text says why there is no play."""
    call = [sys.executable, "-m", __name__, path, name, json.dumps([list(budgets), list(seeds)])]
    try:
        done = subprocess.run(
            call, capture_output=True, text=True, encoding="utf-8", timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return [f"not done after {limit:g} s"] * len(budgets)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return [last[:200]] * len(budgets)
    found = json.loads(done.stdout.splitlines()[-1])
    return [one if isinstance(one, str) else Play(**one) for one in found]


def _loaded(path: str, name: str) -> Any:
    with contextlib.redirect_stdout(sys.stderr):
        space = runpy.run_path(path)
    if name not in space:
        raise SystemExit(
            f"{path} defines no {name!r}; solve and save the exercise, or name another"
        )
    if not callable(space[name]):
        raise SystemExit(f"{name} is no function and no class")
    return space[name]


def one_or_why(given: Any, budget: int, seeds: Sequence[int]) -> Outcome:
    """Play a policy, a function or a class, or say why it did not come to an end."""
    make = given if isinstance(given, type) else lambda: given
    try:
        return play_rival(make, budget, seeds)
    except OverBudget as error:
        return str(error)
    except (Exception, SystemExit) as error:
        return f"raised {type(error).__name__}: {error}"[:200]


def _main(path: str, name: str, asked: str) -> None:
    budgets, seeds = json.loads(asked)
    given = _loaded(path, name)
    with contextlib.redirect_stdout(sys.stderr):
        found = [one_or_why(given, budget, seeds) for budget in budgets]
    print(json.dumps([one if isinstance(one, str) else asdict(one) for one in found]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
