"""The commands of `ringkv` that look at rings: watch one, ask one for known bugs, measure one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .problem import Problem

__all__ = ["add_commands"]

MOST_SLOTS = 64
MOST_SECONDS = 600
NUMPY_SECONDS = 3.0
TORCH_ONLY = (
    "device", "dtype", "threads", "kv_heads", "heads", "head_dim", "windows", "json", "plot",
)  # fmt: skip
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
    if options.seconds is not None and not 0 < options.seconds <= MOST_SECONDS:
        raise Problem(f"--seconds is {options.seconds:g}; give more than 0, at most {MOST_SECONDS}")
    if options.stage == "torch":
        return _bench_torch(options)
    for name in TORCH_ONLY:
        if getattr(options, name) is not None:
            option = "--" + name.replace("_", "-")
            raise Problem(f"{option} is for `ringkv bench torch`; leave it out")
    from .bench.numpy_stage import report

    for line in report(options.seconds or NUMPY_SECONDS):
        print(line, flush=True)
    return 0


def _bench_torch(options: argparse.Namespace) -> int:
    if options.threads and "numpy" not in sys.modules:  # it asks once, and not torch
        os.environ.setdefault("OPENBLAS_NUM_THREADS", str(options.threads))
    from .bench.torch_options import checked
    from .bench.torch_stage import report

    wanted = checked(options)
    terminal = sys.stderr.isatty()

    def say(text: str) -> None:
        if terminal:  # over what was said before
            end = "" if text else "\r"
            print(f"\r{text:<70}", end=end, file=sys.stderr, flush=True)

    def emit(line: str) -> None:
        say("")
        print(line, flush=True)

    try:
        report(wanted, emit, say)
    finally:
        say("")
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
        "ringkv bench numpy\n  ringkv bench torch --threads 1 --kv-heads 8 --windows 256,4096",
    )
    one.add_argument("stage", choices=["numpy", "torch"], help="which ring")
    one.add_argument(
        "--seconds",
        type=float,
        help="about how long each comparison runs (default: 3 for numpy, 12 for torch)",
    )
    only = one.add_argument_group("for torch only")
    only.add_argument("--device", help="cpu or cuda (default: cpu)")
    only.add_argument("--dtype", help="float32, bfloat16, float16 or float64 (default: float32)")
    only.add_argument("--threads", type=int, help="threads of the CPU (default: torch's number)")
    only.add_argument("--kv-heads", metavar="N,N", help="key/value heads (default: 8,32)")
    only.add_argument("--heads", type=int, help="query heads (default: 32)")
    only.add_argument("--head-dim", type=int, help="numbers in a key (default: 128)")
    only.add_argument("--windows", metavar="N,N", help="(default: 256,1024,4096,16384)")
    only.add_argument("--json", metavar="FILE", help="all numbers; - prints them and nothing else")
    only.add_argument("--plot", metavar="FILE", help="cost of a step against tokens seen, a .png")
