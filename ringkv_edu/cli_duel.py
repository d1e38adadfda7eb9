"""`ringkv duel`: policies for a small memory, on a talk with hidden facts, in one leaderboard."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from .cli_options import Command, Progress, check_file
from .problem import Problem

__all__ = ["add_commands"]

MOST_KIB, MOST_TALKS = 1024, 1000


def duel(options: argparse.Namespace) -> int:
    """Play every policy on the same talks and print who remembered most, for each budget."""
    budgets = _budgets(options.kib)
    if not 1 <= options.talks <= MOST_TALKS:
        raise Problem(f"--talks is {options.talks}; give 1 to {MOST_TALKS}")
    if options.seed < 0:
        raise Problem(f"--seed is {options.seed}; give 0 or more")
    if not options.seconds > 0:
        raise Problem(f"--seconds is {options.seconds:g}; give more than 0")
    check_file("--json", options.json, None)
    targets = [_target(given) for given in options.policy]
    from .duel.board import as_data, lines
    from .duel.contest import play_file, play_rival
    from .duel.play import Play
    from .duel.rivals import RIVALS, keep_all

    seeds = range(options.seed, options.seed + options.talks)
    say = Progress()
    boards: list[dict[str, Play | str]] = [{} for _ in budgets]
    bound = play_rival(lambda: keep_all, 2**40, seeds)
    for name, make in RIVALS.items():
        say(f"{name} ...")
        for board, budget in zip(boards, budgets, strict=True):
            board[name] = play_rival(make, budget, seeds)
    for label, path, policy in targets:
        say(f"{label} ...")
        found = play_file(path, policy, budgets, seeds, options.seconds)
        for board, one in zip(boards, found, strict=True):
            board[label] = one
    say("")
    data = [as_data(budget, board) for budget, board in zip(budgets, boards, strict=True)]
    text = json.dumps({"talks": options.talks, "seed": options.seed, "boards": data}, indent=1)
    if options.json == "-":
        print(text)
    else:
        tables = zip(budgets, boards, strict=True)
        print("\n\n".join("\n".join(lines(budget, board, bound)) for budget, board in tables))
        if options.json:
            Path(options.json).write_text(text + "\n", encoding="utf-8")
    failed = [label for label, *_ in targets if isinstance(boards[0][label], str)]
    return 1 if failed else 0


def _budgets(given: str) -> list[int]:
    try:
        kib = [float(part) for part in given.split(",")]
    except ValueError:
        raise Problem(f"--kib is {given!r}; give numbers, as 1,2,4") from None
    if not all(0.5 <= one <= MOST_KIB for one in kib):
        raise Problem(f"--kib is {given!r}; give numbers from 0.5 to {MOST_KIB}")
    return [int(one * 1024) for one in kib]


def _target(given: str) -> tuple[str, str, str]:
    from .duel.contest import DEFAULT_NAME

    path, name = given, DEFAULT_NAME
    if not Path(given).is_file() and ":" in given:
        path, _, name = given.rpartition(":")
    if not Path(path).is_file():
        raise Problem(f"there is no file {path}; give FILE.py, or FILE.py:NAME of a policy")
    label = f"{Path(path).parent.name or Path(path).stem}:{name}"
    return label, path, name


def add_commands(command: Command) -> None:
    """Add `duel` to the commands."""
    one = command(
        duel,
        "play policies for a small memory against each other, on talks with hidden facts",
        "ringkv duel\n  ringkv duel work/my_ringkv.py --kib 1\n"
        "  ringkv duel ann/my_ringkv.py ben/mine.py:Clever --talks 20 --json board.json",
    )
    one.add_argument(
        "policy", nargs="*", metavar="FILE.py[:NAME]",
        help="policies of your own (default name: my_policy); what the file says is run",
    )  # fmt: skip
    one.add_argument("--kib", default="1,2,4", help="budgets in KiB (default: 1,2,4)")
    one.add_argument("--talks", type=int, default=6, help="how many talks (default: 6)")
    one.add_argument("--seed", type=int, default=0, help="of the first talk (default: 0)")
    one.add_argument("--seconds", type=float, default=120, help="limit for one file (default: 120)")
    one.add_argument("--json", metavar="FILE", help="write the boards as JSON; - prints it")
