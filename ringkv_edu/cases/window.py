"""Section A of the bug reports: the size of the window, and the mask."""

from __future__ import annotations

from .adapter import Subject
from .case import Collector
from .twin import Twin

__all__ = ["CASES"]

CASES = Collector()
case = CASES.case


@case("1", "huggingface/transformers#39408", "a query sees window keys, itself included")
def one_too_many(subject: Subject) -> None:
    """Ask ten steps one by one; the tenth must see 6 to 9."""
    twin = Twin(subject, window=4)
    for _ in range(10):
        twin.step()


@case("1a", "huggingface/transformers#39408", "slack slots are kept, but not seen", "slack")
def capacity_above_window(subject: Subject) -> None:
    """Give the ring more slots than the window: a mask from the capacity sees too much."""
    for slack in (1, 3):
        twin = Twin(subject, window=4, slack=slack)
        for n in (1,) * 14 + (3, 1, 6, 2):
            twin.step(n)
            twin.attend()


@case("1b", "huggingface/transformers#39408", "the same with sinks", "slack", "sinks")
def capacity_with_sinks(subject: Subject) -> None:
    """Give the ring sinks and slack at once: either may be counted into the window."""
    for sinks, slack in ((1, 1), (2, 3), (5, 2)):
        twin = Twin(subject, 4, sinks, slack)
        for n in (1,) * 14 + (3, 1, 9, 2):
            twin.step(n)
            twin.attend()


@case("2", "ml-explore/mlx-lm#390", "a prefill sees what token by token sees")
def prefill_like_decode(subject: Subject) -> None:
    """Compare one chunk of ten with ten steps: each row with the same oracle."""
    Twin(subject, window=4).step(10)
    twin = Twin(subject, window=4)
    for _ in range(10):
        twin.step()


@case("2a", "ml-explore/mlx-lm#390", "asked once more, the newest query sees the same", "attend")
def asked_again(subject: Subject) -> None:
    """Attend after steps and after appends, single tokens and chunks."""
    twin = Twin(subject, window=4)
    for n in (1, 1, 3, 1, 9, 1):
        twin.step(n)
        twin.attend()
        twin.append(n)
        twin.attend()


@case("3", "huggingface/transformers#37574", "nothing leaves before the window is over-full")
def at_the_edge(subject: Subject) -> None:
    """Prefill 0 to W + 1 tokens, then append: W - 1, W and W + 1 are where it breaks."""
    for prefill in range(10):
        twin = Twin(subject, window=8)
        if prefill:
            twin.step(prefill)
        for _ in range(16):
            twin.step()
            twin.expect_needed()


@case("5", "trymirai/lalamo#200", "a chunk behind a prefix sees what token by token sees")
def rows_of_a_later_chunk(subject: Subject) -> None:
    """Try every prefix of 0 to 9 tokens with every chunk of 1 to 6."""
    for prefix in range(10):
        for chunk in range(1, 7):
            twin = Twin(subject, window=4)
            for _ in range(prefix):
                twin.append()
            twin.step(chunk)
            twin.step()


@case("8", "ml-explore/mlx-lm#1914", "late rows of a chunk still see the sinks", "sinks")
def sinks_in_a_chunk(subject: Subject) -> None:
    """Append ten tokens one by one, then a chunk of three."""
    twin = Twin(subject, window=4, sinks=2)
    for _ in range(10):
        twin.append()
    twin.step(3)


@case("25", "Blaizzy/mlx-vlm#1138", "the window is never empty, however long the text")
def long_text(subject: Subject) -> None:
    """Step 300 tokens, past every power of two below: positions may not wrap as slots do."""
    twin = Twin(subject, window=4)
    for _ in range(300):
        twin.step()


@case("60", "this course: lesson 02", "other heads, sizes, windows and chunks are no different")
def other_sizes(subject: Subject) -> None:
    """Take groups of two, five and one, wide windows, long chunks, many sinks."""
    sizes = ((20, 7, 3, 2, 16), (12, 0, 1, 5, 64), (33, 2, 4, 1, 48))
    for window, sinks, kv_heads, group, head_dim in sizes:
        sinks = sinks if "sinks" in subject.offers else 0
        twin = Twin(subject, window, sinks, 0, kv_heads, group, head_dim)
        for n in (1, 1, 40, 3, 1, 17, 1, 1):
            twin.step(n)
            twin.attend()
