"""A class of rings is tried before a model gets it: on the known bugs of real ring caches.

The cases of ``ringkv_edu.cases`` are asked of the very cache that the model would have
(``ringkv_edu.policies.own``): tokens one at a time, each attending to what the ring says it holds.
What the class does not offer (sinks, taking back) is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..adapters.surface import names
from ..cases.adapter import Subject
from ..cases.run import CASES, FAILS, NOT_ASKED, Case, Result, run
from ..cases.twin import Twin
from ..policies import Shape
from ..policies.own import Own

__all__ = ["Trial", "try_out"]

Array = npt.NDArray[Any]
FAR = 2100  # float16 has no 2049, bfloat16 no 257


@dataclass(frozen=True)
class Trial:
    """What a class made of the cases: which it failed, in order, and how many it was asked."""

    name: str
    failed: list[Result]
    asked: int

    @property
    def right(self) -> bool:
        """Whether it passed everything that it was asked."""
        return not self.failed

    def lines(self, most: int = 3) -> list[str]:
        """Say what happened, in a few lines: the first case in full, the next ones by name."""
        if self.right:
            return [f"{self.name} holds in all {self.asked} cases that it was asked."]
        first, rest = self.failed[0], self.failed[1:]
        said = [
            f"{self.name} is not right yet: {len(self.failed)} of {self.asked} cases fail.",
            f"  case {first.case.id}: {first.case.says}",
            f"    {first.detail}",
            f"    as in {first.case.source}",
        ]
        said += [f"  case {one.case.id}: {one.case.says}" for one in rest[: most - 1]]
        more = len(rest) - (most - 1)
        return said + ([f"  and {more} more"] if more > 0 else [])


def try_out(make: Any, cases: Sequence[Case] = CASES) -> Trial:
    """Ask a class of rings every case that it can be asked; a few seconds.

    Raises ``TypeError`` or ``ValueError``, in a sentence, for a class that no model can take.
    """
    subject = Subject(_adapted(make))
    subject.make({"window": 4, "kv_heads": 2, "head_dim": 32})  # raises for what is missing
    results = list(run(subject, [*cases, FAR_CASE]))
    failed = [result for result in results if result.verdict == FAILS]
    asked = sum(result.verdict != NOT_ASKED for result in results)
    return Trial(getattr(make, "__name__", str(make)), failed, asked)


def _far(subject: Subject) -> None:
    """Append past 256 and 2,048, where half precision no longer knows every whole number."""
    twin = Twin(subject, window=4, kv_heads=1, group=1, head_dim=8)
    for _ in range(FAR):
        twin.append()
        held, following = twin.held, int(twin.cache.cache.seen[0])
        if held != list(range(max(0, twin.seen - 4), twin.seen)):
            said = " ".join(map(str, held)) or "nothing"
            raise twin.differs(f"after {twin.seen} tokens it says that it holds {said}")
        if following != twin.seen:
            raise twin.differs(
                f"after {twin.seen} tokens its `seen` puts the next one at position {following}"
            )


FAR_CASE = Case(
    "far", "this course: lesson 04", "positions go on counting, however far", frozenset(), _far
)


def _adapted(make: Any) -> Any:
    """Give a class with the methods that the cases call."""
    takes = names(make)

    class Tried(_Tried):
        offers = ("sinks",) if "sinks" in takes else ()
        made = staticmethod(make)

    return Tried


class _Tried:
    """One row of the cache that a model would have: NumPy in, NumPy out."""

    offers: tuple[str, ...] = ()
    made: Any = None

    def __init__(self, window: int, kv_heads: int, head_dim: int, sinks: int = 0) -> None:
        shape = Shape(kv_heads, kv_heads, head_dim, 10000.0)
        like = torch.zeros(1, dtype=torch.float32)
        self.cache = Own(self.made, window, sinks).cache(shape, 1, like)

    @property
    def ring(self) -> Any:
        """The learner's own ring."""
        return self.cache.store.rings[0]

    def append(self, k: Array, v: Array) -> None:
        """Give the ring n tokens, one at a time."""
        for t in range(k.shape[1]):
            self.cache.store.append(_row(k[:, t : t + 1]), _row(v[:, t : t + 1]), None)

    def step(self, q: Array, k: Array, v: Array) -> Array:
        """Give the ring n tokens, and let each attend as soon as it is stored."""
        return np.asarray(self.cache.step(_row(q), _row(k), _row(v))[0])

    def positions(self) -> list[int]:
        """Give what the ring says that it holds."""
        told: list[int] = torch.as_tensor(self.ring.positions).reshape(-1).tolist()
        return told

    def rewind(self, n: int) -> None:
        """Take tokens back, where the class can."""
        if not callable(getattr(self.ring, "rewind", None)):
            raise NotImplementedError
        self.ring.rewind(n)

    def reset(self) -> None:
        """Start again: by the ring's own ``reset``, where it has one."""
        self.cache.reset()


def _row(x: Array) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(x, np.float32))[None]
