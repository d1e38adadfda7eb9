"""Records what a cache does: which position each slot holds after each step.

A trace is plain data. Every table and picture of the course is drawn from one, so it shows the
cache that was run, right or wrong, and never the cache that should have been.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Step", "Trace", "record"]

EMPTY = -1
VERSION = 1


@dataclass(frozen=True)
class Step:
    """One appended token, and the memory after it."""

    position: int
    text: str
    slots: tuple[int, ...]  # the position in each slot, -1 when empty
    written: tuple[int, ...]  # the slots that changed
    evicted: tuple[int, ...]  # the positions that were there before and are nowhere now


@dataclass(frozen=True)
class Trace:
    """Everything a cache did. ``problem`` says in words where it stopped, or is empty."""

    name: str
    steps: tuple[Step, ...]
    problem: str = ""
    version: int = VERSION

    @property
    def slot_count(self) -> int:
        """The most slots that were ever in memory."""
        return max((len(step.slots) for step in self.steps), default=0)

    def to_dict(self) -> dict[str, Any]:
        """Give plain data that ``json.dumps`` takes."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Trace:
        """Rebuild a trace; raises ``ValueError`` for a version this release does not know."""
        if data.get("version") != VERSION:
            raise ValueError(f"trace version {data.get('version')!r}; this release reads {VERSION}")
        lists = ("slots", "written", "evicted")
        steps = tuple(
            Step(**{**step, **{name: tuple(step[name]) for name in lists}})
            for step in data["steps"]
        )
        return cls(data["name"], steps, data.get("problem", ""))


def record(make_cache: Callable[[], Any], tokens: int | Sequence[str], name: str = "") -> Trace:
    """Append tokens to a fresh cache and note what each slot holds after each of them.

    ``make_cache`` is called once, without arguments; what it returns needs ``positions`` (one
    integer a slot, -1 when empty) and stage 1's ``append(key, value, position)``, or the tensor
    stages' ``append(k, v)`` with ``keys`` (kv_heads, slots, head_dim) to read the sizes from.
    ``tokens`` is how many to append, or their texts. A cache that raises is not an error here:
    the trace ends there and ``problem`` says why.
    """
    texts = [str(t) for t in range(tokens)] if isinstance(tokens, int) else list(tokens)
    steps: list[Step] = []
    try:
        cache = make_cache()
        before = _slots(cache.positions)
        for position, text in enumerate(texts):
            _append(cache, position)
            after = _slots(cache.positions)
            steps.append(_step(position, text, before, after))
            before = after
    except Exception as error:
        problem = f"step {len(steps)}: {type(error).__name__}: {error}"
        return Trace(name, tuple(steps), problem)
    return Trace(name, tuple(steps))


def _append(cache: Any, position: int) -> None:
    """Append one token whose key and value say where it stands."""
    shape = getattr(getattr(cache, "keys", None), "shape", None)
    if shape is None:
        cache.append([float(position), 1.0], [float(position)], position)
        return
    import numpy as np

    token = np.full((shape[0], 1, shape[2]), position, dtype=cache.keys.dtype)
    cache.append(token, token)


def _slots(positions: Iterable[Any]) -> tuple[int, ...]:
    return tuple(EMPTY if position is None else int(position) for position in positions)


def _step(position: int, text: str, before: tuple[int, ...], after: tuple[int, ...]) -> Step:
    padded = before + (EMPTY,) * (len(after) - len(before))
    written = tuple(slot for slot, held in enumerate(after) if held != padded[slot])
    gone = sorted(set(before) - set(after) - {EMPTY})
    return Step(position, text, after, written, tuple(gone))
