"""What a learner has done, kept as plain JSON in the course folder that `ringkv start` made.

Outside such a folder nothing is written: the record lasts as long as the kernel.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

__all__ = ["MARKER", "course_folder", "load", "note"]

MARKER = ".ringkv"
FILE = "progress.json"
_in_memory: dict[str, Any] = {}


def course_folder(start: Path | None = None) -> Path | None:
    """Find the learner's course folder: the nearest one upwards that holds ``.ringkv``."""
    try:
        here = (start or Path.cwd()).resolve()
    except OSError:  # the folder we stand in is gone
        return None
    return next((folder for folder in (here, *here.parents) if (folder / MARKER).is_dir()), None)


def load(folder: Path | None = None) -> dict[str, Any]:
    """Give the record: ``hints`` (exercise -> highest level shown), ``solved`` (exercises)."""
    folder = folder or course_folder()
    record = dict(_in_memory)
    if folder:
        with contextlib.suppress(OSError, ValueError):
            record = json.loads((folder / MARKER / FILE).read_text(encoding="utf-8"))
    if not isinstance(record, dict):
        record = {}
    return record | {part: _counts(record.get(part)) for part in ("hints", "solved")}


def _counts(part: Any) -> dict[str, int]:
    """Keep what is well formed: exercises with a small whole number."""
    facts = part.items() if isinstance(part, dict) else ()
    return {name: n for name, n in facts if isinstance(n, int) and 0 <= n <= 3}


def note(part: str, exercise: str, value: int) -> None:
    """Record one fact. A folder that cannot be written to is not the learner's problem."""
    record = load()
    record[part][exercise] = max(value, int(record[part].get(exercise, 0)))
    _in_memory.update(record)
    folder = course_folder()
    if folder:
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        with contextlib.suppress(OSError):
            (folder / MARKER / FILE).write_text(text, encoding="utf-8")
