"""`ringkv audit`: recompute what the articles behind this course print, and say what is right."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .cli_options import Command, check_file
from .problem import Problem

__all__ = ["add_commands"]


def audit(options: argparse.Namespace) -> int:
    """Recompute some rows, or all; exit status 1 when a figure is not what the course states."""
    check_file("--json", options.json, None)
    check_file("--write", options.write, ".md")
    from . import audit as parts
    from .audit.page import page
    from .audit.report import as_data, everything, summary, table

    every = parts.rows()
    chosen = _chosen(every, options.row, options.article)
    if options.write and len(chosen) < len(every):
        raise Problem("--write needs every row; leave ROW and --article out")
    findings = parts.audit(chosen)
    if options.json == "-":
        print(json.dumps([as_data(found) for found in findings], indent=1))
    else:
        each = [["", *everything(found)] for found in findings] if options.row else []
        lines = [line for one in each for line in one][1:] if each else table(findings)
        print("\n".join([*lines, "", summary(findings)]))
    agrees = not any(found.problems for found in findings)
    if options.json and options.json != "-":
        text = json.dumps([as_data(found) for found in findings], indent=1)
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    if options.write and agrees:
        Path(options.write).write_text(page(findings), encoding="utf-8", newline="\n")
        print(f"wrote {options.write}")
    elif options.write:
        print(f"{options.write} is not written: first let every row agree")
    return 0 if agrees else 1


def _chosen(every: Sequence[Any], wanted: Sequence[str], article: str | None) -> list[Any]:
    """Pick rows by id, or those of an article."""
    known = {row.id: row for row in every}
    names = [name.upper() for name in wanted]
    for name, given in zip(names, wanted, strict=True):
        if name not in known:
            ends = [row.id for row, after in zip(every, [*every[1:], None], strict=True)
                    if after is None or after.article != row.article]  # fmt: skip
            ranges = ", ".join(f"{end[0]}1 to {end}" for end in ends)
            raise Problem(f"no row is called {given!r}; rows are {ranges}")
    rows = [known[name] for name in dict.fromkeys(names)] if names else list(every)
    chosen = [row for row in rows if article in (None, row.article)]
    if not chosen:
        raise Problem(f"none of {', '.join(names)} belongs to article {article}")
    return chosen


def add_commands(command: Command) -> None:
    """Add `audit` to the commands."""
    one = command(
        audit,
        "recompute what the articles behind the course print, and say what is right",
        "ringkv audit\n  ringkv audit B4 D5\n  ringkv audit --article C --json audit.json",
    )
    one.add_argument("row", nargs="*", metavar="ROW", help="everything about these, as B4")
    one.add_argument("--article", choices="ABCD", help="the rows of one article")
    one.add_argument("--json", metavar="FILE", help="write all of it as JSON; - prints it")
    one.add_argument("--write", metavar="FILE", help="write course/source_audit.md (for authors)")
