"""Draws the lessons' still pictures: ``python -m ringkv_edu.figures course/figures``."""

from __future__ import annotations

import sys
from pathlib import Path

from ..pure import RingKVBuffer
from ..trace import record
from .cliff import draw_cliff
from .groups import draw_groups
from .mask_weights import draw_mask_weights
from .ring import draw_ring
from .style import save_small


def main(folder: str) -> None:
    """Write every picture of the lessons."""
    place = Path(folder)
    save_small(draw_ring(record(lambda: RingKVBuffer(4), 10), next_slot=10 % 4), place / "ring.png")
    save_small(draw_cliff(), place / "cliff.png")
    save_small(draw_mask_weights(), place / "mask_weights.png")
    save_small(draw_groups(), place / "groups.png")
    for path in sorted(place.glob("*.png")):
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m ringkv_edu.figures FOLDER")
    main(sys.argv[1])
