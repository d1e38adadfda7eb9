"""Asks any cache the same questions: a buffer of stage 1, a ring of arrays, a learner's class.

Each token carries what tells it apart. Its key is its position plus 1, so that what lies in a slot
is known whatever the cache says of it. Its value is 1 in one place and 0 elsewhere, and a query of
zeros gives every key the same score: what attention gives back is the weight of each token.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import pure

__all__ = ["EMPTY", "Watched"]

EMPTY = -1
TELL_APART = 64  # of so many tokens at once a stage 1 buffer is asked the weights


class Watched:
    """One cache while it is recorded. ``first``: the first of the tokens whose weights are asked.

    ``codes`` says of how many tokens from there on one pass can tell the weights.
    """

    def __init__(self, cache: Any, first: int = 0, row: int = 0) -> None:
        self.cache, self.first, self.row = cache, first, row
        shape = getattr(getattr(cache, "keys", None), "shape", None)
        self.shape = None if shape is None else tuple(int(n) for n in shape)
        self.codes = TELL_APART if self.shape is None else self.shape[-3] * self.shape[-1]

    @property
    def rows(self) -> int:
        """Sequences in the cache."""
        return self.shape[0] if self.shape and len(self.shape) == 4 else 1

    @property
    def given(self) -> bool:
        """Say whether the cache holds tokens already."""
        return any(position != EMPTY for position in self.positions())

    def append(self, position: int) -> None:
        """Append the token at ``position`` to every row."""
        code = position - self.first
        if self.shape is None:
            value = [float(n == code) for n in range(self.codes)]
            self.cache.append([position + 1.0, 1.0], value, position)
            return
        k = np.full((*self.shape[:-2], 1, self.shape[-1]), position + 1.0)
        v = np.zeros_like(k)
        if 0 <= code < self.codes:
            v[..., code // self.shape[-1], 0, code % self.shape[-1]] = 1
        self.cache.append(self._like(k), self._like(v))

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
        return tuple(EMPTY if not np.isfinite(x) else round(float(x)) - 1 for x in keys[0, :, 0])

    def weights(self) -> dict[int, float] | None:
        """Give the weight that a query of zeros gives each token asked for, or None: no answer."""
        try:
            with np.errstate(all="ignore"):  # a query that sees nothing is a finding, not a warning
                out = self._attended()
        except Exception:  # a learner's half-finished attention is no reason to stop
            return None
        if out is None or not np.isfinite(out).all():
            return None
        return {self.first + code: float(x) for code, x in enumerate(out) if x > 1e-6}

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
        if self.shape is None:
            if not hasattr(self.cache, "visible"):
                return None
            return np.array(pure.attend([0.0, 0.0], self.cache) or [np.nan])
        if not hasattr(self.cache, "attend"):
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
