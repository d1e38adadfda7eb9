"""What settles the rows of article C that are about positions: rotation, its base, reuse."""

from __future__ import annotations

import numpy as np

from ..numpy_ring import NumpyRing
from ..rope import article_base, frequencies, ntk_base, rotate
from ..visibility import oracle_attention, visible
from .row import Facts
from .small import Array, attention, gap, normal

BASE, D, W = 10000.0, 8, 8


def turned_back() -> Facts:
    """C4: store keys and values turned, and turn them back at every read."""
    q, k, v = normal(41, 3, W, D)
    where, newest = np.arange(90, 90 + W), 90 + W - 1
    stored = rotate(k, where)
    query = rotate(q[-1:], [newest])
    back = rotate(stored, -newest)  # by the query's position, as the article has it
    plain = attention(query, stored, v)
    return {
        "scores, keys turned back against the query turned": gap(
            q[-1] @ back.T, query[0] @ stored.T
        ),
        "vectors turned a step, keys": len(back),
        "vectors turned a step, query": len(query),
        "output, values turned": gap(attention(query, stored, rotate(v, where)), plain),
        "output, values turned and turned back": gap(
            rotate(attention(query, stored, rotate(v, where)), -newest), plain
        ),
        "the same, against values turned by their distance": gap(
            rotate(attention(query, stored, rotate(v, where)), -newest),
            attention(query, stored, rotate(v, where - newest)),
        ),
    }


def differences() -> Facts:
    """C5: turn by m and back by n, for positions up to 10,000, and compare scores far apart."""
    x, y = normal(42, 2, 50, D)
    m, n = np.random.default_rng(42).integers(0, 10_000, (2, 50))
    here = np.sum(rotate(x, m) * rotate(y, n), axis=1)
    return {
        "R_m then R_n^T against R_(m-n)": gap(rotate(rotate(x, m), -n), rotate(x, m - n)),
        "scores, both 5,000 further on": gap(
            here, np.sum(rotate(x, m + 5000) * rotate(y, n + 5000), axis=1)
        ),
        "scores, one of them 1 further on": gap(here, np.sum(rotate(x, m + 1) * rotate(y, n), 1)),
    }


def slower() -> Facts:
    """C6: how many times slower pairs turn with each formula; texts 4 times longer, d = 128."""
    d, s = 128, 4
    before = frequencies(d, BASE)

    def times(base: float) -> Array:
        return before / frequencies(d, base)

    usual = ntk_base(BASE, s, d)
    window = 4096
    far = max(b for b in range(2 * window) if visible(100_000, 100_000 - b, window))
    return {
        "power of s, usual form": float(np.log(usual / BASE) / np.log(s)),
        "slowest pair, usual form": float(times(usual)[-1]),
        "fastest pair, usual form": float(times(usual)[0]),
        "slowest pair, alpha 0.5": float(times(article_base(BASE, s, 0.5))[-1]),
        "slowest pair, alpha 1.0": float(times(article_base(BASE, s, 1.0))[-1]),
        "largest distance inside W = 4,096, token 100,000": far,
    }


def reuse() -> Facts:
    """C12: a causal layer with a table of absolute positions; a prefix of 12 tokens is reused."""
    table, x, weights = normal(43, 32, D), normal(44, 40, D), normal(45, 3, D, D)

    def qkv(tokens: Array, first: int = 0) -> tuple[Array, Array, Array]:
        stood = tokens + table[np.arange(first, first + len(tokens))]
        q, k, v = (stood @ w for w in weights)
        return q[None], k[None], v[None]

    prefix, long = qkv(x[:12]), qkv(x[:20])
    ring = NumpyRing(32, 1, D, dtype=np.float64)
    ring.append(*prefix[1:])
    rest = ring.step(*qkv(x[12:20], 12))
    try:
        qkv(x)
        past = "served"
    except IndexError:
        past = "refused"
    return {
        "change of a prefix's keys when text follows": gap(prefix[1], long[1][:, :12]),
        "outputs, prefix reused against everything anew": gap(
            rest, oracle_attention(*long, 20, first=12)
        ),
        "change of its keys 5 places further on": gap(prefix[1], qkv(x[:12], 5)[1]),
        "a position past the table": past,
    }


def stale() -> Facts:
    """C14: change the base by NTK for texts 4 times longer, with keys stored under the old one."""
    q, k, v = normal(46, 3, 1, 21, D)
    where, new = np.arange(21), ntk_base(BASE, 4, D)
    turned, plain = (NumpyRing(W, 1, D, dtype=np.float64) for _ in range(2))
    turned.append(rotate(k, where, BASE), v)
    plain.append(k, v)
    held, query = turned.positions, rotate(q[:, -1], 20, new)
    right = oracle_attention(rotate(q, where, new), rotate(k, where, new), v, W)[:, -1]
    back = rotate(rotate(turned.keys, -held, BASE), held, new)
    return {
        "output, keys of the old base": gap(turned.attend(query), right),
        "output, unrotated keys turned at read": gap(
            attention(query, rotate(plain.keys, held, new)[0], plain.values[0]), right
        ),
        "output, keys turned back and anew": gap(
            attention(query, back[0], turned.values[0]), right
        ),
        "keys turned again at the change": back.shape[1],
    }
