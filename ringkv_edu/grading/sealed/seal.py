"""What this machine offers to seal a process with, and the place that a sealed kernel gets."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .limits import Limits
from .view import package_folder

__all__ = [
    "CONNECTION",
    "NONE",
    "SOCKETS",
    "Seal",
    "best_seal",
    "command_in_place",
    "place_of",
    "seals",
]

ENTER = Path(__file__).with_name("enter.py")
COURSE, SOCKETS, HOME, CONNECTION = "/course", "/run/kernel", "/tmp/home", "/tmp/connection.json"
ANSWERS = "/tmp/answers"  # the folder in which the cells run
SYSTEM = (
    "/bin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64",
    "/usr/local/lib", "/usr/local/bin", "/usr/share/zoneinfo", "/usr/share/fonts",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/fonts",
)  # fmt: skip
FIRST_UID, UIDS = 210_000, 40_000  # nobody's: so that limits count one kernel alone
_numbers = itertools.count()


@dataclass(frozen=True)
class Seal:
    """A way to seal. ``words`` say it in a report; ``why_not`` says why it cannot be had here."""

    name: str
    words: str
    why_not: str = ""


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
    if seal.name == "bubblewrap":
        return [*_bubblewrap(place), *command]
    file = folder / "place.json"
    file.write_text(json.dumps(place), encoding="utf-8")
    return [sys.executable, "-I", "-S", str(ENTER), str(file), *command]


def place_of(
    view: Path,
    sockets: Path,
    root: Path,
    limits: Limits,
    masked: Iterable[Path] = (),
    connection: Path | None = None,
) -> dict[str, Any]:
    """Describe the place of a kernel, as ``enter.py`` reads it.

    ``view`` is what can be imported of our package, ``sockets`` where the kernel and its client
    meet, ``root`` an empty folder for the new root, ``masked`` what must not be seen even where it
    lies inside of something that is.
    """
    python = {Path(sys.prefix), Path(sys.base_prefix), *_standard_library()}
    system = [Path(path) for path in SYSTEM if Path(path).exists()]
    links = {str(path): os.readlink(path) for path in system if path.is_symlink() and path.is_dir()}
    seen = _outermost({*(p for p in system if str(p) not in links), *python})
    hidden = {package_folder(), *(path.resolve() for path in masked)}
    mounts = [("read", str(path), str(path)) for path in seen]
    mounts += [
        ("mask", str(path), "") for path in hidden if any(path.is_relative_to(s) for s in seen)
    ]
    mounts += [("read", COURSE, str(view)), ("write", SOCKETS, str(sockets))]
    mounts += [("empty", "/tmp", ""), ("empty", "/dev/shm", "")]
    mib = 1 << 20
    return {
        "root": str(root),
        "uid": FIRST_UID + (os.getpid() * 7 + next(_numbers)) % UIDS if os.getuid() == 0 else 1000,
        "links": links,
        "mounts": mounts,
        "disk_mib": limits.disk_mib,
        "files": {CONNECTION: str(connection)} if connection else {},
        "folders": [ANSWERS, HOME],
        "writable": [SOCKETS],
        "environment": environment(),
        "limits": {
            "RLIMIT_AS": limits.address_mib * mib,
            "RLIMIT_FSIZE": limits.disk_mib * mib,
            "RLIMIT_CPU": int(limits.notebook_seconds * 4),
            "RLIMIT_NPROC": limits.processes + (0 if os.getuid() == 0 else _own_threads()),
            "RLIMIT_NOFILE": limits.open_files,
            "RLIMIT_CORE": 0,
        },
    }


def environment() -> dict[str, str]:
    """Give the whole environment of a sealed kernel: nothing of the grader's own is in it."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": HOME,
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": COURSE,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "IPYTHONDIR": f"{HOME}/ipython",
        "MPLCONFIGDIR": f"{HOME}/matplotlib",
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "PYTEST_CURRENT_TEST": "graded",  # ipykernel then leaves file descriptors 1 and 2 alone
    }


def _standard_library() -> set[Path]:
    """Give where Python's own modules lie; a linked interpreter may keep them elsewhere."""
    paths = {
        Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
    return paths | {Path(sys.executable).resolve().parent}


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """Leave out what lies below another, or is the whole disk."""
    real = sorted({path for path in paths if path.exists() and path != Path("/")})
    broad = {Path("/usr"), Path("/usr/local")}  # Debian's Python has these as its prefix
    real = [path for path in real if path not in broad]
    return [
        path
        for path in real
        if not any(path != other and path.is_relative_to(other) for other in real)
    ]


def _own_threads() -> int:
    """Count what a user limit counts already: this user's threads."""
    count = 0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += len(os.listdir(entry / "task"))
        except OSError:
            continue
    return count


def _bubblewrap(place: dict[str, Any]) -> list[str]:
    program = shutil.which("bwrap") or "bwrap"
    size = str(place["disk_mib"] << 20)
    arguments = [program, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    arguments += ["--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]
    for link, to in place["links"].items():
        arguments += ["--symlink", to, link]
    for kind, path, source in sorted(place["mounts"], key=lambda mount: mount[1].count("/")):
        if kind in ("mask", "empty"):
            arguments += ["--size", "4096" if kind == "mask" else size, "--tmpfs", path]
        else:
            arguments += ["--ro-bind" if kind == "read" else "--bind", source, path]
    for name, value in place["environment"].items():
        arguments += ["--setenv", name, value]
    for folder in place["folders"]:
        arguments += ["--dir", folder]
    for inside, path in place["files"].items():
        arguments += ["--ro-bind", path, inside]
    limits = [
        "/usr/bin/prlimit",
        *(f"--{_prlimit(name)}={value}" for name, value in place["limits"].items()),
    ]
    arguments += ["--remount-ro", "/"]
    return [*arguments, "--chdir", place["folders"][0], "--", *limits]


def _prlimit(name: str) -> str:
    return name.removeprefix("RLIMIT_").lower()


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
