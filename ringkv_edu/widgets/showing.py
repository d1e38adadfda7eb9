"""`show` and `compare`: caches, yours too, run on some tokens and put on the stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..numpy_ring import NumpyRing
from ..numpy_summaries import NumpySummaryRing
from ..pure import NaiveKVBuffer
from ..trace import Trace, record
from .theatre import Theatre

__all__ = ["POLICIES", "compare", "show"]

POLICIES: dict[str, Callable[[int], Any]] = {
    "everything": lambda window: NaiveKVBuffer(),
    "ring": lambda window: NumpyRing(window, 1, 2),
    "ring + sinks": lambda window: NumpyRing(window, 1, 2, sinks=2),
    "ring + summaries": lambda window: NumpySummaryRing(window, 1, 2, summaries=4),
}


def show(
    *caches: Any, tokens: Any = 24, chunks: Sequence[int] = (), step: int | None = None,
    angle: str = "position", predict: str = "off", lang: str = "en", **sizes: Any,
) -> Theatre:  # fmt: skip
    """Show what caches do with ``tokens``, one cache at a time, to be chosen in the figure.

    Each cache is a class or a function, called with ``sizes``; a cache, of which a copy is run; a
    ``Trace``; or the name of one of the course's own, "everything", "ring", "ring + sinks" or
    "ring + summaries", with ``window`` one number or several. ``tokens`` and ``chunks`` are as for
    ``ringkv_edu.record``. ``step`` is where the figure starts (default: the end), ``angle`` what
    turns the keys ("position", or a mistake: "slot", or "rank"), ``predict`` what is asked before
    a step (the "slot" to write, the slots "seen", those at a "wrong" distance, or "off"), ``lang``
    "en" or "zh".
    """
    if not caches:
        raise TypeError("give a cache, a class of caches, a trace, or " + ", ".join(POLICIES))
    traces = [trace for one in caches for trace in _traces(one, tokens, chunks, sizes)]
    return Theatre(traces, step, angle, predict, lang)


def compare(
    a: Any, b: Any, tokens: Any = 24, step: int | None = None, angle: str = "position",
    lang: str = "en", **sizes: Any,
) -> Theatre:  # fmt: skip
    """Show two caches, given as for ``show``, under each other, with one step bar."""
    traces = [next(_traces(one, tokens, (), sizes)) for one in (a, b)]
    return Theatre(traces, step, angle, "off", lang, beside=True)


def _traces(
    cache: Any, tokens: Any, chunks: Sequence[int], sizes: dict[str, Any]
) -> Iterator[Trace]:
    if isinstance(cache, Trace):
        yield cache
    elif not isinstance(cache, str):
        yield record(cache, tokens, chunks=chunks, **sizes)
    elif cache not in POLICIES:
        raise ValueError(f"no cache is called {cache!r}; there are {', '.join(POLICIES)}")
    else:
        windows = sizes.get("window", 8)
        for window in windows if isinstance(windows, Sequence) else [windows]:
            yield record(lambda w=window: POLICIES[cache](w), tokens, cache, chunks)
            if cache == "everything":
                break
