"""Lesson 10, case 4: a mended mask, and mends that move the bug."""

from __future__ import annotations

from ..given_cases import HalfWindow


class Mended(HalfWindow):
    """Compares positions; ``query`` and ``key`` are where mutants differ."""

    def mask(self) -> list[bool]:
        """Say of each token held whether the newest one sees it."""
        places = range(len(self.buffer))
        return [0 <= self.query() - self.key(place) < self.window for place in places]

    def query(self) -> int:
        """Give where the newest token stands."""
        return self.seen - 1

    def key(self, place: int) -> int:
        """Give where the token at a place stands."""
        return self.seen - len(self.buffer) + place


class Clamped(Mended):
    """The query is clamped to W, and keys keep their places."""

    def query(self) -> int:
        """Give at most the window."""
        return min(self.seen - 1, self.window)

    def key(self, place: int) -> int:
        """Give the place."""
        return place


class Modulo(Clamped):
    """The query's position goes round."""

    def query(self) -> int:
        """Give the position modulo the window."""
        return (self.seen - 1) % self.window


class Later(Mended):
    """The bound is twice as wide: it closes later."""

    def mask(self) -> list[bool]:
        """Compare a position with places, under a wider bound."""
        query = self.seen - 1
        return [0 <= query - place < 2 * self.window for place in range(len(self.buffer))]


class NotItself(Mended):
    """The newest is left out."""

    def mask(self) -> list[bool]:
        """Give the mask without the token itself."""
        return [*super().mask()[:-1], False]


class OneOff(Mended):
    """The query stands one position too late."""

    def query(self) -> int:
        """Give the next position."""
        return self.seen


class Own(Mended):
    """At least the token itself is seen."""

    def mask(self) -> list[bool]:
        """Give what was reported, and the newest in any case."""
        mask = HalfWindow.mask(self)
        return [*mask[:-1], True]
