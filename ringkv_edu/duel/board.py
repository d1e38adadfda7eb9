"""The leaderboard of the duel: recall first, then what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from .play import Play

__all__ = ["as_data", "lines"]

HEAD = (
    f"{'':3}{'policy':26}{'recall':>8}{'KiB':>7}{'per KiB':>9}{'error':>8}{'read back':>11}"
    f"{'us/token':>10}"
)
Board = Mapping[str, Play | str]


def lines(budget: int, board: Board, bound: Play) -> Iterator[str]:
    """Give the table of one budget, the best recall first; those that did not finish at its end.

    ``bound`` is what keeping everything reaches. Read back: KiB from the archive a question.
    """
    everything = f"keeping everything ({bound.peak / 1024:.0f} KiB): recall {bound.recall:.3f}"
    yield f"{budget / 1024:g} KiB; {everything}"
    yield HEAD
    done = {name: one for name, one in board.items() if isinstance(one, Play)}
    ranked = sorted(done.items(), key=lambda item: (-item[1].recall, item[1].moved, item[1].error))
    for place, (name, one) in enumerate(ranked, 1):
        moved = one.moved / one.questions / 1024
        yield (
            f"{place:<3}{name[:25]:26}{one.recall:8.3f}{one.peak / 1024:7.2f}"
            f"{one.recall_per_kib:9.3f}{one.error:8.3f}{moved:11.1f}"
            f"{one.seconds / one.tokens * 1e6:10.0f}"
        )
    for name, why in board.items():
        if isinstance(why, str):
            yield f"-  {name[:25]:26}{why}"


def as_data(budget: int, board: Board) -> dict[str, Any]:
    """Give a table as plain data: bytes, shares, seconds."""
    rows = {
        name: {"problem": one}
        if isinstance(one, str)
        else asdict(one) | {"recall": one.recall, "recall_per_kib": one.recall_per_kib}
        for name, one in board.items()
    }
    return {"budget_bytes": budget, "policies": rows}
