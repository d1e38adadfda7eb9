"""Bugs of taking back, starting again, saving and loading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...numpy_ring import Array, NumpyRing, masked_attention
from ...rewind import length_after_rewind

__all__ = [
    "DraftsStay",
    "HalfReset",
    "KeepsTaken",
    "NeverBack",
    "SinksOutliveReset",
    "SinksTakenBack",
    "StateForgetsHoles",
    "StateIsView",
    "StateLosesCursor",
    "StateWithoutSinks",
    "TrimAlways",
]


class TrimAlways(NumpyRing):
    """Taking back moves the cursor, whether or not the older tokens are still there."""

    case = "27"

    def rewind(self, n: int) -> None:
        """Take back without asking."""
        self.seen -= n
        self._clear(self.positions >= self.seen)


class NeverBack(NumpyRing):
    """Once full, nothing can be taken back, slack or no slack."""

    case = "30"

    def rewind(self, n: int) -> None:
        """Refuse as soon as the ring has wrapped."""
        if n and self.seen >= self.slots:
            raise ValueError("cannot rewind a full ring")
        super().rewind(n)


class KeepsTaken(NumpyRing):
    """Taking back lowers the length and leaves the tokens where they are."""

    case = "29a"

    def rewind(self, n: int) -> None:
        """Ask, then move the cursor alone."""
        self.seen = length_after_rewind(self.positions, self.seen, n, self.window, self.sinks)


class SinksTakenBack(NumpyRing):
    """With sinks, taking back never refuses: they are always there, so all must be well."""

    case = "27b"

    def rewind(self, n: int) -> None:
        """Refuse only where there are no sinks."""
        if not self.sinks:
            super().rewind(n)
            return
        self.seen -= n
        self._clear(self.positions >= self.seen)


class HalfReset(NumpyRing):
    """The reset clears the storage and forgets the cursor."""

    case = "46"

    def reset(self) -> None:
        """Clear the slots only."""
        self._clear(slice(None))


class SinksOutliveReset(NumpyRing):
    """The reset clears the ring and leaves the sinks."""

    case = "46a"

    def reset(self) -> None:
        """Clear what is behind the sinks."""
        self._clear(slice(self.sinks, None))
        self.seen = 0


class StateWithoutSinks(NumpyRing):
    """A saved cache comes back without its sinks."""

    case = "44b"

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> NumpyRing:
        """Load, and forget which tokens were to stay."""
        ring = super().from_state_dict(state)
        ring.slack, ring.sinks = ring.slack + ring.sinks, 0
        return ring


class StateIsView(NumpyRing):
    """A saved state is the cache itself: it changes while the cache runs on."""

    case = "44a"

    def state_dict(self) -> dict[str, Any]:
        """Give the arrays, not copies of them."""
        return super().state_dict() | {n: getattr(self, n) for n in ("keys", "values", "positions")}


class StateLosesCursor(NumpyRing):
    """A loaded cache counts from the number of stored tokens."""

    case = "44"

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> NumpyRing:
        """Load, and take the size for the length."""
        ring = super().from_state_dict(state)
        ring.seen = ring.size
        return ring


class DraftsStay(NumpyRing):
    """Taking back frees the slots and leaves what they hold, which is multiplied by 0."""

    case = "47a"

    def _clear(self, slots: Any) -> None:
        self.positions[slots] = -1

    def _one(self, q: Array, scale: float) -> Array:
        mask = self._mask(np.array([self.seen - 1]), self.positions)
        return masked_attention(q, self.keys, self.values, mask, scale)


class StateForgetsHoles(NumpyRing):
    """A cache that is loaded after a rewind thinks that its holes are the oldest tokens."""

    case = "31d"

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> NumpyRing:
        """Load, and number the empty slots."""
        ring = super().from_state_dict(state)
        if ring.slack and ring.seen > ring.slots:
            ring.positions[ring.positions < 0] = max(0, ring.seen - ring.window)
        return ring
