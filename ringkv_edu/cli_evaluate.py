"""The command `ringkv evaluate`: cache policies side by side, and the tuning path."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .cli_options import MOST, Command, Progress, add_model, check_file, check_number
from .problem import Problem

__all__ = ["add_commands"]


def evaluate(options: argparse.Namespace) -> int:
    """Compare cache policies: speed, memory, perplexity, far recall, attention."""
    check_number(options, "tokens", 2)
    for name in ("new", "repeats", "batch"):
        check_number(options, name, 1)
    check_file("--json", options.json, None)
    check_file("--plot", options.plot, ".png")
    check_file("--sweep", options.sweep, None)
    if options.sweep:
        _check_sweep(options)
    from .evaluate.models import setting

    lengths = _lengths(options.lengths)
    chosen = setting(options.model, options.policies, options.text, options.tokens)
    if options.sweep:
        return _sweep(options, chosen)
    have = chosen.prompt.shape[1]
    if lengths and lengths[-1] > have:
        raise Problem(f"--lengths has {lengths[-1]} tokens and the text {have}; give more --tokens")
    from .evaluate import evaluate as measure
    from .evaluate.text import of_report

    usual = [n for n in (64, 256, 1024) if n <= have]
    say = Progress()
    found = measure(
        chosen.who, chosen.text, chosen.tasks, usual if lengths is None else lengths,
        prompt=chosen.prompt, new=options.new, repeats=options.repeats,
        batch=options.batch, say=say,
    )  # fmt: skip
    say("")
    found["model"] = chosen.says
    lines = [chosen.says, *of_report(found)]
    if options.json == "-":
        lines = [json.dumps(found, indent=1)]
    elif options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines))
    if options.plot:
        from .evaluate.plots import draw

        draw(found).savefig(options.plot, dpi=120)
    return 0


def _check_sweep(options: argparse.Namespace) -> None:
    if options.model == "tiny":
        raise Problem("--sweep puts policies under one model; give random or smollm2")
    if options.policies:
        raise Problem("--sweep chooses the policies itself; leave --policies out")
    if not 0 <= options.tolerance < 10:
        raise Problem(f"--tolerance is {options.tolerance:g}; give a share such as 0.05")


def _sweep(options: argparse.Namespace, chosen: Any) -> int:
    """Walk the tuning path and log it."""
    from .bench.measure import table
    from .evaluate.sweep import Sweep, smallest_within, sweep
    from .evaluate.text import of_size

    say, what = Progress(), Sweep(tolerance=options.tolerance)
    runs = sweep(chosen.who[0].model, chosen.text, options.sweep, what, say)
    say("")
    print(f"{chosen.says}, {chosen.text.shape[1]} tokens; every run is in {options.sweep}")
    rows = [
        [r.stage, r.policy, of_size(r.cache_bytes), f"{r.perplexity:.2f}", f"{100 * r.more:+.1f} %",
         "yes" if r.within else "no", f"{1e3 * r.speed['tpot_least_s']:.2f}" if r.speed else "-"]
        for r in runs
    ]  # fmt: skip
    head = ["", "policy", "cache", "perplexity", "to full", "within", "ms a token"]
    print("\n".join(table(head, rows)))
    best = smallest_within(runs)
    share = f"{100 * what.tolerance:g} %"
    print(f"the least memory within {share} of full: {best.policy}, {of_size(best.cache_bytes)}")
    return 0


def _lengths(given: str | None) -> list[int] | None:
    """Read lengths between commas, rising, each once; none at all for "0"."""
    if given is None:
        return None
    try:
        found = sorted({int(part) for part in given.split(",")})
    except ValueError:
        found = [-1]
    if found == [0]:
        return []
    if not 1 <= found[0] <= found[-1] <= MOST:
        raise Problem(
            f"--lengths is {given!r}; give whole numbers with commas between, such as 64,1024, "
            f"or 0 to time nothing"
        )
    return found


def add_commands(command: Command) -> None:
    """Add this command to the parser."""
    one = command(
        evaluate,
        "compare cache policies on one model: speed, memory, perplexity, far recall, attention",
        "ringkv evaluate tiny\n"
        "  ringkv evaluate random --policies full,window:64,sinks:60+4 --lengths 64,512\n"
        "  ringkv evaluate smollm2 --text book.txt --tokens 2000 --json all.json --plot all.png",
    )
    add_model(one)
    one.add_argument(
        "--policies", metavar="P,P",
        help="such as full,window:256,sinks:252+4,pooled:220+4+32x16 (window, sinks, summaries of "
        "blocks of 16); of tiny, names it was trained with",
    )  # fmt: skip
    one.add_argument("--lengths", metavar="N,N", help="prompts that are timed; 0: none")
    one.add_argument("--new", type=int, default=16, help="tokens decoded after each (default: 16)")
    one.add_argument("--repeats", type=int, default=3, help="rounds that are timed (default: 3)")
    one.add_argument("--batch", type=int, default=1, help="rows that decode together (default: 1)")
    one.add_argument("--json", metavar="FILE", help="all numbers; - prints them and nothing else")
    one.add_argument("--plot", metavar="FILE", help="quality against memory, time against length")
    one.add_argument(
        "--sweep", metavar="FILE", help="walk from full to smaller windows and summaries instead; "
        "FILE logs every run, and a sweep that was stopped goes on from it",
    )  # fmt: skip
    one.add_argument(
        "--tolerance", type=float, default=0.05,
        help="of a sweep: how much more perplexity than full is borne (default: 0.05)",
    )  # fmt: skip
