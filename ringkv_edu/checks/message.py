"""Writes what a learner reads when an answer is not right: three or four short lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .compare import kind, same, short
from .guard import STEP_LIMIT, EndlessLoop, InputChanged, place_of

__all__ = ["RESULT", "Raised", "difference", "one_line"]

RESULT = "result"  # the label of what a function returned
NUMBERS = {"a number", "a whole number"}
NO_RETURN = "None (is a `return` missing?)"
ALL_DIGITS = 17


class Raised:
    """An observation that is an error, as plain data."""

    def __init__(self, error: BaseException) -> None:
        self.type_name = type(error).__name__
        self.words = _safe_text(error)
        self.sentence = _what_happened(error, self.words)

    def like(self, other: Any) -> bool:
        """Say whether another observation is the same error; overflows need not say the same."""
        if not isinstance(other, Raised) or self.type_name != other.type_name:
            return False
        return self.words == other.words or self.type_name in ("OverflowError", "InputChanged")


def difference(yours: Any, expected: Mapping[str, Any]) -> list[str]:
    """Say what was seen and what was expected, at the first label where they differ."""
    if isinstance(yours, Raised):
        return [f"  {yours.sentence}", f"  expected: {short(dict(expected))}"]
    for label, want in expected.items():
        if label not in yours:  # the case could not even look: it gave what it saw
            others = ((k, v) for k, v in yours.items() if k not in expected)
            other, got = next(others, (label, None))
            what = NO_RETURN if got is None else f"{short(got, 50)}, which is {kind(got)}"
            return [f"  your {other}: {what}", f"  expected: {label} {short(want)}"]
        if not same(yours[label], want):
            return _pair(label, yours[label], want)
    return []


def one_line(text: str, width: int) -> str:
    """Put a text on one line, cut at ``width`` characters."""
    flat = " ".join(text[: 10 * width].split())
    return flat if len(flat) <= width else flat[: width - 2] + " …"


def _pair(label: str, got: Any, want: Any) -> list[str]:
    seen, wanted = short(got), short(want)
    if seen == wanted:
        seen, wanted = short(got, 200, ALL_DIGITS), short(want, 200, ALL_DIGITS)
    if label == RESULT and got is None:
        seen = NO_RETURN
    elif isinstance(want, list) and len(want) == 1 and kind(got) in NUMBERS:
        seen = f"{seen}, which is a bare number, not a list or array with one in it"
    elif kind(got) != kind(want) and not {kind(got), kind(want)} <= NUMBERS:
        seen = f"{short(got, 50)}, which is {kind(got)}, not {kind(want)}"
    return [f"  your {label}: {seen}", f"  expected: {wanted}"]


def _safe_text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be written)"


def _what_happened(error: BaseException, words: str) -> str:
    if isinstance(error, EndlessLoop):
        if error.args:
            return "your code does not end, and cannot be stopped: restart the kernel."
        steps = f"your code took more than {STEP_LIMIT:,} steps"
        return f"{steps}: a loop that never ends, or far too slow."
    if isinstance(error, InputChanged):
        return one_line(f"your code changed what it was given: {words}", 120)
    if isinstance(error, NotImplementedError):
        return "this part is not written yet."
    where = place_of(error)
    at = f", at `{one_line(where, 60)}`" if where else ""
    return one_line(f"your code raised {type(error).__name__}: {words}", 110) + at
