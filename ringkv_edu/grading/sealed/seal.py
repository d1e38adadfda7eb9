"""What this machine offers to seal a process with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .limits import Limits
from .place import FIRST, PLACE, place_of

__all__ = ["NONE", "UNSEALED", "Seal", "best_seal", "command_in_place", "seals"]

UNSEALED = 3  # the exit status where nothing can seal a process
ENTER, INSIDE = (Path(__file__).with_name(name) for name in ("enter.py", "inside.py"))


@dataclass(frozen=True)
class Seal:
    """A way to seal. ``words`` say it in a report; ``why_not`` says why it cannot be had here."""

    name: str
    words: str
    why_not: str = ""


ROOTS_OWN = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
POWERS = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")  # to give the user up, and then these

NONE = Seal("none", "NOT SEALED: the answers could read and write what the grader can")
NAMESPACES = Seal("namespaces", "sealed by Linux namespaces: own files, no network, own user")
BUBBLEWRAP = Seal("bubblewrap", "sealed by bubblewrap: own files, no network")


@cache
def seals(only: str = "") -> tuple[Seal, ...]:
    """Try each way once, or one, and give them with what stands in the way of those that failed."""
    ways = (seal for seal in (NAMESPACES, BUBBLEWRAP) if only in ("", seal.name))
    return tuple(_tried(seal) for seal in ways)


def best_seal() -> Seal:
    """Give the first way that works here, or ``NONE``."""
    return next((seal for seal in seals() if not seal.why_not), NONE)


def command_in_place(
    seal: Seal, place: dict[str, Any], folder: Path, command: Sequence[str]
) -> list[str]:
    """Write what starts ``command`` in a place; ``folder`` takes the file that describes it."""
    file = folder / "place.json"
    place["mounts"] += [("read", FIRST, str(INSIDE)), ("read", PLACE, str(file))]
    file.write_text(json.dumps(place), encoding="utf-8")
    file.chmod(0o644)  # read inside, by another user
    python = [sys.executable, "-I", "-S"]
    outside = _bubblewrap(place) if seal.name == "bubblewrap" else [*python, str(ENTER), str(file)]
    return [*outside, *python, FIRST, PLACE, *command]


def _bubblewrap(place: dict[str, Any]) -> list[str]:
    """Write bwrap's options. What root needs to give its user up inside, others do without."""
    root = os.getuid() == 0
    arguments = [shutil.which("bwrap") or "bwrap", *(ROOTS_OWN if root else ["--unshare-all"])]
    arguments += ["--as-pid-1", "--die-with-parent", "--new-session", "--clearenv"]
    arguments += ["--cap-drop", "ALL"]
    arguments += [word for power in POWERS if root for word in ("--cap-add", power)]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    for link, to in place["links"].items():
        arguments += ["--symlink", to, link]
    size = str(place["disk_mib"] << 20)
    for kind, path, source in sorted(place["mounts"], key=lambda mount: mount[1].count("/")):
        arguments += _readable_parents(path)
        if kind in ("mask", "empty"):
            arguments += ["--size", "4096" if kind == "mask" else size]
            arguments += ["--perms", "0755" if kind == "mask" else "1777", "--tmpfs", path]
        else:
            arguments += ["--ro-bind" if kind == "read" else "--bind", source, path]
    for name, value in place["environment"].items():
        arguments += ["--setenv", name, value]
    for folder in place["folders"]:
        arguments += ["--perms", "1777", "--dir", folder]
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/", "--"]


def _readable_parents(path: str) -> Iterator[str]:
    """Make what stands above a mount; by itself bwrap keeps it for its own user."""
    for parent in reversed(Path(path).parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(parent))


def _tried(seal: Seal) -> Seal:
    """Run Python in such a place once."""
    if sys.platform != "linux":
        return Seal(seal.name, seal.words, f"{sys.platform} is not Linux")
    if seal.name == "bubblewrap" and not shutil.which("bwrap"):
        return Seal(seal.name, seal.words, "bwrap is not installed")
    with tempfile.TemporaryDirectory(prefix="ringkv-") as name:
        folder = Path(name)
        for part in ("view", "sockets", "root"):
            (folder / part).mkdir()
        place = place_of(folder / "view", folder / "sockets", folder / "root", Limits())
        code = "import os, sys; sys.exit(42 if not os.path.exists('/home') else 1)"
        command = command_in_place(seal, place, folder, [sys.executable, "-c", code])
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Seal(seal.name, seal.words, str(error))
        if done.returncode == 42:
            return seal
        said = done.stderr.strip().splitlines()
        return Seal(seal.name, seal.words, said[-1] if said else f"it ended with {done.returncode}")
