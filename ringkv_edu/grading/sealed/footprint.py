"""What a kernel's processes take, and what the grader itself takes, as Linux counts it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["Held", "files_made", "held_by", "own_memory", "room_left"]

BLOCK = 512  # bytes; what st_blocks counts


@dataclass(frozen=True)
class Held:
    """Bytes of memory and a count of processes."""

    memory: int
    processes: int


def held_by(processes: Iterable[psutil.Process]) -> Held:
    """Add up what processes hold."""
    memory = count = 0
    for process in processes:
        with suppress(psutil.Error):
            memory += process.memory_info().rss
            count += 1
    return Held(memory, count)


def own_memory() -> int:
    """Give this process's resident memory."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return int(psutil.Process().memory_info().rss)
    return pages * os.sysconf("SC_PAGE_SIZE")


def files_made(process: psutil.Process, folder: str) -> int:
    """Count the files on a file system that a process sees, where that may be looked at."""
    with suppress(OSError):
        about = os.statvfs(f"/proc/{process.pid}/root{folder}")
        return about.f_files - about.f_ffree
    return 0


def room_left(folder: Path, most_bytes: int, most_files: int) -> bool:
    """Say whether a folder stays below both limits; stops looking where it does not."""
    size = count = 0
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    with suppress(OSError):
                        size += entry.stat(follow_symlinks=False).st_blocks * BLOCK
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                    if size > most_bytes or count > most_files:
                        return False
        except OSError:
            continue
    return True
