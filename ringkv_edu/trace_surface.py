"""Asks any cache the same questions: a buffer of stage 1, a ring of arrays, a learner's class.

Each token carries what tells it apart. Its key is its position plus 1, so that what lies in a slot
is known whatever the cache says of it. In a tensor stage its value is 1 in one place and 0
elsewhere, and a query of zeros gives every key the same score: what attention gives back is the
weight of each token. Stage 1 is asked what is visible.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["EMPTY", "Watched"]

EMPTY = -1
ALL = 2**30


class Watched:
    """One cache while it is recorded. ``first``: the first of the tokens whose weights are asked.

    ``codes`` says of how many tokens from there on one pass can tell the weights.
    """

    def __init__(self, cache: Any, first: int = 0, row: int = 0) -> None:
        self.cache, self.first, self.row = cache, first, row
        shape = getattr(getattr(cache, "keys", None), "shape", None)
        self.shape = None if shape is None else tuple(int(n) for n in shape)
        self.codes = ALL if self.shape is None else self.shape[-3] * self.shape[-1]

    @property
    def rows(self) -> int:
        """Sequences in the cache."""
        return self.shape[0] if self.shape and len(self.shape) == 4 else 1

    @property
    def given(self) -> bool:
        """Say whether the cache holds tokens already."""
        return any(position != EMPTY for position in self.positions())

    def append(self, starts: Sequence[int | None], n: int = 1) -> None:
        """Append n tokens to each row from its position on; None: this row gets none."""
        if self.shape is None:
            for position in range(starts[0] or 0, (starts[0] or 0) + n):
                self.cache.append([position + 1.0, 1.0], [position + 1.0], position)
            return
        shape = (*self.shape[:-2], n, self.shape[-1])
        k, v = np.zeros(shape), np.zeros(shape)
        for row, start in enumerate(starts):
            if start is not None:
                one = (row,) if len(self.shape) == 4 else ()
                self._tell(k[one], v[one], start)
        k, v = self._like(k), self._like(v)
        if None not in starts:
            self.cache.append(k, v)
            return
        if "lengths" not in inspect.signature(self.cache.append).parameters:
            raise TypeError("rows of different lengths need a cache with append(k, v, lengths)")
        self.cache.append(k, v, [0 if start is None else n for start in starts])

    def _tell(self, k: Any, v: Any, start: int) -> None:
        """Write into one row's keys and values what tells its tokens apart."""
        n, d = k.shape[-2:]
        k[...] = np.arange(start, start + n)[:, None] + 1.0
        for token in range(n):
            code = start + token - self.first
            if 0 <= code < self.codes:
                v[code // d, token, code % d] = 1

    def positions(self) -> tuple[int, ...]:
        """Give the position that each slot says it holds, -1 for none."""
        return tuple(
            EMPTY if position is None else int(position)
            for position in self._rows_of(self.cache.positions)
        )

    def held(self) -> tuple[int, ...]:
        """Give the token whose key lies in each slot, -1 for none."""
        if self.shape is None:
            return tuple(EMPTY if key is None else round(key[0]) - 1 for key in self.cache.keys)
        keys = _array(self.cache.keys)
        keys = keys[self.row] if keys.ndim == 4 else keys
        told = keys[0, :, 0]
        if not np.allclose(told, np.round(told), atol=1e-3):
            return self.positions()  # keys are turned as they are stored: take the cache's word
        return tuple(round(float(x)) - 1 for x in told)

    def weights(self) -> dict[int, float] | None:
        """Give the weight that a query of zeros gives each token asked for, or None: no answer."""
        try:
            if self.shape is None:
                return self._counted()
            with np.errstate(all="ignore"):  # a query that sees nothing is a finding, not a warning
                out = self._attended()
        except Exception:  # a learner's half-finished attention is no reason to stop
            return None
        if out is None or not np.isfinite(out).all():
            return None
        return {self.first + code: float(x) for code, x in enumerate(out) if x > 1e-6}

    def _counted(self) -> dict[int, float] | None:
        """Give each visible token of a stage 1 buffer its weight: its share of the entries."""
        if not hasattr(self.cache, "visible"):
            return None
        entries = Counter(round(entry.key[0]) - 1 for entry in self.cache.visible())
        return {token: n / entries.total() for token, n in entries.items()}

    def summaries(self) -> tuple[tuple[int, int, float], ...]:
        """Give the summaries there are: first and last position, and where each stands."""
        counts, centres = (getattr(self.cache, name, None) for name in ("counts", "centres"))
        if counts is None or centres is None:
            return ()
        found = zip(self._rows_of(counts), self._rows_of(centres), strict=True)
        return tuple(
            (round(centre - (n - 1) / 2), round(centre + (n - 1) / 2), float(centre))
            for n, centre in found
            if n > 0
        )

    def nbytes(self) -> int:
        """Give the bytes of the cache, 0 if it does not say."""
        try:
            return int(getattr(self.cache, "nbytes", 0))
        except (TypeError, ValueError):
            return 0

    def _attended(self) -> Any:
        if self.shape is None or not hasattr(self.cache, "attend"):
            return None
        one = self.shape[-3], self.shape[-1]
        q = np.zeros((self.rows, one[0], 1, one[1]) if len(self.shape) == 4 else one)
        out = _array(self.cache.attend(self._like(q)))
        return out[self.row, :, 0].ravel() if len(self.shape) == 4 else out.ravel()

    def _like(self, x: Any) -> Any:
        """Give an array as the cache stores its keys: NumPy's or torch's, of its dtype."""
        keys = self.cache.keys
        if not hasattr(keys, "new_tensor"):
            return x.astype(keys.dtype)
        return keys.new_tensor(x.tolist())

    def _rows_of(self, x: Iterable[Any]) -> Any:
        """Give the row that is watched, of what may be one row or several."""
        array = x if isinstance(x, list | tuple) else _array(x)
        several = self.shape is not None and len(self.shape) == 4
        if not several or not np.ndim(array):
            return array
        return array[self.row]


def _array(x: Any) -> Any:
    if not hasattr(x, "detach"):
        return np.asarray(x)
    x = x.detach().cpu()
    return (x.float() if x.is_floating_point() else x).numpy()
