"""`ringkv slides`, `ringkv print` and `ringkv api`: what an instructor shows and hands out."""

from __future__ import annotations

import argparse
from pathlib import Path

from .cli_options import Command
from .problem import Problem

__all__ = ["add_commands"]


def slides(options: argparse.Namespace) -> int:
    """Write one HTML file of slides for each lesson."""
    from .kit.slides import deck
    from .kit.talk import lesson_names
    from .workspace import lesson_name

    names = [lesson_name(text) for text in options.lesson] or lesson_names()
    folder = _folder(options.out)
    for name in dict.fromkeys(names):
        _write(folder / f"{name}.html", deck(name))
    return 0


def _folder(given: str) -> Path:
    folder = Path(given)
    if folder.exists() and not folder.is_dir():
        raise Problem(f"--out is {given}, which is a file; give a folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {path}")


def add_commands(command: Command) -> None:
    """Add the kit's commands."""
    one = command(
        slides,
        "write slides of the lessons, one HTML file each, from the lessons' own text and pictures",
        "ringkv slides 01 03\n  ringkv slides --out slides",
    )
    one.add_argument("lesson", nargs="*", help="a lesson's number or name (default: all)")
    one.add_argument("--out", metavar="FOLDER", default="slides", help="(default: slides)")
