"""Draws the lessons' still pictures: ``python -m ringkv_edu.figures course/figures``."""

from __future__ import annotations

import sys
from pathlib import Path

from ..pure import RingKVBuffer
from ..trace import record
from .cliff import draw_cliff
from .clock import draw_clock
from .ring import draw_ring
from .slot_error import draw_slot_error
from .style import save_small


def main(folder: str) -> None:
    """Write every picture."""
    place = Path(folder)
    save_small(draw_ring(record(lambda: RingKVBuffer(4), 10), next_slot=10 % 4), place / "ring.png")
    save_small(draw_cliff(), place / "cliff.png")
    save_small(draw_clock(), place / "clock.png")
    save_small(draw_slot_error(), place / "slot_error.png")
    for path in sorted(place.glob("*.png")):
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m ringkv_edu.figures FOLDER")
    main(sys.argv[1])
