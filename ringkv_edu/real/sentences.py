"""What to keep of a talk that has grown too long: whole sentences, within a budget of tokens.

A text cut in the middle of a sentence begins with words that belong to nothing. So the cut is
moved to the next end of a sentence, and the budget is not quite used.

Source: S18, S30.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

__all__ = ["first_sentences", "last_sentences", "sentences"]

END = re.compile(
    r"""
    [.!?…]+ ["')\]”’»]* (?=\s|$)   # full stops, and what closes behind them
    | [。！？]+ [”’」』]*           # those that need no space
    | \n\s*\n                      # a paragraph
    """,
    re.VERBOSE,
)
NO_END = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|cf|No|Fig|approx)\.$")
Count = Callable[[str], int]


def sentences(text: str) -> list[str]:
    """Cut a text into sentences, each with the space behind it: joined they are the text.

    A rule of thumb: an initial or a common abbreviation does not end a sentence, others may.
    """
    cuts = [0]
    for end in END.finditer(text):
        if not NO_END.search(text[cuts[-1] : end.end()]):
            space = re.compile(r"\s*").match(text, end.end())
            cuts.append(space.end() if space else end.end())
    cuts = [*dict.fromkeys(cuts), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(cuts) if a < b]


def last_sentences(text: str, budget: int, count: Count) -> str:
    """Keep the longest end of a text that is whole sentences and at most ``budget`` tokens.

    ``count`` says how many tokens a text has. Empty when the last sentence alone is longer.
    """
    parts = sentences(text)
    return _longest(["".join(parts[at:]) for at in range(len(parts))], budget, count)


def first_sentences(text: str, budget: int, count: Count) -> str:
    """Keep the longest beginning of a text that is whole sentences and fits the budget."""
    parts = sentences(text)
    return _longest(["".join(parts[:at]) for at in range(len(parts), 0, -1)], budget, count)


def _longest(texts: list[str], budget: int, count: Count) -> str:
    """Give the first of texts, longest first, that fits."""
    return next((text for text in texts if count(text) <= budget), "")
