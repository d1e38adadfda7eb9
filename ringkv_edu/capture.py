"""A decode step captured once in a CUDA graph and replayed for every token.

A step on a small batch is some twenty kernels, each of which takes the host longer to launch than
the device to run. A CUDA graph launches them all at once. What is captured are addresses and
constants, so a ring can be captured for two reasons only: it writes everything in place, and its
cursors are numbers on the device. A cursor on the host would be captured as a constant, and every
replay would write the same slot.

    step = CapturedStep(ring, heads=32)      # prefill the ring before or after, as you like
    out = step(q, k, v)                      # as ring.step(q, k, v), one token a row

Source: https://pytorch.org/docs/stable/notes/cuda.html#cuda-graphs (static addresses, a warm-up on
a side stream); S31.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .inputs import count
from .torch_inputs import check_heads, check_lengths, check_tokens, factor, zeros
from .torch_ring import TorchRing

__all__ = ["CapturedStep"]

Tensor = torch.Tensor


class CapturedStep:
    """``ring.step`` for one token a row, as a graph that is replayed.

    ``heads`` query heads, a multiple of the ring's kv_heads; ``ragged=True`` takes ``lengths``,
    so that rows can rest; ``scale`` as for ``step``. ``warmup`` steps run before the capture, on a
    copy of the ring (as much memory again, until the capture); the ring itself is left as it is.

    The ring may be reset, rewound, reordered, appended to and stepped between replays: all of that
    is done in place, and the next replay sees it. The graph reads and writes the ring's storage, so
    this object keeps the ring alive. From now on the host no longer knows when every slot is full:
    the ring always masks from its positions.

    Raises ``ValueError`` or ``TypeError`` for a ring that is not on a CUDA device.
    """

    device = "cuda"  # the kind of device whose work can be captured

    def __init__(
        self,
        ring: TorchRing,
        heads: int,
        warmup: int = 3,
        ragged: bool = False,
        scale: float | None = None,
    ) -> None:
        if not isinstance(ring, TorchRing):
            raise TypeError(f"ring is a {type(ring).__name__}; give a TorchRing")
        batch, kv_heads, _, head_dim = ring.keys.shape
        where, dtype = ring.keys.device, ring.keys.dtype
        if where.type != self.device:
            raise ValueError(
                f"the ring is on {where}, and only work on {self.device} can be captured; make it "
                f"with device={self.device!r}, or call ring.step() as it is"
            )
        self.ring, self.heads, times = ring, count("heads", heads, 1), count("warmup", warmup, 1)
        if heads % kv_heads:
            raise ValueError(f"heads is {heads}; give a multiple of the ring's {kv_heads}")
        self._scale = factor(scale, head_dim)
        self._q = zeros((batch, heads, 1, head_dim), dtype, where)
        self._k, self._v = (zeros((batch, kv_heads, 1, head_dim), dtype, where) for _ in range(2))
        with torch.inference_mode(False):
            every_row = torch.ones(batch, dtype=torch.int64, device=where)
            self._lengths = every_row if ragged else None
            self._warm_up(times)
            ring._bounds.lose()
            self._replay, self._out = self._capture(lambda: self._run(ring))

    @torch.no_grad()
    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, lengths: Any = None, copy: bool = False
    ) -> Tensor:
        """Store one token a row and give what its query sees.

        ``q`` (batch, heads, 1, head_dim), ``k`` and ``v`` (batch, kv_heads, 1, head_dim);
        ``lengths`` (batch,), each 0 or 1, for a ragged step: None means 1 for every row. **The
        result is overwritten by the next call**, unless ``copy=True``.
        """
        like = self.ring.keys
        check_tokens(k, v, like)
        check_heads(q, like, 1)
        if k.shape[2] != 1 or q.shape[1] != self.heads:
            raise ValueError(
                f"q has shape {tuple(q.shape)} and k {tuple(k.shape)}; this step was captured for "
                f"{self.heads} heads and one token a row"
            )
        if self._lengths is None and lengths is not None:
            raise ValueError("this step was captured without lengths; capture it with ragged=True")
        real = check_lengths(lengths, 1, like, self.ring.check)
        for own, given in ((self._q, q), (self._k, k), (self._v, v)):
            own.copy_(given)
        if self._lengths is not None:
            _ = self._lengths.fill_(1) if real is None else self._lengths.copy_(real)
        self._replay()
        return self._out.clone() if copy else self._out

    def _run(self, ring: TorchRing) -> Tensor:
        return ring.step(self._q, self._k, self._v, self._lengths, scale=self._scale)

    def _warm_up(self, times: int) -> None:
        """Let libraries choose kernels and allocate what they need, on a copy of the ring."""
        copy = self.ring.select(range(len(self.ring.keys)))
        copy._bounds.lose()  # so that it does what will be captured
        with self._aside():
            for _ in range(times):
                self._run(copy)

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Work on a side stream, as a capture does, in order with what comes before and after."""
        with torch.cuda.device(self.ring.keys.device):
            side: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                yield
            torch.cuda.current_stream().wait_stream(side)

    def _capture(self, run: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        """Give what replays the work of ``run``, and where its result will lie."""
        with torch.cuda.device(self.ring.keys.device):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = run()
        return graph.replay, out
