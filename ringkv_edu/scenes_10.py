"""What lesson 10 shows at its end: a learner's tests aimed at caches that others wrote.

Nothing here is graded. A cache that is not installed is named, and left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

__all__ = ["RECIPES", "TARGETS", "seen_through", "world"]

Test = Callable[[Any], object]
# (what is said, the package it needs, its imports, the adapter of `ringkv cases`)
TARGETS = (
    ("the course's NumpyRing", "", (), "ringkv_edu.numpy_ring:NumpyRing"),
    (
        "transformers' sliding layer",
        "transformers",
        ("torch", "transformers"),
        "ringkv_edu.cases.foreign.transformers_sliding:SlidingLayer",
    ),
    (
        "mlx-lm's rotating cache",
        "mlx-lm",
        ("mlx_lm",),
        "ringkv_edu.cases.foreign.mlx_rotating:RotatingCache",
    ),
)
RECIPES = ("8", "11", "16", "27", "31", "44b")
LANES = 64
WIDEST = 96


def world(window_test: Test, keys_test: Test, flag_test: Test) -> None:
    """Aim three tests of lesson 10, and six known bugs, at every cache that is installed."""
    try:
        from . import cases as cases
    except ImportError:  # its modules hold answers
        print("scenes are switched off in a graded run")
        return
    for name, package, imports, target in TARGETS:
        missing = [module for module in imports if find_spec(module) is None]
        if missing:
            print(f"{name}: not installed ({', '.join(missing)})\n")
            continue
        print(f"{name}{_release(package)}")
        for test, kind in ((window_test, "window"), (keys_test, "keys"), (flag_test, "flag")):
            print(f"  {getattr(test, '__name__', kind):<16} {_said(test, target, kind)}")
        for line in _recipes(target):
            print(f"  {line}")
        print()


def _release(package: str) -> str:
    try:
        return f", {package} {version(package)}" if package else ""
    except PackageNotFoundError:
        return ""


def _said(test: Test, target: str, kind: str) -> str:
    try:
        cache_class = seen_through(target, means=kind == "keys")
        if kind == "flag" and not hasattr(cache_class, "save"):
            return "not asked: its state cannot be saved"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test(cache_class)
    except AssertionError as error:
        words = " ".join(f"refused, {cache_class.last}. {error}".split())
        return words[:WIDEST]
    except Exception as error:  # whatever a library raises is what is to be seen
        words = f"refused, {cache_class.last}: {type(error).__name__}: {error}"
        return " ".join(words.split())[:WIDEST]
    return "accepted"


def _recipes(target: str) -> Iterator[str]:
    from .cases import CASES, load, run

    asked = [case for case in CASES if case.id in RECIPES]
    for result in run(load(target), asked):
        detail = f": {result.detail}" if result.verdict == "FAILS" else ""
        line = f"case {result.case.id:<11} {result.verdict.lower():<9} {result.case.says}{detail}"
        yield line[: WIDEST + 40]


def seen_through(target: str, means: bool = False) -> Any:
    """Wrap a cache that attends, so that `step` tells which tokens each query sees.

    Queries are zeros, so that all that is seen weighs the same, and a token's value is 1 in a lane
    of its own. With ``means``, `step` takes numbers and gives the mean of those that are seen.
    """
    import numpy as np

    from .cases import load

    subject = load(target)

    class Through:
        last = "no cache was made"

        def __init__(self, window: int) -> None:
            Through.last = f"window {window}, after 0 tokens"
            sizes = {"window": window, "kv_heads": 1, "head_dim": LANES}
            self._window, self._cache = window, subject.make(sizes)
            self._text: list[Any] = []

        def step(self, tokens: Sequence[Any]) -> list[Any]:
            if not len(tokens):
                return []
            first = len(self._text)
            self._text += tokens
            Through.last = f"window {self._window}, after {len(self._text)} tokens"
            value = np.zeros((1, len(tokens), LANES), np.float32)
            value[0, range(len(tokens)), [p % LANES for p in range(first, len(self._text))]] = 1
            zeros = np.zeros_like(value)
            out = np.asarray(self._cache.step(zeros, zeros, value))[0]
            rows = [self._row(weights) for weights in out]
            return [sum(row) / len(row) if row else float("nan") for row in rows] if means else rows

        def _row(self, weights: Any) -> list[Any]:
            """Read off the newest token of each lane that has any weight, NaN included."""
            newest = {place % LANES: place for place in range(len(self._text))}
            lanes = [lane for lane, place in newest.items() if weights[lane] != 0]
            return [self._text[newest[lane]] for lane in lanes]

    if "state" in subject.offers:
        _add_state(Through, subject)
    return Through


def _add_state(through: Any, subject: Any) -> None:
    """Add `save` and `load`, by the adapter's own state."""

    def save(self: Any) -> Any:
        return self._window, list(self._text), self._cache.state_dict()

    def load(cls: Any, saved: Any) -> Any:
        window, text, state = saved
        cache = cls(window)
        cache._text = list(text)
        cache._cache = subject.cache_class.from_state_dict(state)
        return cache

    through.save, through.load = save, classmethod(load)
