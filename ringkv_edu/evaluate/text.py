"""The comparison as a table, at most 120 columns wide."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from ..bench.measure import table

__all__ = ["of_report", "of_size"]

Found = dict[str, Any]
WIDTH = 100
QUALITY = (
    "perplexity over the whole text and over its second half; same choice: share of tokens at "
    "which the likeliest next token is the first row's; sinks, window, summaries: where the "
    "attention of the text's last queries goes (sinks: to the first {first} tokens, kept as "
    "sinks or not; window: to every other token that is held exactly)."
)
TASK = (
    "cache: bytes for one text. right answers: the likeliest of all tokens. log p: mean of the "
    "answers' log probabilities. The last columns: where the attention of the queries goes, "
    "from the first question on."
)
SPEED = (
    "TTFT, time to the first token: caches are made and {chunk} tokens at a time go in. TPOT, time "
    "per further token. Least and median, in milliseconds; all take turns in a shuffled order, "
    "and a first round is not counted."
)


def of_report(found: Found) -> Iterator[str]:
    """Give the lines of what ``evaluate`` found."""
    rows, options = found["rows"], found["options"]
    if "perplexity" in rows[0]:
        yield f"{options['tokens']} tokens of text"
        yield from table(_QUALITY_HEAD, [_quality(row) for row in rows])
        yield from wrap(QUALITY.format(**options), WIDTH)
    if "tasks" in rows[0]:
        for name in rows[0]["tasks"]:
            yield ""
            yield from _task(name, rows)
    if "speed" in rows[0]:
        machine = found["environment"]
        for at, one in enumerate(rows[0]["speed"]):
            yield ""
            yield (
                f"after {one['prompt']} tokens, {_many(one['batch'], 'row')}: {machine['cpu']}, "
                f"{_many(machine['threads'], 'thread')}"
            )
            yield from table(_SPEED_HEAD, [_speed(row["name"], row["speed"][at]) for row in rows])
        yield from wrap(SPEED.format(**options), WIDTH)


_QUALITY_HEAD = [
    "", "cache", "perplexity", "2nd half", "same choice", "sinks", "window", "summaries",
]  # fmt: skip
_SPEED_HEAD = ["", "TTFT", "median", "TPOT", "median", "tokens/s", "cache at most"]


def _quality(row: Found) -> list[str]:
    return [
        row["name"],
        of_size(row["cache_bytes"]),
        f"{row['perplexity']:.2f}",
        f"{row['perplexity_second_half']:.2f}",
        f"{100 * row['agreement']:.1f} %",
        *_shares(row["mass"]),
    ]


def _shares(mass: Found | None) -> list[str]:
    return ["-"] * 3 if mass is None else [f"{100 * mass[k]:.0f} %" for k in _MASS]


_MASS = ("sinks", "window", "summaries")


def _task(name: str, rows: list[Found]) -> Iterator[str]:
    first = rows[0]["tasks"][name]
    head = ["", "cache", "right answers", "log p", *_MASS]
    body = []
    for row in rows:
        one = row["tasks"][name]
        size, right = of_size(one["cache_bytes"] // one["rows"]), f"{100 * one['accuracy']:.1f} %"
        logs = f"{one['mean_log_probability']:.2f}"
        body.append([row["name"], size, right, logs, *_shares(one["mass"])])
    yield (
        f"{name}: {first['asked']} answers in {first['rows']} texts; "
        f"guessing gets {100 * first['chance']:.1f} %"
    )
    yield from table(head, body)
    yield from wrap(TASK, WIDTH)


def _speed(name: str, one: Found) -> list[str]:
    keys = ("ttft_least_s", "ttft_median_s", "tpot_least_s", "tpot_median_s")
    times = [f"{1e3 * one[key]:.2f}" for key in keys]
    return [name, *times, f"{one['tokens_per_s']:.0f}", of_size(one["peak_bytes"])]


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def of_size(n: int) -> str:
    """Write bytes in the unit that suits them."""
    if n < 1024:
        return f"{n} B"
    kib = n / 1024
    return f"{kib:.1f} KiB" if kib < 1024 else f"{kib / 1024:.2f} MiB"
