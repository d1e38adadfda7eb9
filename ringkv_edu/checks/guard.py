"""Runs a learner's code so that no mistake in it can hang or break a check.

Every run has its own thread. A trace function counts the bytecode steps of code that is not
ours and stops an endless loop; a loop that catches every exception is told again, then left
behind. Loops inside C code (a huge ``sum(range(10**12))``) are out of reach.
"""

from __future__ import annotations

import copy
import ctypes
import inspect
import linecache
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["STEP_LIMIT", "THREAD", "EndlessLoop", "InputChanged", "call", "guarded", "place_of"]

STEP_LIMIT = 3_000_000
PATIENCE = 2.0  # seconds a thread may still run once it was told to stop
LONGEST = 10.0  # seconds for one case: a call that sleeps takes no steps
PACKAGE = str(Path(__file__).resolve().parents[1])
NOT_THEIRS = (PACKAGE, sys.prefix, sys.base_prefix, "<frozen ")
THREAD = "ringkv-check"


class EndlessLoop(BaseException):
    """Too many steps. Not an ``Exception``, so that ``except Exception`` does not catch it.

    Its argument, if any, says that the loop caught this, too, and still runs.
    """


class InputChanged(Exception):
    """A function changed something that it was only given to read."""


def call(
    function: Callable[..., Any], *args: Any, may_change: tuple[int, ...] = (), **named: Any
) -> Any:
    """Call a learner's function and notice when it changes an argument it should only read.

    ``may_change`` lists the arguments (by place, from 0) that the function is meant to change.
    ``named`` ones are not looked at.
    """
    before = [None if i in may_change else copy.deepcopy(arg) for i, arg in enumerate(args)]
    result = function(*args, **named)
    for place, arg in enumerate(args):
        if place not in may_change and not _alike(arg, before[place]):
            code = getattr(inspect.unwrap(function), "__code__", None)
            names = getattr(code, "co_varnames", ())
            name = names[place] if place < len(names) else f"argument {place + 1}"
            raise InputChanged(f"`{name}` was {before[place]!r} and is {arg!r} after the call")
    return result


def guarded(work: Callable[[], Any], steps: int = STEP_LIMIT) -> Any:
    """Run ``work()`` in a thread; raise what it raises, or ``EndlessLoop``."""
    outcome: dict[str, Any] = {}
    told = threading.Event()

    def target() -> None:
        sys.settrace(_counter(steps, told))
        try:
            outcome["value"] = work()
        except BaseException as error:
            outcome["error"] = error
        finally:
            sys.settrace(None)

    thread = threading.Thread(target=target, daemon=True, name=THREAD)
    thread.start()
    _wait(thread, told)
    if "error" in outcome:
        raise outcome["error"]
    if "value" not in outcome:
        raise EndlessLoop("left running")
    return outcome["value"]


def place_of(error: BaseException) -> str:
    """Give the learner's source line where an error was raised, or an empty string."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(NOT_THEIRS):
            return (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
    return ""


def _counter(limit: int, told: threading.Event) -> Callable[[FrameType, str, Any], Any]:
    seen = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal seen
        if event == "call":
            if frame.f_code.co_filename.startswith(NOT_THEIRS):
                return None  # importing numpy takes a million steps
            frame.f_trace_opcodes = True  # a one-line `while True: pass` has no line events
        seen += 1
        if seen > limit:
            told.set()
            raise EndlessLoop
        return trace

    return trace


def _wait(thread: threading.Thread, told: threading.Event) -> None:
    until = time.monotonic() + LONGEST
    while thread.is_alive() and not told.is_set() and time.monotonic() < until:
        thread.join(0.02)
    patience = PATIENCE
    while thread.is_alive() and patience > 0:
        thread.join(0.01)
        patience -= 0.01
        if thread.is_alive():  # it caught the exception: tell it again
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(EndlessLoop)
            )


def _alike(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if type(a).__module__ == "numpy":
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    if type(a).__module__ == "torch" and hasattr(a, "tolist"):
        return a.dtype == b.dtype and a.shape == b.shape and _alike(a.tolist(), b.tolist())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(_alike(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "__dict__"):
        return _alike(list(vars(a).items()), list(vars(b).items()))
    return bool(a == b or (a != a and b != b))
