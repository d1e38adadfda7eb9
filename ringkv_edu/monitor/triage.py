"""From a recorded log to what is wrong, each finding with its reason.

First it is proved that eviction happens at all: a window that evicts nothing can neither save
memory nor time, and nothing else needs an explanation then. After that, causes come before what
they cause: a finding that follows from another one is not given.

Source: S22, S40, D10; the rules are in ``rules.py``, what they look for in ``signs.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import NamedTuple

from .log import Log
from .rules import RULES, Rule

__all__ = ["Diagnosis", "diagnose", "eviction", "lines", "speed"]

WIDTH = 96


class Diagnosis(NamedTuple):
    """One finding: the trouble, what the log shows, why that is so, and what to do."""

    trouble: str
    shows: str
    reason: str
    advice: str
    source: str


def diagnose(log: Log) -> list[Diagnosis]:
    """Give what is wrong with a recorded run; nothing for a run that is well."""
    found: dict[str, tuple[Rule, str]] = {}
    for rule in RULES:
        if found.keys() & set(rule.follows_from):
            continue
        shows = rule.finds(log)
        if shows:
            found[rule.trouble] = rule, shows
    return [
        Diagnosis(rule.trouble, shows, rule.reason, rule.advice, rule.source)
        for rule, shows in found.values()
    ]


def eviction(log: Log) -> str:
    """Say whether anything has left the caches, and how that is known."""
    run = log.run
    if not run.bounded:
        return "no layer says that it evicts: everything is kept"
    at = run.bounded[0]
    size, held = run.capacities[at], run.steps[-1]["held"][at]
    if held is None:
        return f"layer {at} does not tell what it holds; look at its bytes"
    if run.seen <= (size or 0):
        return f"nothing has left yet: layer {at} keeps {size}, and the text has {run.seen} tokens"
    if held > (size or 0):
        return f"nothing leaves: layer {at} should keep {size} and holds {held} of {run.seen}"
    first = next(s["seen"] for s in run.steps if s["held"][at] < s["seen"])
    return f"it happens: layer {at} holds {held} of {run.seen} tokens; after {first} one was gone"


def speed(log: Log) -> str | None:
    """Say how long a late token takes beside one with everything kept, and what there is to save.

    A window can save no more than the cache's share of what a step reads; the rest are weights.
    """
    own, full = log.run.time(True), log.reference and log.reference.time(True)
    if not own or not full or log.reference is None:
        return None
    cache, weights = log.reference.steps[-1]["bytes"], log.run.head["weight_bytes"]
    return (
        f"a late token takes {own / full:.2f} times as long as with everything kept, where the "
        f"cache is {100 * cache / (cache + weights):.0f} % of what a step reads"
    )


def lines(log: Log) -> Iterator[str]:
    """Give a report: the proof of eviction, then each finding."""
    run = log.run
    yield f"{log.path}: {run.head['name']}, {run.seen} tokens"
    yield from wrap(f"eviction: {eviction(log)}", WIDTH, subsequent_indent="  ")
    if (compared := speed(log)) is not None:
        yield from wrap(f"speed: {compared}", WIDTH, subsequent_indent="  ")
    found = diagnose(log)
    for one in found:
        yield ""
        yield f"{one.trouble} ({one.source})"
        for label, text in (("shows", one.shows), ("why", one.reason), ("do", one.advice)):
            first, *rest = wrap(text, WIDTH - 8)
            yield f"  {label:<6}{first}"
            yield from (f"        {line}" for line in rest)
    if not found:
        every = ", ".join(rule.trouble for rule in RULES)
        yield from wrap(f"nothing wrong was found; looked for: {every}", WIDTH)
