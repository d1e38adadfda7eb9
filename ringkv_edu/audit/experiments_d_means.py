"""What settles D6: the softmax mass of a mean, with log n and without, by the package's own ring.

Values are 1 for what the summary stands for and 0 for the window, so an output is the mass.
"""

from __future__ import annotations

import numpy as np

from ..numpy_summaries import NumpySummaryRing
from ..rope import rotate
from ..visibility import oracle_attention
from .row import Facts
from .small import Array, attention, normal

N, D, DRAWS, BASE = 16, 8, 100, 10000.0


def masses(q: Array, k: Array, base: float | None = None) -> tuple[float, float]:
    """Give the mass of the 16 oldest of 32 tokens for the last one's query: as they are, as a mean.

    ``q`` (1, 1, d), ``k`` (1, 32, d), turned already if ``base`` says by what.
    """
    v = np.zeros_like(k)
    v[:, :N] = 1
    queries = np.repeat(q, 2 * N, axis=1)
    exact = oracle_attention(queries, k, v, 2 * N, first=2 * N - 1)[0, 0, 0]
    ring = NumpySummaryRing(N, 1, D, summaries=1, block=N, dtype=np.float64, base=base)
    ring.append(k[:, :-1], v[:, :-1])
    pooled = ring.step(q, k[:, -1:], v[:, -1:])[0, 0, 0]
    return float(exact), float(pooled)


def weight_of_a_mean() -> Facts:
    """D6: equal scores, drawn scores, nearly equal scores, and keys turned to positions."""
    flat = np.zeros((1, 2 * N, D))
    query = normal(1, 1, 1, D)
    exact, pooled = masses(query, flat)
    with_mean = np.concatenate([flat[0, :N].mean(axis=0, keepdims=True), flat[0, N:]])
    alone = attention(query[0], with_mean, np.eye(N + 1))[0, 0]
    plain = [masses(q, k) for q, k in _drawn()]
    where = np.arange(2 * N)
    turned = [(rotate(q, 2 * N - 1), rotate(k, where)) for q, k in _drawn()]
    mixed = [masses(q, k) for q, k in turned]
    centred = [masses(q, k, BASE) for q, k in turned]
    return {
        "share of 16 tokens, %": 100 * exact,
        "share of their mean with log 16, %": 100 * pooled,
        "share of their mean alone, %": 100 * float(alone),
        "draws": len(plain),
        "draws above the true share, keys as they are": _over(plain),
        "draws above the true share, mean of turned keys": _over(mixed),
        "draws above the true share, turned at the centre": _over(centred),
        "what is missing, over half the scores' variance": _missing_over_variance(),
    }


def _drawn() -> list[tuple[Array, Array]]:
    """Give seeded queries and keys; each time all the same ones."""
    drawn = normal(6, DRAWS, 1, 2 * N + 1, D)
    return [(one[:, :1], one[:, 1:]) for one in drawn]


def _odds(share: float) -> float:
    return share / (1 - share)


def _over(pairs: list[tuple[float, float]]) -> int:
    return sum(pooled > exact * (1 + 1e-9) for exact, pooled in pairs)


def _missing_over_variance() -> float:
    """Compare the log of what is missing with half the variance, for scores close together."""
    q, k = _drawn()[0]
    k = 0.001 * k
    exact, pooled = masses(q, k)
    scores = (k @ q[0, 0])[0, :N] * D**-0.5
    return float(np.log(_odds(exact) / _odds(pooled)) / (scores.var() / 2))
