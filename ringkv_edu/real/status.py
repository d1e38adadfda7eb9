"""A line at the foot of a terminal that shows what a talk costs while its words scroll above."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import TracebackType

from .chat import Step

__all__ = ["Foot", "cost"]

RECENT = 20  # tokens over which the speed is taken


def cost(steps: Sequence[Step]) -> str:
    """Say in a line how many tokens were seen, what the caches take, and how fast it goes."""
    if not steps:
        return "0 tokens"
    last = steps[-1]
    recent = [step for step in steps[-10 * RECENT :] if step.tokens == 1][-RECENT:]
    seconds = sum(step.seconds for step in recent)
    speed = f" | {len(recent) / seconds:.1f} tokens/s" if recent and seconds else ""
    return f"{last.seen:,} tokens | cache {last.bytes:,} bytes{speed}"


class Foot:
    """Keeps a terminal's last row for one line; does nothing where there is no terminal.

    The rows above become the region that scrolls (DECSTBM), as apt does for its progress bar. The
    words go to stdout, the line to stderr; both must be the terminal.
    """

    def __init__(self) -> None:
        self.on = sys.stderr.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.rows = 0

    def __enter__(self) -> Foot:
        if self.on:
            self._size()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.on:  # the whole screen scrolls again, and the last row is empty
            self._put(f"\x1b7\x1b[r\x1b[{self.rows};1H\x1b[2K\x1b8")

    def show(self, text: str) -> None:
        """Write the line anew."""
        if not self.on:
            return
        if os.get_terminal_size(sys.stderr.fileno()).lines != self.rows:
            self._size()
        width = os.get_terminal_size(sys.stderr.fileno()).columns
        self._put(f"\x1b7\x1b[{self.rows};1H\x1b[2K\x1b[7m{text[: width - 1]}\x1b[0m\x1b8")

    def _size(self) -> None:
        """Free the last row: a new line, one row up, and a region without the last row."""
        self.rows = os.get_terminal_size(sys.stderr.fileno()).lines
        self._put(f"\n\x1b7\x1b[1;{self.rows - 1}r\x1b8\x1b[1A")

    def _put(self, codes: str) -> None:
        sys.stdout.flush()
        sys.stderr.write(codes)
        sys.stderr.flush()
