"""The signs that the triage looks for: what a log shows, in words, or None.

Signs that count tokens come before signs that take time: a count is the same on a busy machine.
"""

from __future__ import annotations

import math
from statistics import mean, median

from .log import Log, RunLog, undisturbed

__all__ = [
    "bandwidth",
    "creeps",
    "first_token",
    "half_way",
    "jitters",
    "memory",
    "mismatch",
    "never_evicts",
    "not_on",
    "peaks",
    "quality",
    "too_often",
]

APART = 1e-2  # of the logits' scale: more than half precision rounds
SURPRISE = 0.1  # nats a token
SLOWER = 1.3  # times
GROWN = 1.5
AGAIN = 3.0  # storage in times of what is reported
PEAK = 3.0  # times the largest score so far
ENOUGH = 8
LONG, TIMES = 64, 20  # tokens of a prompt; steps whose time it takes at least


def memory(log: Log) -> str | None:
    """Out of memory: the run stopped at its budget."""
    stop = log.run.event("stop")
    if not stop or "out of memory" not in stop["says"]:
        return None
    head = log.run.head
    share = head["token_bytes"] * log.run.steps[-1]["batch"]
    fits = f"; {head['budget'] // share} tokens fit" if head["budget"] and share else ""
    return f"{stop['says']} after {stop['seen']} tokens, {share} bytes each{fits}"


def mismatch(log: Log) -> str | None:
    """The outputs differ before anything has left."""
    sizes = [size for size in log.run.capacities if size is not None]
    early = [s for s in log.run.steps if s["seen"] <= min(sizes, default=log.run.seen)]
    apart = [s for s in early if (s.get("difference") or 0) > APART]
    if not apart:
        return None
    worst = max(s["difference"] for s in apart)
    return (
        f"after {apart[0]['seen']} tokens, when nothing had left, the logits already differ from "
        f"those of a run that keeps everything, at most by {100 * worst:.0f} % of their scale"
    )


def never_evicts(log: Log) -> str | None:
    """More is held than is said, or storage is kept alive."""
    run, last = log.run, log.run.steps[-1]
    for at in run.bounded:
        size, most = run.capacities[at], max((s["held"][at] or 0) for s in run.steps)
        if size is not None and most > size:
            return f"layer {at} says it keeps {size} tokens and holds {most} of {run.seen}"
    if run.bounded and last.get("reserved", 0) > AGAIN * max(last["bytes"], 1):
        return (
            f"the caches report {last['bytes']} bytes and keep {last['reserved']} bytes of storage "
            f"alive"
        )
    return None


def not_on(log: Log) -> str | None:
    """Nothing has left, since the text is shorter than the window."""
    run = log.run
    sizes = [run.capacities[at] for at in run.bounded]
    if not sizes or any((size or 0) < run.seen for size in sizes):
        return None
    least = min(size for size in sizes if size is not None)
    shows = f"the text has {run.seen} tokens and the smallest cache room for {least}: none has left"
    own, full = run.time(True), log.reference and log.reference.time(True)
    if own and full:
        shows += f"; a token takes {own / full:.2f} times as long as with everything kept"
    return shows


def creeps(log: Log) -> str | None:
    """The alarm for memory has rung."""
    alarm = log.run.event("alarm")
    return alarm["says"] if alarm else None


def too_often(log: Log) -> str | None:
    """Summaries begin more often than blocks are long."""
    run = log.run
    for at, layer in enumerate(run.head["layers"]):
        block = layer.get("block") or layer.get("interval")
        if not block or block < 2:
            continue
        begun, folded, before = 0, 0, 0
        for step in run.decode:
            counts = (step.get("summaries") or [None] * (at + 1))[at] or []
            if sum(counts) > before and step["n"] == 1:
                folded, begun = folded + 1, begun + (counts[-1] == 1)
            before = sum(counts)
        if folded >= 2 * block and begun > 1.5 * folded / block:
            return (
                f"layer {at} began {begun} summaries for {folded} tokens that left; with blocks of "
                f"{block} it would be {math.ceil(folded / block)}"
            )
    return None


def jitters(log: Log) -> str | None:
    """What is held goes up and down like a saw."""
    for at in log.run.bounded:
        held = [s["held"][at] for s in log.run.decode]
        if None in held:
            continue
        falls = [i for i in range(1, len(held)) if held[i - 1] - held[i] > 1]
        if len(falls) > 1:
            i, seen = falls[0], log.run.decode
            return (
                f"layer {at} holds {held[i - 1]} tokens after {seen[i - 1]['seen']} and {held[i]} "
                f"after {seen[i]['seen']}; that happens {len(falls)} times"
            )
    return None


