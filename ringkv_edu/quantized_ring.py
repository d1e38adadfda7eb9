"""A quantised ring in KIVI's shape: closed blocks in few bits, the newest tokens exact.

Keys are quantised by channel, so a block of them has to be complete first; values by token. While a
block fills, its tokens lie exact. A block leaves whole, when its last token has left the window, so
up to ``block - 1`` tokens more than the window are held; the mask, made from positions, hides them.

Source: KIVI (arXiv 2402.02750); systems S17, S24.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from .inputs import count
from .numpy_ring import masked_attention
from .quantize import Quantized, quantize
from .visibility import visibility_mask

__all__ = ["QuantizedRing"]

Array = npt.NDArray[Any]


class QuantizedRing:
    """A window over quantised blocks of ``block`` tokens; ``exact`` leaves them as they are.

    ``seen`` is the next position. ``nbytes`` counts numbers, scales and the exact rest.
    """

    def __init__(self, window: int, kv_heads: int, head_dim: int, block: int = 16, bits: int = 8,
                 exact: bool = False) -> None:  # fmt: skip
        self.window, self.block = count("window", window, 1), count("block", block, 1)
        self.bits, self.exact = bits, exact
        self.closed: deque[tuple[int, Any, Any]] = deque()  # first position, keys, values
        self.keys = np.zeros((kv_heads, 0, head_dim), np.float32)  # of the block that fills
        self.values = self.keys.copy()
        self.seen = 0

    def append(self, k: Array, v: Array) -> None:
        """Store one token's key and value (kv_heads, head_dim)."""
        self.keys = np.concatenate([self.keys, k[:, None].astype(np.float32)], axis=1)
        self.values = np.concatenate([self.values, v[:, None].astype(np.float32)], axis=1)
        self.seen += 1
        if self.keys.shape[1] == self.block:
            self._close()
        while self.closed and self.closed[0][0] + self.block <= self.seen - self.window:
            self.closed.popleft()

    def _close(self) -> None:
        pair: tuple[Any, Any] = self.keys, self.values
        if not self.exact:
            pair = (
                quantize(self.keys, self.bits, "channel"),
                quantize(self.values, self.bits, "token"),
            )
        self.closed.append((self.seen - self.block, *pair))
        self.keys, self.values = self.keys[:, :0], self.values[:, :0]

    @property
    def positions(self) -> npt.NDArray[np.int64]:
        """The positions of all that is held, oldest first."""
        first = self.closed[0][0] if self.closed else self.seen - self.keys.shape[1]
        return np.arange(first, self.seen)

    @property
    def nbytes(self) -> int:
        """Bytes of everything that is held."""
        closed = sum(part.nbytes for _, *pair in self.closed for part in pair)
        return int(closed + self.keys.nbytes + self.values.nbytes)

    def read(self) -> tuple[Array, Array]:
        """Give all keys and values (kv_heads, tokens, head_dim), restored, oldest first."""
        keys = [_plain(k) for _, k, _ in self.closed]
        values = [_plain(v) for *_, v in self.closed]
        return np.concatenate([*keys, self.keys], 1), np.concatenate([*values, self.values], 1)

    def attend(self, q: Array, scale: float | None = None) -> Array:
        """Attend with a query (heads, head_dim) at the newest position; gives (heads, head_dim)."""
        keys, values = self.read()
        mask = visibility_mask([self.seen - 1], self.positions, self.window)
        factor = q.shape[1] ** -0.5 if scale is None else scale
        return masked_attention(q[:, None], keys, values, mask, factor)[:, 0]


def _plain(part: Array | Quantized) -> Array:
    return part.restored() if isinstance(part, Quantized) else part
