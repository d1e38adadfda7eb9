"""Grades one notebook in a process of its own: ``python -m ringkv_edu.cohort.job FOLDER``.

The folder holds ``job.json``, ``oracle.json`` and the notebook; ``result.json`` is written there.
Nothing in a result depends on when, where or how fast it was made.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

__all__ = ["main", "steady"]

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
SCRATCH = re.compile(r"(?:/tmp/tmp|(?:/tmp/)?\b(?:ringkv-|ipykernel_))[\w-]+")


def main(folder: Path) -> None:
    """Run pytest with nbval on the notebook, sealed, and write down what it earned."""
    from ..grading.sealed.limits import Limits
    from ..grading.sealed.oracle import Oracle
    from ..grading.sealed.seal import NONE, seals
    from ..grading.sealed.session import SealedRun

    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    oracle = Oracle.from_json((folder / "oracle.json").read_text(encoding="utf-8"))
    seal = next((seal for seal in seals(job["seal"]) if not seal.why_not), NONE)
    if seal.name != job["seal"]:
        raise SystemExit(f"this machine cannot seal by {job['seal']}")
    masked = tuple(map(Path, job["masked"]))
    run = SealedRun(seal, Limits(**job["limits"]), "", {oracle.lesson: oracle}, masked)
    result = _graded(folder / "notebook" / job["file"], run)
    text = json.dumps(result, sort_keys=True, ensure_ascii=False)
    (folder / "result.json").write_text(text, encoding="utf-8")


def _graded(path: Path, run: Any) -> dict[str, Any]:
    from ..grading.selfcheck import run_quietly

    course, said = run_quietly(path, run)
    if not course.files:
        last = said.strip().splitlines()[-1:] or ["pytest collected nothing"]
        return {"problem": f"it could not be run: {last[0]}", "rows": []}
    (file,) = course.files.values()
    rows = [{"cell": cell} | asdict(row) for cell, row in file.rows.items()]
    for row in rows:
        row["cause"] = steady(row["cause"])
    return {"problem": steady(file.problem), "rows": rows}


def steady(text: str) -> str:
    """Leave out what differs from run to run: addresses, and names of scratch folders."""
    return SCRATCH.sub("…", ADDRESS.sub("0x…", text))


if __name__ == "__main__":
    noise = io.StringIO()
    os.environ.pop("PYTEST_ADDOPTS", None)
    with contextlib.redirect_stdout(noise):
        main(Path(sys.argv[1]))
