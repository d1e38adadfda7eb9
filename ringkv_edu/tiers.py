"""Three tiers: the newest tokens hot and exact, older ones warm in 8 bits, the oldest cold on disk.

A block of tokens moves down when it is full: from the exact ones to the warm tier, from there to a
file that is mapped into memory. Nothing is forgotten, so a query may see everything; what it costs
is the reading: ``moved`` counts the bytes that went down, ``read`` those that queries brought up.

Source: system S25; what it means for the time of a step: source audit C13.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from .inputs import count
from .quantize import Quantized, quantize
from .tiled import fold, start

__all__ = ["TieredCache"]

Array = npt.NDArray[Any]


class TieredCache:
    """``hot`` tokens exact, then up to ``warm`` blocks of ``block`` tokens in int8, then a file.

    ``moved`` and ``read`` are bytes by tier; ``seconds`` is the time that reading each tier took.
    """

    def __init__(self, hot: int, warm: int, kv_heads: int, head_dim: int, folder: Path,
                 block: int = 16) -> None:  # fmt: skip
        self.hot, self.warm_blocks = count("hot", hot, 1), count("warm", warm, 0)
        self.block, self.file = count("block", block, 1), Path(folder) / "cold.bin"
        self.keys = np.zeros((kv_heads, 0, head_dim), np.float32)
        self.values = self.keys.copy()
        self.warm: deque[tuple[Quantized, ...]] = deque()
        self.cold = 0  # blocks in the file
        self.seen = 0
        self.moved: Counter[str] = Counter()
        self.read: Counter[str] = Counter()
        self.seconds = {"warm": 0.0, "cold": 0.0}

    def append(self, k: Array, v: Array) -> None:
        """Store one token's key and value (kv_heads, head_dim)."""
        self.keys = np.concatenate([self.keys, k[:, None].astype(np.float32)], axis=1)
        self.values = np.concatenate([self.values, v[:, None].astype(np.float32)], axis=1)
        self.seen += 1
        if self.keys.shape[1] >= self.hot + self.block:
            pair = (
                quantize(self.keys[:, : self.block], 8),
                quantize(self.values[:, : self.block], 8),
            )
            self.keys, self.values = self.keys[:, self.block :], self.values[:, self.block :]
            self.warm.append(pair)
            self.moved["warm"] += sum(part.nbytes for part in pair)
        if len(self.warm) > self.warm_blocks:
            self._to_file(self.warm.popleft())

    def _to_file(self, pair: tuple[Quantized, ...]) -> None:
        with self.file.open("ab" if self.cold else "wb") as file:
            for part in pair:
                for array in (part.data, part.scale, part.low):
                    file.write(np.ascontiguousarray(array).tobytes())
                    self.moved["cold"] += array.nbytes
        self.cold += 1

    @property
    def nbytes(self) -> dict[str, int]:
        """Bytes in each tier."""
        warm = sum(part.nbytes for pair in self.warm for part in pair)
        hot = int(self.keys.nbytes + self.values.nbytes)
        return {"hot": hot, "warm": warm, "cold": self.cold * self._block_bytes}

    def attend(self, q: Array, scale: float | None = None) -> Array:
        """Attend with a query (heads, head_dim) at the newest position, to everything ever seen."""
        factor = q.shape[1] ** -0.5 if scale is None else scale
        state = start(len(q), 1, q.shape[1])
        for keys, values in self._parts():
            group = len(q) // len(keys)
            keys, values = (np.repeat(x.astype(np.float64), group, 0) for x in (keys, values))
            state = fold(state, factor * q[:, None] @ keys.swapaxes(1, 2), values)
        return np.asarray(state[2] / state[1])[:, 0]

    def _parts(self) -> Iterator[tuple[Array, Array]]:
        for tier, parts in (("cold", self._cold()), ("warm", iter(self.warm))):
            begun = perf_counter()
            for pair in parts:
                self.read[tier] += sum(part.nbytes for part in pair)
                plain = pair[0].restored(), pair[1].restored()
                self.seconds[tier] += perf_counter() - begun
                yield plain
                begun = perf_counter()
        if self.keys.shape[1]:
            self.read["hot"] += int(self.keys.nbytes + self.values.nbytes)
            yield self.keys, self.values

    def _cold(self) -> Iterator[tuple[Quantized, ...]]:
        if not self.cold:
            return
        raw = np.memmap(self.file, np.uint8, "r")
        size = self._block_bytes // 2
        for at in range(0, self.cold * 2 * size, 2 * size):
            yield self._from(raw[at : at + size]), self._from(raw[at + size : at + 2 * size])

    def _from(self, raw: npt.NDArray[np.uint8]) -> Quantized:
        heads, _, d = self.keys.shape
        n, groups = heads * self.block * d, heads * self.block
        scale, low = np.frombuffer(raw[n:].tobytes(), np.float16).reshape(2, heads, self.block, 1)
        assert scale.size == groups
        return Quantized(
            raw[:n].reshape(heads, self.block, d), scale, low, 8, (heads, self.block, d)
        )

    @property
    def _block_bytes(self) -> int:
        heads, _, d = self.keys.shape
        return 2 * heads * self.block * (d + 4)
