"""The commands of `ringkv` that look at rings: watch one, ask one for known bugs, measure one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .problem import Problem

__all__ = ["add_commands"]

MOST_SLOTS = 64
MOST_SECONDS = 600
Command = Callable[[Callable[[argparse.Namespace], int], str, str], argparse.ArgumentParser]


def watch(options: argparse.Namespace) -> int:
    """Show what each slot of a ring holds while a text is decoded word by word."""
    from .figures.steps_table import steps_table
    from .pure import RingKVBuffer
    from .trace import record

    words = options.text.split()
    if options.window < 1:
        raise Problem(
            f"--window is {options.window}; a token sees at least itself, so give 1 or more"
        )
    if options.window > MOST_SLOTS:
        raise Problem(f"--window is {options.window}; a table has room for {MOST_SLOTS} slots")
    if not words:
        raise Problem('the text has no words; give a few, such as "to be or not to be"')
    print(steps_table(record(lambda: RingKVBuffer(options.window), words)))
    return 0


def cases(options: argparse.Namespace) -> int:
    """Ask a cache whether it has the known bugs of real ring caches."""
    from .cases import CASES, load, run
    from .cases.report import lines
    from .cases.run import FAILS

    known = [case.id for case in CASES]
    wanted = [name.strip() for name in (options.only or "").split(",") if name.strip()] or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise Problem(f"no case is called {', '.join(unknown)}; there are {', '.join(known)}")
    sys.path.insert(0, "")  # module:Class may lie in this folder, as for `python -m`
    try:
        subject = load(options.target)
    except ValueError as error:
        raise Problem(str(error)) from None
    failed = False

    def noted(results: Iterable[Any]) -> Iterator[Any]:
        nonlocal failed
        for result in results:
            failed = failed or result.verdict == FAILS
            yield result

    asked = run(subject, [case for case in CASES if case.id in wanted])
    for line in lines(options.target, noted(asked)):
        print(line, flush=True)
    return 1 if failed else 0


def bench(options: argparse.Namespace) -> int:
    """Measure what writes, steps and prefills cost on this machine."""
    from .bench.numpy_stage import report

    if not 0 < options.seconds <= MOST_SECONDS:
        raise Problem(f"--seconds is {options.seconds:g}; give more than 0, at most {MOST_SECONDS}")
    for line in report(options.seconds):
        print(line, flush=True)
    return 0


def add_commands(command: Command) -> None:
    """Add these commands to the parser."""
    one = command(
        watch,
        "show what each slot holds while a text is decoded word by word",
        'ringkv watch "the quick brown fox jumps over the lazy dog" --window 4',
    )
    one.add_argument("text", help="a few words, in quotes")
    one.add_argument(
        "--window", type=int, default=4, help="how many slots the ring has (default: 4)"
    )
    one = command(
        cases,
        "ask a cache of yours whether it has the known bugs of real ring caches",
        "ringkv cases ringkv_edu.numpy_ring:NumpyRing\n  ringkv cases my_cache.py:MyAdapter",
    )
    one.add_argument(
        "target",
        help="path/to/file.py:Class or module:Class; the methods it needs are those of "
        "ringkv_edu.cases.Adapter",
    )
    one.add_argument("--only", metavar="IDS", help="ask these cases alone, such as 10,27")
    one = command(
        bench,
        "measure what writes, steps and prefills cost on this machine",
        "ringkv bench numpy",
    )
    one.add_argument("stage", choices=["numpy"], help="which ring")
    one.add_argument(
        "--seconds", type=float, default=3.0, help="about how long each comparison runs"
    )
