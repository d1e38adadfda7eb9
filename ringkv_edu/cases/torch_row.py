"""One row of a ``TorchRing`` behind the suite's methods: NumPy in, NumPy out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["TorchRow"]

Array = npt.NDArray[Any]


class TorchRow:
    """A ``TorchRing`` with a batch of one, float32, on the CPU."""

    offers = ("sinks", "slack", "attend", "state", "bytes", "storage")

    def __init__(
        self, window: int, kv_heads: int, head_dim: int, sinks: int = 0, slack: int = 0
    ) -> None:
        import torch

        from ..torch_ring import TorchRing

        sizes = (window, 1, kv_heads, head_dim, sinks, slack)
        self.ring = TorchRing(*sizes, dtype=torch.float32, device="cpu")

    def append(self, k: Array, v: Array) -> None:
        """Append n tokens to the row."""
        self.ring.append(_row(k), _row(v))

    def step(self, q: Array, k: Array, v: Array) -> Array:
        """Step n tokens of the row."""
        return np.asarray(self.ring.step(_row(q), _row(k), _row(v))[0])

    def attend(self, q: Array) -> Array:
        """Ask what a query at the newest position sees: q (heads, head_dim)."""
        return np.asarray(self.ring.attend(_row(q[:, None]))[0, :, 0])

    @property
    def positions(self) -> Array:
        """The stored positions of the row, -1 for an empty slot."""
        return np.asarray(self.ring.positions[0])

    @property
    def keys(self) -> Array:
        """The stored keys of the row, as a view."""
        return np.asarray(self.ring.keys[0])

    @property
    def values(self) -> Array:
        """The stored values of the row, as a view."""
        return np.asarray(self.ring.values[0])

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values."""
        return self.ring.nbytes

    def rewind(self, n: int) -> None:
        """Take back the newest n tokens."""
        self.ring.rewind(n)

    def reset(self) -> None:
        """Forget everything."""
        self.ring.reset()

    def state_dict(self) -> dict[str, Any]:
        """Give the ring's state."""
        return self.ring.state_dict()

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> TorchRow:
        """Make a row from a ring's state."""
        from ..torch_ring import TorchRing

        row = cls(window=1, kv_heads=1, head_dim=1)
        row.ring = TorchRing.from_state_dict(state)
        return row


def _row(x: Array) -> Any:
    import torch

    return torch.from_numpy(np.ascontiguousarray(x))[None]
