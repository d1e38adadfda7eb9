"""`ringkv slides`, `ringkv sheets` and `ringkv api`: what an instructor shows and hands out."""

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
    solutions = _course("solutions") if options.answers else None
    folder = _folder(options.out)
    for name in dict.fromkeys(names):
        end = "_answers" if options.answers else ""
        _write(folder / f"{name}{end}.html", deck(name, solutions))
    return 0


def sheets(options: argparse.Namespace) -> int:
    """Write the pages that are printed and handed out."""
    from .kit.sheet import cards, sheet

    text = _course("course/cheat_sheet.md").read_text(encoding="utf-8")
    folder = _folder(options.out)
    _write(folder / "cheat_sheet.html", sheet(text))
    _write(folder / "cards.html", cards())
    return 0


def api(options: argparse.Namespace) -> int:
    """Write the API page from the sources' signatures and docstrings."""
    from importlib.util import find_spec

    from .kit.api import page

    if find_spec("griffe") is None:
        raise Problem("griffe is not installed; run: python -m pip install griffelib")
    if options.out is None:
        print(page(), end="")
    else:
        _write(_folder(options.out) / "api.md", page())
    return 0


def _course(name: str) -> Path:
    """Find a file or folder of the course, here or in the clone that this package is run from."""
    for root in (Path.cwd(), Path(__file__).resolve().parents[1]):
        if (root / "course" / "lessons").is_dir() and (root / name).exists():
            return root / name
    raise Problem(f"there is no {name} here: stand in a clone of the course")


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
    one.add_argument(
        "--answers", action="store_true",
        help="with an answer and its reason behind each exercise: for after it, not to hand out",
    )  # fmt: skip
    one = command(
        sheets,
        "write pages to print: the cheat sheet on one A4 page, and cards for ten minutes unplugged",
        "ringkv sheets --out sheets",
    )
    one.add_argument("--out", metavar="FOLDER", default="sheets", help="(default: sheets)")
    one = command(
        api,
        "write what the package offers, from its signatures and docstrings (for authors)",
        "ringkv api --out course",
    )
    one.add_argument("--out", metavar="FOLDER", help="write FOLDER/api.md (default: print it)")