def peaks(log: Log) -> str | None:
    """A score is far above those before, or no number."""
    looks = [(s["seen"], s["inside"]["peaks"]) for s in log.run.decode if "inside" in s]
    seen = [s["seen"] for s in log.run.steps if not _finite(s.get("nll"))]
    seen += [at for at, peaks in looks if not all(_finite(peak) for peak in peaks)]
    if seen:
        return f"after {min(seen)} tokens a score or a prediction is no finite number"
    tops = [(at, max((p for p in peaks if p is not None), default=None)) for at, peaks in looks]
    tops = [(at, top) for at, top in tops if top is not None]
    for i in range(3, len(tops)):
        before = median(abs(top or 0.0) for _, top in tops[:i])
        at, top = tops[i]
        if top is not None and top > PEAK * max(before, 1e-6):
            return f"after {at} tokens the largest score is {top:.1f}; before it was {before:.1f}"
    return None


def _finite(x: float | None) -> bool:
    return x is None or math.isfinite(x)


def quality(log: Log) -> str | None:
    """Surprise has risen since tokens have left, and had not before."""
    if log.reference is None:
        return None
    sizes = [size for size in log.run.capacities if size is not None]
    full = min(sizes, default=0)
    base = {s["seen"]: s["nll"] for s in log.reference.steps}
    more = [(s["seen"], s["nll"] - base[s["seen"]]) for s in log.run.steps if s["seen"] in base]
    late = [x for seen, x in more if seen > full]
    if len(late) < ENOUGH or mean(late) <= SURPRISE:
        return None
    early = [x for seen, x in more if seen <= full]
    before = f"{round(mean(early), 2) + 0.0:.2f} before" if early else "nothing is known of before"
    sinks = {layer.get("sinks", 0) for layer in log.run.head["layers"]}
    first = "; the first tokens are not kept" if sinks == {0} else ""
    return (
        f"since the cache was full, at token {full}, surprise is {mean(late):.2f} nats a token "
        f"above that of a run that keeps everything ({before}){first}"
    )


def first_token(log: Log) -> str | None:
    """Prefill takes most of the time."""
    prefill = sum(s["seconds"] for s in log.run.steps if s["kind"] == "prefill")
    timed = log.run.timed
    tokens = sum(s["n"] for s in log.run.steps if s["kind"] == "prefill")
    if len(timed) < ENOUGH or tokens < LONG:
        return None
    step = undisturbed(timed)
    if prefill < max(len(timed), TIMES) * step:
        return None
    share = prefill / (prefill + len(timed) * step)
    return (
        f"the first token took {100 * share:.0f} % of the time: {tokens} tokens of prompt went in "
        f"before it, {prefill / step:.0f} times the time of a later one"
    )


def half_way(log: Log) -> str | None:
    """Steps take longer since rows have joined."""
    steps = log.run.timed
    for i in range(ENOUGH, len(steps) - ENOUGH):
        rows, before = steps[i]["batch"], steps[i - 1]["batch"]
        if rows <= before:
            continue
        old, new = undisturbed(steps[:i]), undisturbed(steps[i:])
        if new > SLOWER * old:
            times, each = new / old, new / old / rows * before
            return (
                f"after {steps[i - 1]['seen']} tokens rows went from {before} to {rows}; a step "
                f"takes {times:.1f} times as long, {each:.2f} times for each row"
            )
    return None


def bandwidth(log: Log) -> str | None:
    """Steps take longer as the caches grow."""
    run = log.run
    early, late = run.time(False), run.time(True)
    if early is None or late is None or len({s["batch"] for s in run.steps}) > 1:
        return None
    grown = _quarter_bytes(run, True) / max(_quarter_bytes(run, False), 1)
    if late < SLOWER * early or grown < GROWN:
        return None
    budget = run.head["budget"]
    used = run.steps[-1]["bytes"] / budget if budget else None
    free = "" if used is None else f"; {100 * (1 - used):.0f} % of the budget is free"
    return (
        f"a step takes {late / early:.1f} times as long in the last quarter as in the first, and "
        f"the caches have {grown:.1f} times the bytes{free}"
    )


def _quarter_bytes(run: RunLog, late: bool) -> float:
    timed = run.timed
    some = timed[-(len(timed) // 4) :] if late else timed[: len(timed) // 4]
    return float(median(s["bytes"] for s in some))
