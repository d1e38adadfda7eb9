"""The rules of the triage: what in a log is a sign of what, and why.

A rule reads the log and gives what it shows, or None. Signs that count tokens come before signs
that take time: a count is the same on a busy machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

from .log import Log, RunLog

__all__ = ["RULES", "Rule"]

APART = 1e-2  # of the logits' scale: more than half precision rounds
SURPRISE = 0.1  # nats a token
SLOWER = 1.3  # times
GROWN = 1.5
AGAIN = 3.0  # storage in times of what is reported
PEAK = 3.0  # times the largest score so far
ENOUGH = 8


@dataclass(frozen=True)
class Rule:
    """A sign of trouble. Where one of ``follows_from`` was found, this one is its consequence."""

    trouble: str
    source: str
    finds: Callable[[Log], str | None]
    reason: str
    advice: str
    follows_from: tuple[str, ...] = ()


def _memory(log: Log) -> str | None:
    stop = log.run.event("stop")
    if not stop or "out of memory" not in stop["says"]:
        return None
    head = log.run.head
    share = head["token_bytes"] * log.run.steps[-1]["batch"]
    fits = f"; {head['budget'] // share} tokens fit" if head["budget"] and share else ""
    return f"{stop['says']} after {stop['seen']} tokens, {share} bytes each{fits}"


def _mismatch(log: Log) -> str | None:
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


def _never_evicts(log: Log) -> str | None:
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


def _not_on(log: Log) -> str | None:
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


def _creeps(log: Log) -> str | None:
    alarm = log.run.event("alarm")
    return alarm["says"] if alarm else None


def _too_often(log: Log) -> str | None:
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


def _jitters(log: Log) -> str | None:
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


def _peaks(log: Log) -> str | None:
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


def _quality(log: Log) -> str | None:
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


def _first_token(log: Log) -> str | None:
    prefill = sum(s["seconds"] for s in log.run.steps if s["kind"] == "prefill")
    timed = [s["seconds"] for s in log.run.timed]
    tokens = sum(s["n"] for s in log.run.steps if s["kind"] == "prefill")
    if len(timed) < ENOUGH or prefill < max(sum(timed), 20 * median(timed)):
        return None
    share = prefill / (prefill + sum(timed))
    return (
        f"the first token took {100 * share:.0f} % of the time: {tokens} tokens of prompt went in "
        f"before it, {prefill / median(timed):.0f} times the work of a later one"
    )


def _half_way(log: Log) -> str | None:
    steps = log.run.timed
    for i in range(ENOUGH, len(steps) - ENOUGH):
        rows, before = steps[i]["batch"], steps[i - 1]["batch"]
        if rows <= before:
            continue
        old = median(s["seconds"] for s in steps[:i])
        new = median(s["seconds"] for s in steps[i:])
        if new > SLOWER * old:
            return (
                f"after {steps[i - 1]['seen']} tokens rows went from {before} to {rows}; a step "
                f"takes {new / old:.1f} times as long, {new / old / rows * before:.2f} times for each row"
            )
    return None


def _bandwidth(log: Log) -> str | None:
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


NO_EVICTION = ("no speed-up", "memory does not fall", "out of memory")
RULES = (
    Rule(
        "out of memory", "S22", _memory,
        "Capacity: what is kept grows with every token and row, until the budget is reached.",
        "Keep a window; or fewer rows, fewer key/value heads, fewer bits a number.",
    ),
    Rule(
        "no speed-up", "S40, D10", _not_on,
        "A step reads what is held. While nothing has left, a window reads as much as a cache that "
        "keeps everything: the window is not on.",
        "First prove that eviction happens: decode a text longer than the window, or make the "
        "window smaller.",
    ),
    Rule(
        "memory does not fall", "S40", _never_evicts,
        "Memory is what storage is kept alive, not what a mask lets a query see: a mask evicts "
        "nothing, and a view of the last tokens keeps the whole buffer.",
        "Look at what is stored: the slots must be as many as sinks and window, made once and "
        "written again.",
    ),
    Rule(
        "framework mismatch", "S40", _mismatch,
        "Before anything has left, every policy is the full cache, so the window cannot be the "
        "cause: cache and framework disagree on who turns keys, on positions, on the order of "
        "slots that a mask assumes, on grouped heads or on the dtype.",
        "Compare one layer's output for one token with plain attention, then for two; `ringkv "
        "cases` asks a cache for the known disagreements.",
    ),
    Rule(
        "memory creeps", "S38, D4", _creeps,
        "Something besides the window is kept for each token or block: a list that nobody cuts.",
        "Give what is kept a fixed number of slots; when they are full, merge two.",
        follows_from=NO_EVICTION,
    ),
    Rule(
        "summaries too often", "S40, D2", _too_often,
        "A trigger on the window's length fires at every token once the window is full, because "
        "its length no longer changes. Blocks of one token summarise nothing and merge early.",
        "Count the tokens that have left, and close a block when it has as many as it should.",
    ),
    Rule(
        "output jitters", "S40", _jitters,
        "Several tokens leave at once, so what neighbouring queries see differs by many tokens and "
        "the output changes with the cut, not with the text.",
        "Let one token leave for each that comes: a ring does nothing else.",
    ),
    Rule(
        "score peaks", "S13, S45", _peaks,
        "A score far above all others takes the whole softmax: a key or a scale is damaged, or a "
        "number has overflowed.",
        "Look at the keys' largest magnitude in the log, layer by layer, where the peak begins.",
        follows_from=("framework mismatch",),
    ),
    Rule(
        "quality drops", "S40, S23", _quality,
        "What has left is missing. A model trained without a window leans on the first tokens, "
        "whatever they say; and a fact that has left cannot be found again.",
        "Keep the first four tokens as sinks; then a larger window; then summaries the model was "
        "trained with. Fall back to the full cache meanwhile.",
        follows_from=(
            "framework mismatch", "summaries too often", "output jitters", "memory creeps",
            "score peaks",
        ),
    ),
    Rule(
        "slow first token", "S22", _first_token,
        "Prefill computes: every token of the prompt goes through every layer, and scores grow "
        "with the square of its length. A decode cache does not change that.",
        "A shorter prompt, a shared prefix that is computed once, or more arithmetic a second.",
    ),
    Rule(
        "slows half way", "S22", _half_way,
        "More rows share each step: a step takes longer, though a row's share of it is less. "
        "Fragmented storage looks the same without new rows.",
        "Set how many rows may run by the time that a step may take.",
    ),
    Rule(
        "slow while memory is free", "S22, S16", _bandwidth,
        "Bandwidth: a decoded token reads all that is kept, so its time grows with the cache long "
        "before the memory is full.",
        "Keep less: a window, fewer key/value heads, fewer bits. More memory does not help.",
        follows_from=(*NO_EVICTION, "memory creeps"),
    ),
)  # fmt: skip
