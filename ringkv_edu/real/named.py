"""Policies by the names that the commands take."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import policies
from ..policies import Full, Policy, Pooled, Sinks, Window
from ..problem import Problem

__all__ = ["NAMES", "Row", "policy_named", "table_rows"]

NAMES = ("full", "window", "sinks", "sinks-cache", "pooled", "scored")
SUMMARIES, BLOCK = 32, 16


class Row(NamedTuple):
    """One line of a table: a short name for options, words for people, the policy."""

    key: str
    label: str
    policy: Policy


def policy_named(name: str, window: int, sinks: int) -> Policy:
    """Give a policy by name; ``scored`` and ``pooled`` get what ``window`` and ``sinks`` take.

    ``pooled`` keeps 32 summaries of 16 tokens within the window's places, ``scored`` half of the
    places for the newest tokens. Raises ``Problem`` for sizes that cannot be.
    """
    least = SUMMARIES + 1 if name == "pooled" else 2 if name == "scored" else 1
    if window < least:
        raise Problem(f"--window is {window}; give {least} or more for the policy {name}")
    if sinks < 0:
        raise Problem(f"--sinks is {sinks}; give 0 or more")
    if name == "full":
        return Full()
    if name == "window":
        return Window(window)
    if name in ("sinks", "sinks-cache"):
        return Sinks(window, sinks, "absolute" if name == "sinks" else "cache")
    if name == "pooled":
        return Pooled(window - SUMMARIES, sinks, SUMMARIES, BLOCK)
    scored = _scored()
    if name != "scored" or scored is None:
        raise Problem(f"there is no policy {name!r}; give one of {', '.join(NAMES)}")
    made: Policy = scored(window + sinks, window // 2, sinks)
    return made


def table_rows(places: int = 256, sinks: int = 4) -> list[Row]:
    """Give the rows of the perplexity table: everything, and what ``places`` places can keep.

    Raises ``Problem`` when the places do not hold the sinks and the summaries.
    """
    window, small = places - sinks, places - sinks - SUMMARIES
    if small < 1 or sinks < 1:
        raise Problem(
            f"--window is {places} and --sinks {sinks}; the table needs at least one sink and "
            f"{SUMMARIES} summaries beside it: give a --window of {max(sinks, 1) + SUMMARIES + 1} "
            f"or more"
        )
    kept, means = f"{window}+{sinks} sinks", f"{small}+{sinks} sinks"
    both = f"{means}+{SUMMARIES} summaries"
    rows = [
        Row("full", "full", Full()),
        Row("window", f"window {places}", Window(places)),
        Row("sinks", f"{kept}, true distances", Sinks(window, sinks)),
        Row("sinks-cache", f"{kept}, distances in the cache", Sinks(window, sinks, "cache")),
        Row("sinks-small", means, Sinks(small, sinks)),
        Row("pooled", f"{both}, as rotated", Pooled(small, sinks, SUMMARIES, BLOCK)),
        Row(
            "pooled-centre",
            f"{both}, at the centre",
            Pooled(small, sinks, SUMMARIES, BLOCK, pool="centre"),
        ),
    ]
    if (scored := _scored()) is not None:
        half = places // 2
        label = f"scored {places}, {half} of them newest"
        rows.append(Row("scored", label, scored(places, half)))
    return rows


def _scored() -> Any:
    return getattr(policies, "Scored", None)
