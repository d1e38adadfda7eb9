"""The place that a sealed kernel gets, as plain data: what it sees, and how much it may take."""

from __future__ import annotations

import os
import secrets
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .limits import Limits
from .view import package_folder

__all__ = ["CONNECTION", "FIRST", "PLACE", "SCRATCH", "SOCKETS", "environment", "place_of"]

COURSE, SOCKETS, HOME, CONNECTION = "/course", "/run/kernel", "/tmp/home", "/run/connection.json"
FIRST, PLACE = "/run/inside.py", "/run/place.json"
SCRATCH = ("/tmp", "/dev/shm")
ANSWERS = "/tmp/answers"  # the folder in which the cells run
SYSTEM = (
    "/bin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64",
    "/usr/local/lib", "/usr/local/bin", "/usr/share/zoneinfo", "/usr/share/fonts",
    "/etc/ld.so.cache", "/etc/localtime", "/etc/fonts",
)  # fmt: skip
MOST_UID = 1 << 31  # some programs read larger ones as negative
ORDINARY_UID = 1000  # what a user who is not root is called inside
COPIES = (  # where a second copy of the package may lie below what is seen
    "", "python*/site-packages", "python*/dist-packages", "lib/python*/site-packages",
    "lib64/python*/site-packages", "lib/python*/dist-packages", "envs/*/lib/python*/site-packages",
    "src/*",
)  # fmt: skip


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
    hidden = {package_folder(), *_copies(seen), *(path.resolve() for path in masked)}
    mounts = [("read", str(path), str(path)) for path in seen]
    mounts += [
        ("mask", str(path), "") for path in hidden if any(path.is_relative_to(s) for s in seen)
    ]
    mounts += [("read", COURSE, str(view)), ("write", SOCKETS, str(sockets))]
    mounts += [("read", CONNECTION, str(connection))] if connection else []
    mounts += [("empty", place, "") for place in SCRATCH]
    mib = 1 << 20
    return {
        "root": str(root),
        "uid": _nobodys_uid() if os.getuid() == 0 else ORDINARY_UID,
        "links": links,
        "mounts": mounts,
        "disk_mib": limits.disk_mib,
        "inodes": limits.files,
        "folders": [ANSWERS, HOME],
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


def _copies(seen: Iterable[Path]) -> set[Path]:
    """Find other copies of the package: an older one, or one installed by another tool."""
    name = package_folder().name
    places = {Path(entry) for entry in sys.path if entry}
    for root in seen:
        for pattern in COPIES:
            places |= set(root.glob(pattern)) if pattern else {root}
    return {place / name for place in places if (place / name).is_dir()}


def _nobodys_uid() -> int:
    """Draw a user id that nobody has, so that limits count one kernel alone.

    A container may have few ids: the upper half of what this one has is taken from.
    """
    last = 65_533
    with suppress(OSError, ValueError):
        rows = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
        last = max(int(first) + int(count) for first, _, count in rows) - 3
    last = min(last, MOST_UID)
    return last // 2 + secrets.randbelow(last - last // 2)


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
