"""Section D of the bug reports: crop, trim, rewind and reuse."""

from __future__ import annotations

import re

from .adapter import Subject
from .case import Collector
from .twin import NotAsked, Twin

__all__ = ["CASES"]

CASES = Collector()
case = CASES.case


def _goes_on(twin: Twin, n: int) -> None:
    """Take n back; whether that worked or was refused, what follows must be right."""
    if twin.rewind(n):
        twin.expect_needed()
    twin.attend()
    for _ in range(6):
        twin.step()
        twin.expect_needed()


@case("27", "ml-explore/mlx-lm#1512", "taking back after the wrap is exact or refused")
def trim_after_wrap(subject: Subject) -> None:
    """Append ten tokens to a window of four, take two back, go on."""
    twin = Twin(subject, window=4)
    for _ in range(10):
        twin.append()
    _goes_on(twin, 2)


@case("27a", "ml-explore/mlx-lm#1512", "taking back, step by step, is exact or refused", "slack")
def trim_twice(subject: Subject) -> None:
    """Take back twice in a row: what the first gave back the second may not have."""
    for first in range(4):
        for second in range(4):
            twin = Twin(subject, window=4, slack=3)
            twin.append(11)
            twin.rewind(first)
            _goes_on(twin, second)


@case("27b", "ml-explore/mlx-lm#1512", "the same with sinks, and into them", "sinks")
def trim_with_sinks(subject: Subject) -> None:
    """Take back from rings with sinks, as far as into the sinks; with slack, if there is any."""
    for slack in (0, 2) if "slack" in subject.offers else (0,):
        for tokens in (2, 5, 13):
            for n in range(tokens + 1):
                twin = Twin(subject, 4, 3, slack)
                twin.append(tokens)
                _goes_on(twin, n)


@case("29", "Blaizzy/mlx-vlm#1715", "cutting to a length is exact or refused")
def crop_after_wrap(subject: Subject) -> None:
    """Cut ten tokens to seven, past the wrap."""
    twin = Twin(subject, window=4)
    twin.append(10)
    _goes_on(twin, 3)


@case("29a", "Blaizzy/mlx-vlm#1715", "before the wrap, cutting works and positions go on")
def crop_before_wrap(subject: Subject) -> None:
    """Cut three tokens to two: 0 and 1 stay, and the next token is at position 2."""
    twin = Twin(subject, window=4)
    for _ in range(3):
        twin.append()
    if not twin.rewind(1):
        raise twin.differs("taking back 1 of 3 tokens was refused, though nothing has been evicted")
    if twin.held != [0, 1]:
        raise twin.differs(f"after taking back 1 of 3 tokens it holds {twin.held}, expected [0, 1]")
    twin.append()
    if twin.held != [0, 1, 2]:
        raise twin.differs(f"the next token should be at position 2; it holds {twin.held}")
    _goes_on(twin, 1)


@case("30", "microsoft/onnxruntime-genai#2334", "what slack still holds can be taken back", "slack")
def not_too_strict(subject: Subject) -> None:
    """With window 4 and slack 4, after 145 tokens: 1 to 4 can be taken back, 6 cannot.

    Five is for the cache to decide: the next token's query needs window - 1 older keys, the
    newest one's own query, asked again, needs window.
    """
    for n in range(1, 7):
        twin = Twin(subject, window=4, slack=4)
        twin.append(145)
        held = twin.held
        if twin.rewind(n):
            twin.attend()
        elif n < 5:
            raise twin.differs(f"rewind({n}) was refused, though it holds {held}")
        elif n == 6 and not re.search(rf"\b{held[0]}\b", str(twin.refusal)):
            raise twin.differs(
                f"a refusal should name the oldest position, {held[0]}: {twin.refusal}"
            )
        for step in (1, 3, 1):
            twin.step(step)


@case("30a", "microsoft/onnxruntime-genai#2334", "everything can be taken back, or nothing changes")
def back_to_nothing(subject: Subject) -> None:
    """Take back all ten tokens, then begin anew."""
    twin = Twin(subject, window=4)
    twin.append(10)
    if not twin.rewind(10):
        twin.step()
        raise NotAsked("it refuses to take back a whole text, as it may: reset() does that")
    for _ in range(6):
        twin.step()
