"""Makes a sealed place and runs a command in it: ``python enter.py PLACE COMMAND...``.

Standard library alone, Linux alone. ``PLACE`` is a JSON file that says what the place holds
(`place.place_of`). The place is a new root of its own mounts: what is not listed does not exist in
it. It has its own processes and network (none); what it writes is gone with it. ``COMMAND`` begins
with `inside.py`, which does the rest. Namespaces are described in namespaces(7),
mount_namespaces(7) and user_namespaces(7).
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import signal
import sys
from pathlib import Path
from typing import Any

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
DETACH = 2
SET_PDEATHSIG = 1
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
DEVICES = ("null", "zero", "full", "random", "urandom")

libc = ctypes.CDLL(None, use_errno=True)


def main(place_file: str, command: list[str]) -> int:
    """Set the place up in a child, and end as the child ends."""
    place = json.loads(Path(place_file).read_text(encoding="utf-8"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the whole group gets it; it is the command's
    _call("prctl", SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a grader that is killed leaves none
    os.umask(0o022)  # whatever the grader's is, another user must be able to read the place
    outside = (os.getuid(), os.getgid())
    rootless = outside[0] != 0
    _call("unshare", NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET | (NEWUSER if rootless else 0))
    if rootless:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{place['uid']} {outside[0]} 1")
        Path("/proc/self/gid_map").write_text(f"{place['uid']} {outside[1]} 1")
    child = os.fork()
    if child == 0:
        try:
            _become(place, command, rootless)
        except BaseException as error:
            print(f"cannot seal: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(125)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) & 0xFF


def _become(place: dict[str, Any], command: list[str], rootless: bool) -> None:
    _build_root(place)
    for folder in place["folders"]:
        os.makedirs(folder, exist_ok=True)
        if not rootless:
            os.chown(folder, place["uid"], place["uid"])
    _call("prctl", SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.closerange(3, 256)
    os.execve(command[0], command, place["environment"])


def _build_root(place: dict[str, Any]) -> None:
    """Make a new root with the listed paths in it, and leave the old one."""
    root = place["root"]
    _mount("none", "/", None, REC | PRIVATE)
    _mount("tmpfs", root, "tmpfs", NOSUID | NODEV, "size=1m,mode=755")
    for link, to in place["links"].items():
        _parent(root + link)
        os.symlink(to, root + link)
    for kind, path, source in sorted(place["mounts"], key=lambda m: m[1].count("/")):
        target = root + path
        if kind == "mask":
            if os.path.isdir(target):
                _mount("tmpfs", target, "tmpfs", RDONLY | NOSUID, "size=4k")
            continue
        if kind == "empty":
            os.makedirs(target, exist_ok=True)
            size = f"size={place['disk_mib']}m,nr_inodes={place['inodes']},mode=1777"
            _mount("tmpfs", target, "tmpfs", NOSUID | NODEV, size)
            continue
        _parent(target)
        _place(source, target)
        _mount(source, target, None, BIND | REC)
        if kind == "read":
            # flags that a user namespace may not take off again are kept (EPERM otherwise)
            _mount(source, target, None, BIND | REMOUNT | RDONLY | NOSUID | _kept(target))
    for name in DEVICES:
        _place(f"/dev/{name}", f"{root}/dev/{name}")
        _mount(f"/dev/{name}", f"{root}/dev/{name}", None, BIND)
    os.mkdir(root + "/proc")
    _mount("proc", root + "/proc", "proc", NOSUID | NODEV)
    os.mkdir(root + "/.old")
    _syscall(PIVOT_ROOT, root.encode(), (root + "/.old").encode())
    os.chdir("/")
    _call("umount2", b"/.old", DETACH)
    os.rmdir("/.old")
    _mount("none", "/", None, REMOUNT | RDONLY | NOSUID | NODEV, "size=1m,mode=755")


def _kept(path: str) -> int:
    flags = os.statvfs(path).f_flag
    pairs = (
        (os.ST_NODEV, NODEV),
        (os.ST_NOEXEC, 8),
        (os.ST_NOATIME, 1024),
        (os.ST_RELATIME, 1 << 21),
    )
    return sum(to for flag, to in pairs if flags & flag)


def _parent(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)


def _place(source: str, target: str) -> None:
    """Make something of the right kind to mount on."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        _parent(target)
        open(target, "x").close()


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    raw = kind.encode() if kind else None
    _call(
        "mount",
        source.encode(),
        target.encode(),
        raw,
        ctypes.c_ulong(flags),
        data.encode(),
        what=target,
    )


def _call(name: str, *arguments: Any, what: str = "") -> None:
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}", what or None)


def _syscall(numbers: dict[str, int], *arguments: Any) -> None:
    number = numbers.get(platform.machine())
    if number is None:
        raise OSError(0, f"sealing is not written for {platform.machine()}")
    if libc.syscall(number, *arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"system call {number}: {os.strerror(error)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
