"""The rings of the course, as the shared tests meet them: one `Subject` for each stage.

A stage is added here and is then asked every case and lives through every random life. Its class
takes and gives NumPy float32, as `ringkv_edu.cases.Adapter` says.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ringkv_edu import NumpyRing, TorchRing
from ringkv_edu.cases.adapter import Subject
from ringkv_edu.cases.rotating import RotatingRing


class TorchRow:
    """A TorchRing of one row."""

    offers = ("sinks", "slack", "attend", "state", "bytes", "storage")
    device = "cpu"

    def __init__(self, ring: Any = None, **sizes: int) -> None:
        self.ring = ring or TorchRing(batch=1, dtype=torch.float32, device=self.device, **sizes)

    def append(self, k: Any, v: Any) -> None:
        self.ring.append(*map(self._given, (k, v)))

    def step(self, q: Any, k: Any, v: Any) -> Any:
        return self.ring.step(*map(self._given, (q, k, v)))[0].cpu().numpy()

    def attend(self, q: Any) -> Any:
        return self.ring.attend(self._given(q[:, None]))[0, :, 0].cpu().numpy()

    def _given(self, x: Any) -> Any:
        return torch.from_numpy(x).to(self.ring.keys.device)[None]

    @property
    def positions(self) -> Any:
        return self.ring.positions[0].tolist()

    @property
    def keys(self) -> Any:
        return self.ring.keys[0].numpy()

    @property
    def values(self) -> Any:
        return self.ring.values[0].numpy()

    @property
    def nbytes(self) -> int:
        return self.ring.nbytes

    def rewind(self, n: int) -> None:
        self.ring.rewind(n)

    def reset(self) -> None:
        self.ring.reset()

    def state_dict(self) -> Any:
        return self.ring.state_dict()

    @classmethod
    def from_state_dict(cls, state: Any) -> Any:
        return cls(TorchRing.from_state_dict(state))


SUBJECTS = [
    pytest.param(Subject(NumpyRing), id="numpy"),
    pytest.param(Subject(RotatingRing), id="numpy-rotating"),
    pytest.param(Subject(TorchRow), id="torch"),
]
each_ring = pytest.mark.parametrize("subject", SUBJECTS)
