"""What every lesson imports: check an answer, take a hint, watch a cache, keep your work."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from . import progress
from .keep import save_work

__all__ = ["check", "hint", "save_work", "show", "watch"]

OFF = "figures are switched off in a graded run"
LEVELS = {1: "a nudge", 2: "a plan", 3: "nearly the code"}


def check(exercise: str, names: Mapping[str, Any] | None = None) -> None:
    """Say whether the answer to an exercise is right and, if not, which mistake it is.

    The answer is looked up in the notebook's own names, or in ``names``. Prints at most six lines
    and never raises for a wrong answer.
    """
    if names is None:
        names = sys._getframe(1).f_globals
    try:
        from .checks import exercise as find
        from .checks.guard import THREAD
        from .checks.judge import judge
    except ImportError:
        print(f"{exercise}: checks are switched off in a graded run.")
        return
    if threading.current_thread().name == THREAD:
        return  # an answer that checks itself would never end
    try:
        found = find(str(exercise))
    except KeyError as error:
        print(error.args[0])
        return
    try:
        verdict = judge(found, names)
    except KeyboardInterrupt:
        print(f"{exercise}: stopped. If your code still runs, restart the kernel.")
        return
    if verdict.right:
        progress.note("solved", exercise, 1)
    print(verdict)


def hint(exercise: str, level: int = 1) -> None:
    """Show hint 1 (a nudge), 2 (a plan) or 3 (nearly the code) of an exercise, one at a time."""
    known = _hints()
    if not isinstance(exercise, str) or exercise not in known:
        print(f"no exercise is called {exercise!r}; hints exist for {', '.join(known)}")
        return
    if isinstance(level, bool) or not isinstance(level, int) or level not in LEVELS:
        print(f"hint {level!r} does not exist: 1 is a nudge, 2 a plan, 3 nearly the code")
        return
    used = int(progress.load()["hints"].get(exercise, 0))
    if level > used + 1:
        print(f'Take hint {used + 1} first ({LEVELS[used + 1]}): hint("{exercise}", {used + 1})')
        return
    progress.note("hints", exercise, level)
    print(f"Hint {level} of 3, {LEVELS[level]}:\n{known[exercise][level - 1]}")


def watch(cache_class: Callable[..., Any], tokens: int | Sequence[str] = 10, **sizes: int) -> None:
    """Run a cache of your own on some tokens and show what each slot holds after each step.

    ``sizes`` go to the class, as in ``watch(MyRing, 10, window_size=4)``. The picture is made
    from what the cache did, right or wrong.
    """
    try:
        from .figures.steps_table import steps_table
        from .trace import record
    except ImportError:
        print(OFF)
        return
    print(steps_table(record(lambda: cache_class(**sizes), tokens)))


def show(*caches: Any, **how: Any) -> Any:
    """Show caches of your own in the slot-versus-position theatre; see ``ringkv_edu.show``."""
    try:
        from .widgets import show as shown
    except ImportError:
        print(OFF)
        return None
    return shown(*caches, **how)


@cache
def _hints() -> dict[str, list[str]]:
    text = resources.files("ringkv_edu").joinpath("release", "hints.json").read_text("utf-8")
    return dict(json.loads(text))
