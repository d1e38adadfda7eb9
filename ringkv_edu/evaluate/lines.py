"""Files of JSON lines that lose nothing when a run is stopped: sweeps and monitor logs.

Each line is written whole, flushed and, on request, forced to the disk. Only the last line of a
file can be torn, by a machine that stopped while it was written; it is dropped when the file is
opened again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..problem import Problem

__all__ = ["Lines", "read_lines"]


def read_lines(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Give the objects of a file, and how many bytes of it are whole lines.

    Raises ``Problem`` for a line that is no JSON object, unless it is the last and was torn.
    """
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    found = []
    for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1):
        try:
            one = json.loads(line)
        except ValueError:
            one = None
        if not isinstance(one, dict):
            raise Problem(f"{path}, line {number}: no JSON object; give a log as it was written")
        found.append(one)
    return found, whole


class Lines:
    """Appends to a file of JSON lines; ``kept`` are those that it held before."""

    def __init__(self, path: Path | str, sync: bool = False) -> None:
        self.path, self.sync = Path(path), sync
        self.kept: list[dict[str, Any]] = []
        whole = 0
        if self.path.exists():
            self.kept, whole = read_lines(self.path)
        self.file = self.path.open("ab")
        self.file.truncate(whole)

    def write(self, one: dict[str, Any]) -> None:
        """Add a line; what is not finite is written as Python reads it: NaN, Infinity."""
        text = json.dumps(one, separators=(",", ":"))
        self.file.write(text.encode() + b"\n")
        self.file.flush()
        if self.sync:
            os.fsync(self.file.fileno())

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
