"""Turns a failed cell into one line that a learner can use, and a few more for the report."""

from __future__ import annotations

import re

__all__ = ["clean", "difference", "error_cause"]

WIDEST, WIDEST_LINE = 44, 400
MOST_LINES = 4


def clean(text: str, width: int) -> str:
    """Keep a text on one line, printable and within a width, so that it cannot forge a row."""
    flat = "".join(c if c.isprintable() else " " for c in text[: 4 * width])
    return flat if len(flat) <= width else flat[: width - 2] + " …"


def difference(reference: str, yours: str) -> list[str]:
    """Say where two printed texts part. The first line is the cause in one line."""
    expected, printed = reference.splitlines(), yours.splitlines()
    extra = len(printed) - len(expected)
    if extra > 0 and _within(expected, printed):
        count = "1 line" if extra == 1 else f"{extra} lines"
        return [f"prints {count} of its own among the right ones: take your print calls out"]
    first = next(
        (i for i, pair in enumerate(zip(expected, printed, strict=False)) if pair[0] != pair[1]),
        min(len(expected), len(printed)),
    )
    want = _at(expected, first)
    got = _at(printed, first)
    left, right = _cut(want, got)
    wrong = sum(a != b for a, b in zip(expected, printed, strict=False)) + abs(extra)
    lines = [f"line {first + 1}: reference {left!r}, yours {right!r}"]
    lines.append(f"  {wrong} of {len(expected)} lines differ; reference and yours:")
    for place in range(first, min(first + MOST_LINES, max(len(expected), len(printed)))):
        if _at(expected, place) != _at(printed, place):
            lines += [
                f"    reference: {_at(expected, place)}",
                f"    yours:     {_at(printed, place)}",
            ]
    return lines


def error_cause(name: str, text: str, elsewhere: frozenset[str]) -> str:
    """Say which error was raised; and, for a name left outside the answer cells, what to do."""
    missing = re.search(r"name '(\w+)' is not defined", text)
    if name == "NameError" and missing and missing[1] in elsewhere:
        return f"`{missing[1]}` is defined outside the answer cell: move it into the answer cell"
    name = {"_IncompleteInputError": "SyntaxError"}.get(name, name)  # Python 3.13
    first = text.strip().splitlines()[0] if text.strip() else ""
    return clean(f"raises {name}: {first}", 110)


def _within(wanted: list[str], lines: list[str]) -> bool:
    rest = iter(lines)
    return all(line in rest for line in wanted)


def _at(lines: list[str], place: int) -> str:
    return clean(lines[place], WIDEST_LINE) if place < len(lines) else "(nothing)"


def _cut(a: str, b: str) -> tuple[str, str]:
    """Cut two lines to the part around their first difference."""
    same = next(
        (i for i, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]),
        min(len(a), len(b)),
    )
    start = max(0, same - WIDEST // 2) if max(len(a), len(b)) > WIDEST else 0
    return _shown(a, start), _shown(b, start)


def _shown(line: str, start: int) -> str:
    end = start + WIDEST
    return ("…" if start else "") + line[start:end] + ("…" if len(line) > end else "")
