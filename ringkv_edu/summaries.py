"""Stage 4: what leaves the window is folded into a fixed number of summaries.

**The law.** What a query sees exactly (its window and the sinks) and the members of the summaries
it sees are together all positions up to its own, each once: no token twice, no hole. A token is
folded in the moment it leaves the window; the block that is being filled is a summary already, one
that still grows. When every summary is taken, two neighbours merge, so the memory never grows.

A summary is the mean of its keys and the mean of its values. In a softmax the mean of n tokens has
the weight of one, so ``log n`` is added to its score, after scaling: exact when the n scores are
equal, too little otherwise, since the mean of exponentials is more than the exponential of the
mean (Jensen's inequality).

A worked example: window 4, no sinks, blocks of 2, 3 summaries, the oldest merge::

    query at    sees exactly    summaries (members)
    4           1 2 3 4         0
    5           2 3 4 5         0-1
    9           6 7 8 9         0-1   2-3   4-5
    10          7 8 9 10        0-3   4-5   6
    12          9 ... 12        0-5   6-7   8

Since only neighbours merge, members are always consecutive, and which tokens a summary has follows
from whole numbers alone. This module knows those numbers; it never reads a cache.

Source: articles C and D (S24, S33, S34; what they print is D2 to D4 and D6); a running mean of
blocks as in the Compressive Transformer (arXiv 1911.05507).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .inputs import count
from .rope import rotate

__all__ = [
    "Fold", "Merge", "Plan", "check_counts", "fold", "folded", "oracle_summaries", "plan", "spans",
]  # fmt: skip

Merge = Literal["oldest", "least"]
MERGES = ("oldest", "least")
Counts = tuple[int, ...]  # how many tokens each summary has, oldest first


class Fold(NamedTuple):
    """How tokens are folded: ``slots`` summaries of ``block`` tokens; which two ``merge``.

    ``oldest``: the two oldest, so that one summary takes all that is very old. ``least``: the
    neighbours that have fewest tokens together, so that no summary is very coarse.
    """

    slots: int
    block: int
    merge: Merge = "oldest"

    def checked(self) -> Fold:
        """Give these sizes as whole numbers; raises ``ValueError`` for what cannot be."""
        if self.merge not in MERGES:
            raise ValueError(f"merge is {self.merge!r}; give one of {', '.join(MERGES)}")
        return Fold(count("summaries", self.slots, 1), count("block", self.block, 1), self.merge)


def fold(counts: Counts, how: Fold) -> tuple[Counts, int | None]:
    """Fold one token more: give the new counts, and which summary merged with the next, if one did.

    The last summary grows until it has a block. Then a new one begins, for which two may have to
    merge first. A single summary takes everything.
    """
    if counts and (counts[-1] < how.block or how.slots == 1):
        return (*counts[:-1], counts[-1] + 1), None
    if len(counts) < how.slots:
        return (*counts, 1), None
    pairs = [a + b for a, b in itertools.pairwise(counts)]
    at = 0 if how.merge == "oldest" else pairs.index(min(pairs))
    return (*counts[:at], pairs[at], *counts[at + 2 :], 1), at


def folded(length: int, window: int, sinks: int) -> int:
    """Say how many tokens of a text have left a window that ends with its last token."""
    return max(0, length - window - sinks)


def spans(counts: Counts, sinks: int) -> list[range]:
    """Give the positions that each summary stands for, oldest first."""
    edges = [sinks, *(sinks + sum(counts[: i + 1]) for i in range(len(counts)))]
    return [range(a, b) for a, b in itertools.pairwise(edges)]


def check_counts(given: Iterable[int], how: Fold, least: int, most: int) -> Counts:
    """Give stored counts (slots,), 0 for none, as a tuple.

    Raises ``ValueError`` for what no folding gives: from ``least`` to ``most`` tokens must have
    been folded.
    """
    try:
        listed = [count("counts", n, 0) for n in given]
    except TypeError as error:
        raise TypeError(f"counts are {given!r}; give a state_dict() as it is ({error})") from None
    counts = tuple(n for n in listed if n)
    wanted: Counts = ()
    for _ in range(min(sum(counts), most)):
        wanted, _ = fold(wanted, how)
    if counts != wanted or len(listed) != how.slots or sum(counts) < least:
        raise ValueError(
            f"counts are {listed}; {how.slots} summaries of blocks of {how.block} never hold that "
            f"once {least} tokens have left. Give a state_dict() as it is"
        )
    return counts


class Plan(NamedTuple):
    """Which means some queries see, as whole numbers: made once, used by every layer.

    ``sources`` are what there is to take means of: the summaries as they were, then the tokens
    that are folded by and by, one each. Every mean is over neighbours among them.
    """

    parts: npt.NDArray[np.bool_]  # (means, sources): which sources a mean is made of
    weights: npt.NDArray[np.float64]  # (means, sources): each source's share of the tokens
    counts: npt.NDArray[np.int64]  # (means,): how many tokens a mean stands for
    starts: npt.NDArray[np.int64]  # (means,): the first of them, counted from the sinks
    seen: npt.NDArray[np.bool_]  # (queries, means): which query sees which mean
    kept: npt.NDArray[np.int64]  # the means that are the summaries afterwards
    after: Counts  # and their counts


@lru_cache(maxsize=4096)
def plan(before: Counts, how: Fold, first: int, queries: int, keep: int) -> Plan:
    """Plan the means for queries that follow each other, from the summaries ``before``.

    The first query sees ``first`` more tokens folded, each later one a token more (less than 0
    counts as 0). Afterwards ``keep`` of these tokens are in the summaries for good: fewer than the
    last query sees, when the ring has slack.
    """
    moments = [max(0, first + i) for i in range(queries)]
    tokens = max([keep, *moments])
    found: dict[tuple[int, int], int] = {}
    now = list(before)
    edges = [*range(len(before)), len(before)]  # summary s is made of sources edges[s] to [s + 1]
    alive = []
    for moment in range(tokens + 1):
        if moment:
            counts, at = fold(tuple(now), how)
            grown = len(counts) == len(now) and at is None
            if at is not None:
                del edges[at + 1]
            if grown:
                edges[-1] += 1
            else:
                edges.append(edges[-1] + 1)
            now = list(counts)
        ends = itertools.pairwise(edges)
        alive.append([found.setdefault(end, len(found)) for end in ends])
        if moment == keep:
            after = tuple(now)
    return _tables(before, found, [alive[m] for m in moments], alive[keep], after)


def _tables(
    before: Counts,
    found: dict[tuple[int, int], int],
    alive: list[list[int]],
    kept: list[int],
    after: Counts,
) -> Plan:
    """Give a plan as arrays; means that nobody needs are left out."""
    needed = sorted({mean for some in (*alive, kept) for mean in some})
    names = {mean: row for row, mean in enumerate(needed)}
    ends = [list(found)[mean] for mean in needed]
    width = max((b for _, b in found), default=0)
    sizes = np.ones(max(width, len(before)), np.int64)
    sizes[: len(before)] = before
    parts = np.zeros((len(ends), len(sizes)), bool)
    for row, (a, b) in enumerate(ends):
        parts[row, a:b] = True
    shares = parts * sizes
    counts = shares.sum(axis=1)
    seen = np.zeros((len(alive), len(ends)), bool)
    for query, means in enumerate(alive):
        seen[query, [names[mean] for mean in means]] = True
    starts = np.array([sizes[:a].sum() for a, _ in ends], np.int64)
    weights = shares / np.maximum(counts, 1)[:, None]
    chosen = np.array([names[mean] for mean in kept], np.int64)
    return Plan(parts, weights, counts, starts, seen, chosen, after)


def oracle_summaries(
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    v: npt.ArrayLike,
    window: int,
    how: Fold,
    sinks: int = 0,
    scale: float | None = None,
    base: float | None = None,
    first: int = 0,
) -> npt.NDArray[np.float64]:
    """Attention over window, sinks and summaries from the whole history, in float64.

    Slow and obvious: the members of every summary are listed, and their means taken, anew for each
    query. ``q`` (heads, n, head_dim), ``k`` and ``v`` (kv_heads, n, head_dim); the result has the
    shape of ``q``, or its rows from token ``first`` on. With a ``base`` the keys are turned back
    from their positions, averaged, and turned to the centre of their block.
    """
    query, key, value = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    heads, n, head_dim = query.shape
    group = heads // key.shape[0]
    flat = key if base is None else rotate(key, -np.arange(n), base)
    out = np.zeros((heads, n, head_dim))
    by = head_dim**-0.5 if scale is None else scale
    members: list[list[int]] = []
    for t in range(n):
        if t - window >= sinks:
            _take(members, t - window, how)
        exact = [p for p in range(t + 1) if t - p < window or p < sinks]
        means = [flat[:, some].mean(axis=1, keepdims=True) for some in members]
        if base is not None:
            means = [
                rotate(m, [np.mean(some)], base) for m, some in zip(means, members, strict=False)
            ]
        keys = np.concatenate([key[:, exact], *means], axis=1)
        values = [value[:, some].mean(axis=1, keepdims=True) for some in members]
        rows = np.concatenate([value[:, exact], *values], axis=1)
        extra = np.log([1] * len(exact) + [len(some) for some in members])
        for head in range(heads) if t >= first else ():
            scores = keys[head // group] @ query[head, t] * by + extra
            weights = np.exp(scores - scores.max())
            out[head, t] = weights @ rows[head // group] / weights.sum()
    return out[:, first:]


def _take(members: list[list[int]], position: int, how: Fold) -> None:
    """Fold a position, with the members spelled out: the rule of ``fold`` a second time."""
    if members and (len(members[-1]) < how.block or how.slots == 1):
        members[-1].append(position)
        return
    if len(members) == how.slots:
        totals = [len(a) + len(b) for a, b in itertools.pairwise(members)]
        at = totals.index(min(totals)) if how.merge == "least" else 0
        members[at] += members.pop(at + 1)
    members.append([position])
