"""What the audit found, as lines for a terminal and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from .row import ARTICLES, Fact, Finding, spelled

__all__ = ["as_data", "everything", "place", "summary", "table"]

WIDTH = 100
LEFT = 28  # columns for a row's id and its verdict


def table(findings: Sequence[Finding]) -> list[str]:
    """Lay out id, verdict and what is right; a row that disagrees says how."""
    lines = [f"{'row':<5}{'verdict':<{LEFT - 5}}what is right"]
    for found in findings:
        verdict = wrap(found.row.verdict, LEFT - 7)
        right = wrap(found.right, WIDTH - LEFT)
        for n in range(max(len(verdict), len(right))):
            left = verdict[n] if n < len(verdict) else ""
            text = right[n] if n < len(right) else ""
            lines.append(f"{'' if n else found.row.id:<5}{left:<{LEFT - 5}}{text}".rstrip())
        lines += _problems(found)
    return lines


def everything(found: Finding) -> list[str]:
    """Give all about one row."""
    row = found.row
    lines = [f"{row.id}  {row.verdict}"]
    for name, text in (
        ("article", f"{row.article}, {ARTICLES[row.article]}"),
        ("printed", row.printed),
        ("right", found.right),
        ("why", found.why),
        ("how", row.how),
        ("taught", "; ".join(map(place, row.taught))),
    ):
        first, *rest = wrap(text, WIDTH - 11)
        lines += [f"  {name:<9}{first}", *(" " * 11 + line for line in rest)]
    return [*lines, *_facts(found.facts), *_problems(found)]


def summary(findings: Sequence[Finding]) -> str:
    """Say in a line how many rows agree."""
    wrong = [found.row.id for found in findings if found.problems]
    many = f"{len(findings)} row" + ("s" if len(findings) != 1 else "")
    if wrong:
        return f"{many} recomputed; {len(wrong)} disagree: {', '.join(wrong)}"
    return f"{many} recomputed; every figure is what the course states."


def place(taught: str) -> str:
    """Write out where a lesson takes something up: "01 exercise 5" is lesson 01, exercise 5."""
    lesson, _, section = taught.partition(" ")
    return f"lesson {lesson}" + (f", {section}" if section else "")


def as_data(found: Finding) -> dict[str, Any]:
    """Give a finding as plain values, for JSON."""
    row = found.row
    facts = [
        {"name": f.name, "computed": f.value, "stated": f.stated, "printed": f.printed}
        for f in found.facts
    ]
    return {
        "id": row.id, "article": ARTICLES[row.article], "printed": row.printed,
        "right": found.right, "verdict": row.verdict, "why": found.why, "how": row.how,
        "taught": list(row.taught), "facts": facts, "agrees": not found.problems,
        "problems": list(found.problems),
    }  # fmt: skip


def _facts(facts: Sequence[Fact]) -> list[str]:
    if not facts:
        return []
    lines = [["", "computed", "stated", "printed there"]]
    lines += [[f.name, *map(spelled, (f.text, f.stated, f.printed or ""))] for f in facts]
    widths = [max(len(line[n]) for line in lines) for n in range(4)]
    out = []
    for name, *cells in lines:
        places = zip(cells, widths[1:], strict=True)
        out.append("  ".join(["  " + name.ljust(widths[0]), *(c.rjust(w) for c, w in places)]))
    return [line.rstrip() for line in out]


def _problems(found: Finding) -> list[str]:
    return [f"{found.row.id} DISAGREES: {problem}" for problem in found.problems]
