"""Records what a cache does: which token each slot holds after each step, and what a query sees.

A trace is plain data. Every table and picture of the course is drawn from one, so it shows the
cache that was run, right or wrong, and never the cache that should have been. What is wrong is
noted in the step where it shows.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .trace_data import EMPTY, Step, Trace
from .trace_surface import Watched
from .trace_wrong import Rule, found

__all__ = ["EMPTY", "Step", "Trace", "record"]

Plan = Sequence[tuple[list[int | None], int]]
ASKED = 256  # tokens up to which weights are asked for: one run of the cache for each few of them


def record(
    make_cache: Any, tokens: Any, name: str = "", chunks: Sequence[int] = (), **sizes: Any
) -> Trace:
    """Append tokens to a cache and note what it holds and what is seen after each of them.

    ``make_cache``: a class or a function, called with ``sizes``; or a cache, of which a copy is
    used. It needs ``positions`` (one integer a slot, -1 when empty) and stage 1's ``append(key,
    value, position)``, or the tensor stages' ``append(k, v)`` with ``keys`` (kv_heads, slots,
    head_dim) or (batch, kv_heads, slots, head_dim) to read the sizes from.

    ``tokens``: how many to append, or their texts; for a batch also one such text for each row: a
    shorter one begins later. ``chunks``: how many tokens each step appends at once, the last
    number going on; one by default. A cache that raises is not an error here: the trace ends
    there and ``problem`` says why.
    """
    make = _maker(make_cache, sizes)
    try:
        first = Watched(make())
        name = name or type(first.cache).__name__
        texts = _texts(tokens, first.rows)
        plan = _plan([len(text) for text in texts], chunks)
        rule = _rule(first.cache, sizes)
        rows = [_run(Watched(make(), row=row), texts[row], plan, name) for row in range(first.rows)]
        judged = [_judged(make, row, at, plan, rule) for at, row in enumerate(rows)]
    except Exception as error:
        return Trace(name, (), f"step 0: {type(error).__name__}: {error}")
    page = getattr(first.cache, "page_size", 0)
    page = page if isinstance(page, int) and page > 0 else 0
    return replace(judged[0], rows=tuple(judged[1:]), page=page)


def _texts(tokens: Any, rows: int) -> list[list[str]]:
    """Give each row's tokens as texts."""
    if isinstance(tokens, int):
        tokens = [str(t) for t in range(tokens)]
    if tokens and not isinstance(tokens[0], str):
        if len(tokens) != rows:
            raise ValueError(f"tokens has {len(tokens)} rows, the cache {rows}")
        return [list(row) for row in tokens]
    return [list(tokens)] * rows


def _plan(lengths: Sequence[int], chunks: Sequence[int]) -> list[tuple[list[int | None], int]]:
    """Give for each step where every row's tokens begin, or None, and how many they are."""
    longest, at, sizes = max(lengths, default=0), 0, list(chunks) or [1]
    if min(sizes) < 1 or (len(set(lengths)) > 1 and sizes != [1]):
        raise ValueError(
            "chunks are of 1 token or more; rows of several lengths take one at a time"
        )
    plan: list[tuple[list[int | None], int]] = []
    while at < longest:
        n = min(sizes[min(len(plan), len(sizes) - 1)], longest - at)
        starts = [at - (longest - own) for own in lengths]
        plan.append(([start if start >= 0 else None for start in starts], n))
        at += n
    return plan


def _maker(cache: Any, sizes: dict[str, Any]) -> Callable[[], Any]:
    """Give what makes a fresh, empty cache each time it is called."""
    if isinstance(cache, type) or (callable(cache) and not hasattr(cache, "positions")):
        return lambda: cache(**sizes)
    if sizes:
        raise TypeError(f"sizes are for a class; this {type(cache).__name__} has its own")

    def emptied() -> Any:
        own = copy.deepcopy(cache)
        if Watched(own).given:
            own.reset()
        return own

    return emptied


def _run(cache: Watched, texts: Sequence[str], plan: Plan, name: str) -> Trace:
    """Append all tokens and note what one row's slots hold."""
    steps: list[Step] = []
    problem, before = "", cache.positions()
    for starts, n in plan:
        start = starts[cache.row]
        try:
            cache.append(starts, n)
            if start is None:
                continue
            last = start + n - 1
            step = _step(last, " ".join(texts[start : last + 1]), before, cache)
        except Exception as error:
            problem = f"step {start}: {type(error).__name__}: {error}"
            break
        steps.append(step)
        before = step.slots
    return Trace(name, tuple(steps), problem)


def _rule(cache: Any, sizes: dict[str, Any]) -> Rule:
    """Give what a cache's queries should see, by what it says of itself or was made with."""

    def said(*names: str) -> Any:
        known = [getattr(cache, name) for name in names if hasattr(cache, name)]
        return (known or [sizes[name] for name in names if name in sizes] or ["?"])[0]

    window, sinks = said("window", "window_size"), said("sinks")
    folds = hasattr(cache, "counts") and hasattr(cache, "centres")
    whole = isinstance(window, int) and not isinstance(window, bool)
    return Rule(
        window if whole else None,
        sinks if isinstance(sinks, int) else 0,
        folds,
        known=whole or window is None,
    )


def _step(position: int, text: str, before: tuple[int, ...], cache: Watched) -> Step:
    after = cache.positions()
    padded = before + (EMPTY,) * (len(after) - len(before))
    written = tuple(slot for slot, held in enumerate(after) if held != padded[slot])
    gone = tuple(sorted(set(before) - set(after) - {EMPTY}))
    return Step(
        position, text, after, written, gone, cache.held(), None, cache.summaries(), cache.nbytes()
    )


def _judged(make: Callable[[], Any], trace: Trace, row: int, plan: Plan, rule: Rule) -> Trace:
    """Ask what queries see, and note what is wrong in each step."""
    weights, steps = _weights(make, trace, row, plan), []
    for step, some in zip(trace.steps, weights, strict=True):
        seen = None if some is None else tuple(sorted(some))
        wrong = found(rule, step.position, step.slots, step.held, step.summaries, some)
        steps.append(replace(step, seen=seen, wrong=wrong))
    return replace(trace, steps=tuple(steps), window=rule.window, sinks=rule.sinks)


def _weights(
    make: Callable[[], Any], trace: Trace, row: int, plan: Plan
) -> list[dict[int, float] | None]:
    """Give the weight of every token in every step: one run for each few tokens."""
    n = len(trace.steps)
    last = trace.steps[-1].position + 1 if n else 0
    if last > ASKED:
        return [None] * n
    total: list[dict[int, float] | None] = [{} for _ in range(n)]
    for first in range(0, last, Watched(make()).codes):
        cache, at = Watched(make(), first, row), 0
        for starts, several in plan:
            if at == n:
                break
            cache.append(starts, several)
            if starts[row] is not None:
                some, so_far = cache.weights(), total[at]
                total[at] = None if some is None or so_far is None else so_far | some
                at += 1
    return total
