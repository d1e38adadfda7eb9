"""When tokens may be taken back from a ring, and what a ring may hold: one rule for every backend.

A speculative decoder appends a few drafted tokens and takes some of them back. In a ring the
drafts have overwritten the oldest tokens, so taking back is exact only while everything that the
shorter text needs is still stored.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .inputs import count
from .visibility import slots_of

__all__ = ["RewindError", "check_positions", "length_after_rewind"]


class RewindError(ValueError):
    """A ring was to take back tokens that it cannot take back; nothing was changed."""


def length_after_rewind(
    positions: npt.NDArray[np.int64], seen: int, n: int, window: int, sinks: int
) -> int:
    """Give the length of the text once its newest ``n`` tokens are taken back.

    ``positions`` (slots,) are the stored ones, -1 where a slot is empty; ``seen`` is the length
    now. The shorter text needs its sinks and its last ``window`` positions. Raises
    ``RewindError`` when one of them is gone, or when there are not ``n`` tokens.
    """
    length = seen - count("n", n, 0)
    if length < 0:
        raise RewindError(
            f"rewind({n}): only {seen} tokens have been seen; take back at most those"
        )
    needed = {*range(min(sinks, length)), *range(max(0, length - window), length)}
    held = set(positions.tolist()) - {-1}
    if needed <= held:
        return length
    rolling = [p for p in held if p >= sinks]
    oldest = min(rolling, default=seen)
    raise RewindError(
        f"rewind({n}): a text of {length} tokens needs position {min(needed - held)}, "
        f"and the oldest position still held{' behind the sinks' if sinks else ''} is {oldest}. "
        f"Take back fewer tokens, or make the ring with more slack."
    )


def check_positions(
    positions: npt.NDArray[np.int64], seen: int, window: int, sinks: int, slack: int
) -> None:
    """Refuse, with ``ValueError``, positions (slots,) that no ring holds after ``seen`` tokens."""
    held = np.flatnonzero(positions != -1)
    stored = positions[held]
    ring = window + slack
    known = (stored >= 0) & (stored < seen)
    known &= (stored < sinks) | (stored >= seen - ring)  # older ones are overwritten
    home = slots_of(stored, ring, sinks) == held
    try:
        length_after_rewind(positions, seen, 0, window, sinks)
        if known.all() and home.all():
            return
    except RewindError:  # something that the next query needs is missing
        pass
    raise ValueError(
        f"positions {positions.tolist()} cannot be those of a ring that has seen "
        f"{seen} tokens; give a state_dict() as it is"
    )
