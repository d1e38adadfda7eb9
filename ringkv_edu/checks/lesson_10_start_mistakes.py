"""Lesson 10, case 2: a mended ring, and mends that move the bug."""

from __future__ import annotations

from typing import Any

from ..given_cases import RollingStart


class Mended:
    """Reads from where the oldest token lies; ``begin`` and ``many`` are where mutants differ."""

    def __init__(self, window: int) -> None:
        self.window, self.length = window, 0
        self.slots: list[Any] = [None] * window

    def write(self, token: Any) -> None:
        """Store the next token."""
        self.slots[self.length % self.window] = token
        self.length += 1

    def read(self) -> list[Any]:
        """Give the last tokens, the oldest first."""
        begin = self.begin()
        return [self.slots[(begin + n) % self.window] for n in range(self.many())]

    def begin(self) -> int:
        """Give the number of the oldest token."""
        return self.length - min(self.length, self.window)

    def many(self) -> int:
        """Say how many tokens are held."""
        return min(self.length, self.window)


class FromZero(Mended):
    """Reading always begins at slot 0."""

    def begin(self) -> int:
        """Give 0."""
        return 0


class Late(Mended):
    """Reading begins one slot late."""

    def begin(self) -> int:
        """Give one more."""
        return super().begin() + 1


class All(Mended):
    """All slots are read, empty ones, too."""

    def many(self) -> int:
        """Give the window."""
        return self.window


class Skips(RollingStart):
    """Empty slots are left out where they are met."""

    def read(self) -> list[Any]:
        """Read as reported, without what is empty."""
        return [token for token in super().read() if token is not None]


class OneShort(Mended):
    """A full ring gives one token less."""

    def begin(self) -> int:
        """Begin behind the oldest one of a full ring."""
        return self.length - self.many()

    def many(self) -> int:
        """Give W - 1 at most."""
        return min(self.length, max(1, self.window - 1))


class Newest(Mended):
    """The newest comes first."""

    def read(self) -> list[Any]:
        """Give the tokens the wrong way round."""
        return super().read()[::-1]
