"""The commands `ringkv monitor` and `ringkv diagnose`: record a run; say what is wrong with it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .cli_options import Command, Progress, add_model, check_file, check_number
from .problem import Problem

__all__ = ["add_commands"]


def monitor(options: argparse.Namespace) -> int:
    """Record a run step by step: memory, speed, surprise, scores, keys and values."""
    check_number(options, "tokens", 8)
    check_number(options, "prompt", 1)
    check_number(options, "every", 1)
    check_file("--log", options.log, None)
    check_file("--plot", options.plot, ".png")
    if Path(options.log).exists():
        raise Problem(f"{options.log} is there already; give another file, or delete it")
    from .evaluate.models import setting
    from .monitor import record
    from .monitor.triage import lines

    chosen = setting(options.model, options.policy, options.text, options.tokens)
    if len(chosen.who) != 1:
        raise Problem("give one --policy to record")
    text = chosen.prompt
    if options.prompt >= text.shape[1] - 1:
        raise Problem(f"--prompt is {options.prompt} of {text.shape[1]} tokens; give fewer")
    say = Progress()
    record(
        chosen.who[0], text, options.log, options.prompt, not options.alone, options.every,
        options.budget, say=say,
    )  # fmt: skip
    say("")
    return _report(options, lines)


def diagnose(options: argparse.Namespace) -> int:
    """Say what is wrong with a recorded run, and why; first whether anything is evicted at all."""
    check_file("--plot", options.plot, ".png")
    if options.examples:
        if options.log or options.plot or options.json:
            raise Problem("--examples writes logs and reads none; leave everything else out")
        return _examples(Path(options.examples))
    if not options.log:
        raise Problem("give a LOG that `ringkv monitor` has written, or --examples FOLDER")
    from .monitor.triage import lines

    return _report(options, lines)


def _report(options: argparse.Namespace, lines: Any) -> int:
    from .monitor import diagnose as find
    from .monitor import draw_curves, read_log

    log = read_log(options.log)
    found = find(log)
    if getattr(options, "json", False):
        print(json.dumps([one._asdict() for one in found], indent=1))
    else:
        print("\n".join(lines(log)))
    if options.plot:
        draw_curves(log).savefig(options.plot, dpi=120)
    return 1 if found else 0


def _examples(folder: Path) -> int:
    """Run what is wrong on purpose, and write the logs."""
    from .monitor.troubles import MAKERS

    if folder.exists() and any(folder.iterdir()):
        raise Problem(f"{folder} is not empty; give a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    say = Progress()
    for name, make in MAKERS.items():
        path = folder / f"{name.replace(', ', '_').replace(' ', '_')}.jsonl"
        say(name)
        make(path)
        say("")
        print(f"{path}: {make.wrong or 'nothing is wrong'}", flush=True)
    return 0


def add_commands(command: Command) -> None:
    """Add these commands to the parser."""
    one = command(
        monitor,
        "record a run step by step: memory, speed, surprise, scores, keys and values",
        "ringkv monitor random --policy sinks:60+4 --tokens 400 --log run.jsonl --plot run.png",
    )
    add_model(one)
    one.add_argument("--policy", required=True, help="one, as for `ringkv evaluate --policies`")
    one.add_argument(
        "--log", metavar="FILE", required=True, help="a new file, a line for each step"
    )
    one.add_argument("--prompt", type=int, default=16, help="tokens of prefill (default: 16)")
    one.add_argument("--every", type=int, default=16, help="steps between looks inside")
    one.add_argument("--budget", type=int, help="bytes that the caches may take")
    one.add_argument("--alone", action="store_true", help="without a run beside it that keeps all")
    one.add_argument("--plot", metavar="FILE", help="the curves, a .png")
    one = command(
        diagnose,
        "say what is wrong with a recorded run, and why",
        "ringkv diagnose run.jsonl\n  ringkv diagnose --examples troubles",
    )
    one.add_argument(
        "log", nargs="?", metavar="LOG", help="what `ringkv monitor --log` has written"
    )
    one.add_argument("--json", action="store_true", help="the findings as JSON")
    one.add_argument("--plot", metavar="FILE", help="the curves, a .png")
    one.add_argument(
        "--examples", metavar="FOLDER", help="write logs of runs that are wrong on purpose"
    )
