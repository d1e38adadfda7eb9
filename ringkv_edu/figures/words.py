"""Numbers and lists as a sentence has them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["listed", "spelt", "times"]

NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
)  # fmt: skip


def spelt(number: int) -> str:
    """Write a small whole number as a word, a larger one in digits."""
    return NUMBERS[number] if 0 <= number < len(NUMBERS) else f"{number:,}"


def times(number: int) -> str:
    """Write how often: once, twice, three times."""
    return {1: "once", 2: "twice"}.get(number, f"{spelt(number)} times")


def listed(items: Iterable[object], comma: bool = False) -> str:
    """Join items by commas, the last two by "and", with a comma before it where asked."""
    *most, last = map(str, items)
    return f"{', '.join(most)}{',' if comma else ''} and {last}" if most else last
