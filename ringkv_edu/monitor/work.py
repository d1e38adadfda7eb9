"""A clock that counts bytes instead of seconds: the same work always takes it the same time.

Every operation of torch costs what it reads and writes, at ``rate`` bytes a second, and a little
for being asked for. That is the roofline of decoding (S16: a step is bound by what it reads), not a
measurement: on a busy machine it shows what a real clock would show on an idle one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["WorkClock"]

RATE = 40e9  # bytes a second
ASKED = 1e-6  # seconds an operation


class WorkClock(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Use it as a context around the work, and call it wherever a time is wanted."""

    def __init__(self, rate: float = RATE, asked: float = ASKED) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.rate, self.asked, self.now = rate, asked, 0.0

    def __call__(self) -> float:
        """Give the seconds that the work so far would have taken."""
        return self.now

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if not func.is_view:
            self.now += self.asked + _bytes([args, kwargs, out]) / self.rate
        return out


def _bytes(x: Any) -> int:
    """Add up the tensors in something nested."""
    if isinstance(x, torch.Tensor):
        return x.numel() * x.element_size()
    if isinstance(x, dict):
        return _bytes(list(x.values()))
    return sum(map(_bytes, x)) if isinstance(x, list | tuple) else 0
