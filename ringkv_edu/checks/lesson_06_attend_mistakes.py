"""Lesson 06: right and wrong ways to attend to exact keys and to summaries at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .model import answers

Array = npt.NDArray[Any]
Given = tuple[Array, Array, Array, Array, Array, Array]  # as attend_summaries takes them


def attend_summaries(
    q: Array,
    keys: Array,
    values: Array,
    summary_keys: Array,
    summary_values: Array,
    counts: Array,
) -> Array:
    """Attend to exact tokens and to summaries with one softmax; a count of 0 is no summary."""
    return joint((q, keys, values, summary_keys, summary_values, counts))


def log_counts(counts: Array) -> Array:
    """Give log n, and -inf where n is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.asarray(counts, dtype=np.float64)))


def usual(q: Array) -> float:
    return 1 / math.sqrt(len(q))


def right(raw: Array, by: float, counts: Array) -> Array:
    """Give the summaries' scores from unscaled ones."""
    return np.asarray(raw * by + log_counts(counts))


def joint(
    given: Given,
    score: Callable[[Array, float, Array], Array] = right,
    scale: Callable[[Array], float] = usual,
    weights: Callable[[Array, int, Array], Array] | None = None,
    values: Callable[[Array, Array], Array] = lambda values, counts: values,
) -> Array:
    q, keys, exact, summary_keys, means, counts = given
    scores = np.concatenate(
        [keys @ q * scale(q), score(summary_keys @ q, scale(q), np.asarray(counts))]
    )
    shares = softmax(scores) if weights is None else weights(scores, len(keys), counts)
    return np.asarray(shares @ np.concatenate([exact, values(means, counts)]))


def softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def changed(**parts: Any) -> dict[str, Any]:
    return answers(attend_summaries=lambda *given: joint(given, **parts))


def masked(change: Callable[[Array, Array], Array]) -> Callable[[Array, float, Array], Array]:
    """Make a score from scaled scores and counts; empty summaries stay masked."""

    def score(raw: Array, by: float, counts: Array) -> Array:
        full = counts > 0
        out = np.full(len(raw), -np.inf)
        out[full] = change(raw[full] * by, counts[full])
        return out

    return score


def no_maximum(scores: Array, exact: int, counts: Array) -> Array:
    with np.errstate(all="ignore"):
        weights = np.exp(scores)
        return np.asarray(weights / weights.sum())


def weighted_after(scores: Array, exact: int, counts: Array) -> Array:
    """Multiply the weights by the counts once the softmax is taken."""
    plain = scores.copy()
    plain[exact:] -= np.where(counts > 0, log_counts(np.maximum(counts, 1)), 0)
    return np.asarray(softmax(plain) * np.concatenate([np.ones(exact), counts]))


def of_each(scores: Array, exact: int, counts: Array) -> Array:
    """Take two softmaxes, each with half the weight."""
    return halves(scores, exact, counts, 0.5)


def added(scores: Array, exact: int, counts: Array) -> Array:
    return halves(scores, exact, counts, 1.0)


def halves(scores: Array, exact: int, counts: Array, share: float) -> Array:
    if not np.any(counts):
        return np.concatenate([softmax(scores[:exact]), np.zeros(len(counts))])
    return share * np.concatenate([softmax(scores[:exact]), softmax(scores[exact:])])


def counts_as_weights(given: Given) -> Array:
    """Weigh two averages by how many tokens they stand for."""
    exact = len(given[1])
    total = exact + np.sum(given[5])

    def weights(scores: Array, n: int, counts: Array) -> Array:
        both = halves(scores, n, counts, 1.0)
        if np.any(counts):
            both[:n] *= exact / total
            both[n:] *= 1 - exact / total
        return both

    return joint(given, weights=weights)


def in_place(*given: Array) -> Array:
    out = joint(given)  # type: ignore[arg-type]
    given[3][:] = given[3] + 1
    return out


def scale_of_keys(*given: Array) -> Array:
    by = 1 / math.sqrt(len(given[1]) + len(given[3]))
    return joint(given, scale=lambda q: by)  # type: ignore[arg-type]


def weights_alone(*given: Array) -> Array:
    eye = np.eye(len(given[1]) + len(given[3]))
    exact, means = np.split(eye, [len(given[1])])
    return joint((given[0], given[1], exact, given[3], means, given[5]))
