"""What the commands that compare and record have in common: checked options, a line of progress."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from .problem import Problem

__all__ = ["MOST", "Command", "Progress", "add_model", "check_file", "check_number"]

MOST = 2**20
Command = Callable[[Callable[[argparse.Namespace], int], str, str], argparse.ArgumentParser]


class Progress:
    """One line on a terminal's stderr, written over by the next; nothing anywhere else."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        """Show a text in place of the one before."""
        if self.terminal:
            end = "" if text else "\r"
            print(f"\r{text[:78]:<78}", end=end, file=sys.stderr, flush=True)


def check_number(options: argparse.Namespace, name: str, least: int) -> None:
    """Check a whole number, before anything is loaded."""
    given = getattr(options, name)
    if not least <= given <= MOST:
        raise Problem(f"--{name} is {given}; give {least} to {MOST}")


def check_file(option: str, given: str | None, ending: str | None) -> None:
    """Check that a file can be written before minutes are spent on what goes into it."""
    if given is None or (given == "-" and option == "--json"):
        return
    path = Path(given)
    if ending and path.suffix.lower() != ending:
        raise Problem(f"{option} is {given or 'empty'}; give a file that ends in {ending}")
    if not given or path.is_dir():
        raise Problem(f"{option} is {given or 'empty'}; give the name of a file")
    if not path.parent.is_dir():
        raise Problem(f"{option} is {given}, and there is no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Problem(f"{option} is {given}, which may not be written; give another file")


def add_model(one: argparse.ArgumentParser) -> None:
    """Add the options that say which model reads what."""
    one.add_argument(
        "model", nargs="?", default="tiny",
        help="tiny (trained on the recall task), random (weights) or smollm2 (default: tiny)",
    )  # fmt: skip
    one.add_argument("--text", metavar="FILE", help="what smollm2 reads")
    one.add_argument("--tokens", type=int, default=1024, help="how many of it (default: 1024)")
