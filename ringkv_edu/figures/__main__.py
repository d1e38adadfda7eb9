"""Draws the lessons' still pictures: ``python -m ringkv_edu.figures course/figures``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from ..pure import RingKVBuffer
from ..trace import record
from .case_files import draw_case_files
from .chunk_mask import draw_chunk_mask
from .cliff import draw_cliff, draw_cliff_bins
from .clock import draw_clock
from .counted import draw_counted
from .cursors import draw_cursors
from .duel import draw_duel
from .gain import draw_gain
from .groups import draw_groups
from .leak import draw_leak
from .log_n import draw_log_n
from .mask_weights import draw_mask_weights
from .memory_flat import draw_memory
from .ntk import draw_ntk
from .other_roads import draw_other_roads
from .paged_window import draw_paged_window
from .partition import draw_partition
from .reach import draw_reach
from .recall import draw_recall
from .rewind_strip import draw_rewind
from .ring import draw_ring
from .sink_mass import draw_sink_mass
from .slot_error import draw_slot_error
from .still import Still, save_small
from .trim_strip import draw_trim

FIGURES: dict[str, Callable[[], Still]] = {
    "ring": lambda: draw_ring(record(lambda: RingKVBuffer(4), 10), next_slot=10 % 4),
    "cliff": draw_cliff,
    "mask_weights": draw_mask_weights,
    "groups": draw_groups,
    "chunk_mask": draw_chunk_mask,
    "rewind": draw_rewind,
    "trim": draw_trim,
    "clock": draw_clock,
    "slot_error": draw_slot_error,
    "ntk": draw_ntk,
    "cursors": draw_cursors,
    "leak": draw_leak,
    "memory": draw_memory,
    "counted": draw_counted,
    "partition": draw_partition,
    "log_n": draw_log_n,
    "recall": draw_recall,
    "reach": draw_reach,
    "cliff_bins": draw_cliff_bins,
    "sink_mass": draw_sink_mass,
    "duel": draw_duel,
    "gain": draw_gain,
    "paged_window": draw_paged_window,
    "other_roads": draw_other_roads,
    "case_files": draw_case_files,
}
"""What draws each picture of the lessons, by the name of its file."""


def main(folder: str) -> None:
    """Write every picture of the lessons."""
    for name, draws in FIGURES.items():
        path = Path(folder, f"{name}.png")
        save_small(draws(), path)
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m ringkv_edu.figures FOLDER")
    main(sys.argv[1])
