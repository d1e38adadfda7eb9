"""Section C of the bug reports: positions, counters, and angles made from them."""

from __future__ import annotations

from .adapter import Subject
from .case import Collector
from .twin import Twin

__all__ = ["CASES"]

CASES = Collector()
case = CASES.case


@case("20", "huggingface/transformers#38156", "the next position does not stop at the window")
def length_does_not_saturate(subject: Subject) -> None:
    """Append ten tokens with a window of four; the eleventh is at position 10."""
    twin = Twin(subject, window=4)
    for _ in range(10):
        twin.append()
    twin.expect_needed()
    twin.append()
    if twin.held[-1:] != [10]:
        raise twin.differs(f"the eleventh token should be at position 10; it holds {twin.held}")


@case("21", "rajveer43/VeloxQuant-MLX#171", "positions count tokens, not rows kept")
def positions_count_tokens(subject: Subject) -> None:
    """Append chunks: the newest position is the number of tokens less one."""
    _counted(Twin(subject, window=4))


@case("21a", "rajveer43/VeloxQuant-MLX#171", "the same with sinks", "sinks")
def positions_count_tokens_with_sinks(subject: Subject) -> None:
    """Append chunks with sinks."""
    _counted(Twin(subject, window=4, sinks=2))


def _counted(twin: Twin) -> None:
    for n in (3, 1, 9, 1, 2, 1):
        twin.append(n)
        twin.expect_needed()
        if twin.held[-1] != twin.seen - 1:
            raise twin.differs(f"after {twin.seen} tokens the newest position is {twin.held[-1]}")
    twin.step()


@case("24", "pytorch/executorch#14630", "angles stay right past every table", "rotates")
def rotated_far(subject: Subject) -> None:
    """Go ten windows and more into a text: a table of 2 W rows runs out, or is used again."""
    twin = Twin(subject, window=4)
    for _ in range(50):
        twin.step()


@case("24a", "pytorch/executorch#14630", "angles do not depend on how a text is cut", "rotates")
def rotated_in_chunks(subject: Subject) -> None:
    """Feed chunks that cross the wrap; no length with seen a multiple of the window alone."""
    twin = Twin(subject, window=4)
    for n in (3, 7, 1, 5, 4, 9, 1, 6, 5):
        twin.step(n)
        twin.attend()
