"""How much one submission may take."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Seconds, mebibytes and counts for one notebook's kernel."""

    cell_seconds: float = 20
    notebook_seconds: float = 240
    memory_mib: int = 3072  # what its processes may hold together
    address_mib: int = 8192  # what one process may ask for; torch alone asks for 1.4 GiB
    disk_mib: int = 64
    processes: int = 160  # threads count, and torch starts some tens
    open_files: int = 512
