"""What lies in the folders that a run was asked for, and what a sealed run keeps away from.

Whoever hands in a folder may put anything there: settings, modules, links, folders without end.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .points import readable
from .submission import Unreadable, lesson_named, read_submission

__all__ = ["keep_code_out", "notebooks", "refuse_settings", "refused", "safe", "some_ours", "tops"]

DEEPEST = 40  # folders below what was asked for
LINKED = "it is a link to a folder: hand in the notebooks themselves"
OWN = Path(__file__).resolve().parents[2]  # a checkout of the course, where it is one


def tops(config: pytest.Config) -> list[Path]:
    """Give the folders and files that the run was asked for."""
    start = config.invocation_params.dir
    names = (argument.split("::")[0] for argument in config.args)
    return [Path(os.path.abspath(start / name)) for name in names]


def keep_code_out(early_config: pytest.Config) -> None:
    """Take no `conftest.py` and no module from where the run was started: it would run here."""
    early_config.known_args_namespace.noconftest = True
    here = early_config.invocation_params.dir
    if here != OWN:
        sys.path[:] = [entry for entry in sys.path if entry and Path(entry) != here]


def refuse_settings(config: pytest.Config) -> None:
    """Refuse a `pytest.ini` that lies among what was handed in: it could switch the sealing off."""
    file = config.inipath
    if file is None or config.option.inifilename or file.parent == OWN:
        return
    if any(file.parent.is_relative_to(top) for top in tops(config)):
        raise pytest.UsageError(
            f"{file} lies among the notebooks and would say how they are graded: "
            "take it away, or name the settings with -c"
        )


def refused(folder: Path, below: list[Path]) -> str | None:
    """Say why a folder that was found below what was asked for is not looked into, if it is not."""
    above = next((top for top in below if folder.is_relative_to(top)), None)
    if above is None:
        return None
    if folder.is_symlink():
        return LINKED
    deep = len(folder.relative_to(above).parts) > DEEPEST
    return f"it lies more than {DEEPEST} folders deep" if deep else None


def safe(path: Path) -> dict[str, Any]:
    """Name a file whose own name would break every report that pytest writes, in other bytes."""
    return {"nodeid": readable(path)} if str(path) != readable(path) else {}


def some_ours(config: pytest.Config) -> bool:
    """Say whether any notebook that a run was asked for is one of ours."""
    return any(_is_ours(path) for path in notebooks(config))


def notebooks(config: pytest.Config) -> Iterator[Path]:
    """Walk what the run was asked for, as pytest does: through links, past hidden folders."""
    seen: set[tuple[int, int]] = set()
    waiting = tops(config)
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(OSError):
            about = path.stat()
            if stat.S_ISDIR(about.st_mode):
                if (about.st_dev, about.st_ino) not in seen:
                    seen.add((about.st_dev, about.st_ino))
                    waiting += (p for p in path.iterdir() if not p.name.startswith("."))
            elif path.suffix == ".ipynb":
                yield path


def _is_ours(path: Path) -> bool:
    try:
        return bool(read_submission(path).lesson)
    except Unreadable:
        return bool(lesson_named(path))
