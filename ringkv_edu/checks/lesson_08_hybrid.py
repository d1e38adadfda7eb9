"""Lesson 08's case file: a planner that budgets sliding layers as full ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from random import Random
from typing import Any

from .lesson_08_common import call_case
from .model import Case, Exercise, Mutant, answers

__all__ = ["HYBRID"]

Windows = Sequence[int | None]
Each = Callable[[int, int, int], float]  # window, longest, page: the pages of a sliding layer


def requests_at_once(windows: Windows, longest: int, page: int, pages: int) -> int:
    """Give how many requests of ``longest`` tokens a pool of pages is sure to hold at once."""
    return _at_once(windows, longest, page, pages)


def _sliding(window: int, longest: int, page: int) -> float:
    return min(ceil(longest / page), 1 + ceil((window - 1) / page))


def _pages(windows: Windows, longest: int, page: int, sliding: Each = _sliding) -> float:
    whole = ceil(longest / page)
    return sum(whole if w is None else sliding(w, longest, page) for w in windows)


def _at_once(
    windows: Windows, longest: int, page: int, pages: int, sliding: Each = _sliding
) -> int:
    return int(pages // _pages(windows, longest, page, sliding))


def _with(sliding: Each) -> dict[str, Any]:
    return answers(
        requests_at_once=lambda windows, longest, page, pages: _at_once(
            windows, longest, page, pages, sliding
        )
    )


def _other(count: Callable[[Windows, int, int, int], float]) -> dict[str, Any]:
    return answers(requests_at_once=count)


def _left_out(windows: Windows, longest: int, page: int, pages: int) -> int:
    whole = ceil(longest / page) * sum(w is None for w in windows)
    return pages // whole if whole else pages


def _joined(windows: Windows, longest: int, page: int, pages: int) -> int:
    tokens = sum(longest if w is None else min(longest, w + page - 1) for w in windows)
    return pages // ceil(tokens / page)


def _cut(windows: Windows, longest: int, page: int, pages: int) -> int:
    whole = max(1, longest // page)
    each = [whole if w is None else min(whole, 1 + ceil((w - 1) / page)) for w in windows]
    return pages // sum(each)


def _in_tokens(windows: Windows, longest: int, page: int, pages: int) -> int:
    tokens = sum(longest if w is None else min(longest, w) for w in windows)
    return pages * page // tokens


def _one_layer(windows: Windows, longest: int, page: int, pages: int) -> int:
    return int(pages // max(_pages([w], longest, page) for w in windows))


def _rounded_up(windows: Windows, longest: int, page: int, pages: int) -> int:
    return ceil(pages / _pages(windows, longest, page))


def _more_for_all(windows: Windows, longest: int, page: int, pages: int) -> int:
    more = sum(w is None for w in windows)
    return int(pages // (_pages(windows, longest, page) + more))


def _first_for_all(windows: Windows, longest: int, page: int, pages: int) -> int:
    return _at_once([windows[0]] * len(windows), longest, page, pages)


def _cases(rng: Random) -> list[Case]:
    gemma = "([1024] * 5 + [None]) * 10"
    asked = [
        "[4, None], 100, 1, 1040", "[4, None], 100, 4, 1000", "[5, None], 100, 4, 540",
        "[6, None], 100, 4, 561", "[5, 5], 98, 4, 37", "[64, 64, None], 40, 16, 90",
        "[None, None], 37, 16, 60", "[7, 9], 16, 8, 1000", "[None, 17, 1, 16], 130, 16, 260",
        f"{gemma}, 131072, 16, 1000000", f"{gemma}, 128, 16, 28490",
    ]  # fmt: skip
    page = rng.choice([4, 8])
    windows: list[int | None] = [page * rng.randrange(2, 6) + 2, page * rng.randrange(1, 4), None]
    windows.insert(rng.randrange(1, 3), None)
    longest = page * rng.randrange(30, 70) + 3
    asked.append(f"{windows}, {longest}, {page}, {rng.randrange(2000, 4000)}")
    return [call_case(f"requests_at_once({one})", "requests_at_once") for one in asked]


HYBRID = Exercise(
    id="case08-hybrid",
    names=("requests_at_once",),
    cases=_cases,
    reference=answers(requests_at_once),
    mutants=(
        Mutant(
            "as-reported",
            "every layer is budgeted as a full one: a sliding layer gives its old pages back",
            _with(lambda w, n, page: ceil(n / page)),
        ),
        Mutant(
            "sliding-left-out",
            "sliding layers are left out: their pages come out of the same pool",
            _other(_left_out),
        ),
        Mutant(
            "window-uncapped",
            "a sliding layer gets pages for W tokens even where no request is that long",
            _with(lambda w, n, page: 1 + ceil((w - 1) / page)),
        ),
        Mutant(
            "no-page-more",
            "W tokens are given the pages of W tokens side by side: a window may begin anywhere in "
            "a page",
            _with(lambda w, n, page: min(ceil(n / page), ceil(w / page))),
        ),
        Mutant(
            "page-too-many",
            "a window is given one page more than it can touch: of its W tokens one may begin a "
            "page, so W - 1 are left for the others",
            _with(lambda w, n, page: min(ceil(n / page), 1 + ceil(w / page))),
        ),
        Mutant(
            "text-cut",
            "the last page of a text is not counted where it is not full",
            _other(_cut),
        ),
        Mutant(
            "page-more-for-all",
            "global layers get a page more as well: their text begins at a page's beginning",
            _other(_more_for_all),
        ),
        Mutant(
            "joined",
            "tokens of different layers share a page: each layer fills its own",
            _other(_joined),
        ),
        Mutant(
            "in-tokens",
            "tokens are counted in place of pages: a page that is begun is taken whole",
            _other(_in_tokens),
        ),
        Mutant(
            "one-layer",
            "one layer's pages are counted: a request takes pages for every layer",
            _other(_one_layer),
        ),
        Mutant(
            "first-for-all",
            "every layer is counted like the first: each has its own window",
            _other(_first_for_all),
        ),
        Mutant(
            "rounded-up",
            "the number of requests is rounded up: the last one does not fit",
            _other(_rounded_up),
        ),
    ),
)
