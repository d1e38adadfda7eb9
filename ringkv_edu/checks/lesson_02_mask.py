"""Lesson 02: attention through a mask that is made from the stored positions."""

from __future__ import annotations

from random import Random

import numpy as np

from . import lesson_02_mask_mistakes as wrong
from .code_case import code_case
from .lesson_02_mask_mistakes import attend_seen
from .model import Case, Exercise, Mutant, answers

__all__ = ["MASK"]

LARGE = -1e9  # what many programs write in place of minus infinity
STYLES = ("", "-rows", "-large")
LARGE_SCORES = (  # the largest of all is seen: a maximum over all slots does no harm
    "q, keys = np.array([1000.0]), np.array([[0.5], [1.0], [0.9], [-0.5]]); "
    "out = attend_seen(q, keys, keys + 1, np.array([4, 5, -1, 3]), 5, 2)"
)
HIDDEN_LARGEST = (  # and every score that is seen is lower than most stand-ins for minus infinity
    "q, keys = np.array([1e6]), np.array([[-0.5], [-1.0], [0.5]]); "
    "values = np.array([[1.0], [2.0], [3.0]]); "
    "out = attend_seen(q, keys, values, np.array([4, 5, 3]), 5, 2)"
)


def _mask_cases(rng: Random) -> list[Case]:
    empty = "np.array([[{0}], [0.0], [0.0], [0.0]])"
    by_hand = (
        f"q, keys, values = np.array([1.0]), {empty.format(0.3)}, {empty.format(1.0)}; "
        "out = attend_seen(q, keys, values, np.array([0, -1, -1, -1]), 0, 4)"
    )
    # tokens so far, window, slack, taken back, the query's position
    states = [(3, 4, 0, 0, 2), (4, 4, 0, 0, 3), (5, 4, 0, 0, 4), (103, 4, 0, 0, 102)]
    states += [(3, 1, 0, 0, 2), (6, 1, 2, 0, 5), (1, 3, 0, 0, 0)]  # windows of one, one token
    states += [(9, 4, 2, 0, 8), (8, 3, 0, 2, 7), (13, 4, 3, 2, 12)]  # slack, and tokens taken back
    states += [(9, 3, 2, 0, 7), (11, 4, 3, 0, 8)]  # tokens after the query
    window, slack = rng.randrange(2, 6), rng.randrange(1, 4)
    seen = rng.randrange(20, 60)
    states += [(seen, window, slack, 0, seen - 1), (seen, window, slack, 1, seen - 1)]
    lines = [by_hand, *(_drawn(rng.randrange(1000), *state) for state in states)]
    lines += [LARGE_SCORES, HIDDEN_LARGEST]
    return [
        code_case(line, "attend_seen", lambda space: {"result": space["out"]}) for line in lines
    ]


def _drawn(seed: int, seen: int, window: int, slack: int, back: int, query: int) -> str:
    sizes = f"{seen}, rng, {window}"
    sizes += f", slack={slack}" if slack else ""
    sizes += f", taken_back={back}" if back else ""
    return (
        f'rng = draw({seed}, "np5"); ring = filled_arrays({sizes}); '
        "q = numbers(rng, 2); "
        f"out = attend_seen(q, ring.keys[0], ring.values[0], ring.positions, {query}, {window})"
    )


MAY_SEE_NOTHING: tuple[tuple[str, str, wrong.Test], ...] = (
    (
        "too-narrow",
        "the window is one too narrow: W counts the token itself once",
        lambda p, q, w: wrong.sees(p, q, w - 1),
    ),
    (
        "not-itself",
        "a token does not see itself: distance 0 is in the window",
        lambda p, q, w: wrong.sees(p, q, w) & (p != q),
    ),
    (
        "zero-dropped",
        "position 0 is taken for empty: it is a real token",
        lambda p, q, w: wrong.sees(p, q, w) & (p > 0),
    ),
    (
        "slots-compared",
        "the query's position is compared with the numbers of the slots: compare it with the "
        "stored positions",
        lambda p, q, w: wrong.sees(np.arange(len(p)), q, w),
    ),
)

MASK = Exercise(
    id="np5-mask",
    names=("attend_seen",),
    cases=_mask_cases,
    reference=answers(attend_seen),
    mutants=(
        Mutant(
            "no-mask",
            "there is no mask: a zero key is not a zero weight, so empty slots take part",
            wrong.masked(lambda p, q, w: np.full(len(p), True)),
        ),
        Mutant(
            "mask-after",
            "the mask comes after the softmax: the weights that are left no longer add up to 1. "
            "Mask the scores",
            answers(attend_seen=wrong.mask_after),
        ),
        Mutant(
            "scores-zero",
            "the scores of what is not seen become 0, and exp(0) is 1: they must become minus "
            "infinity, or be left out",
            wrong.scores_changed(lambda scores, seen: np.where(seen, scores, 0.0)),
        ),
        Mutant("finite", wrong.FINITE, wrong.scores_changed(wrong.finite)),
        Mutant("hidden-counted", wrong.COUNTED, answers(attend_seen=wrong.hidden_counted)),
        Mutant("hidden-zeroed", wrong.ZEROED, answers(attend_seen=wrong.hidden_zeroed)),
        Mutant(
            "zeroed-in-place",
            "hidden slots are set to zero in the ring itself: later queries need them, and a zero "
            "key has the score 0, and exp(0) is 1. Mask the scores",
            answers(attend_seen=wrong.zeroed_in_place),
        ),
        Mutant(
            "nan",
            "the mask is multiplied by infinity, and 0 times infinity is NaN: choose with np.where",
            wrong.scores_changed(lambda scores, seen: scores * np.nan),
        ),
        Mutant(
            "inverted",
            "the mask is the wrong way round: True means seen, and what is not seen is left out",
            wrong.masked(lambda p, q, w: ~wrong.sees(p, q, w)),
        ),
        Mutant(
            "counter",
            "the mask comes from a counter of tokens: with holes, slack or a wrap only the stored "
            "positions tell",
            wrong.masked(wrong.first(lambda positions, query: query + 1)),
        ),
        Mutant(
            "count-stored",
            "the mask is slot < count: with holes, the tokens are not in the first slots, and with "
            "slack not all of them are seen",
            wrong.masked(wrong.first(lambda positions, query: int((positions >= 0).sum()))),
        ),
        Mutant(
            "too-wide",
            "the window is one too wide, as if written t - W",
            wrong.masked(lambda p, q, w: wrong.sees(p, q, w + 1)),
        ),
        Mutant(
            "future",
            "keys after the query are seen: it looks into the future",
            wrong.masked(lambda p, q, w: (p >= 0) & (q - p < w)),
        ),
        Mutant(
            "stored-is-enough",
            "every stored token is seen, also those that left the window or lie in the future",
            wrong.masked(lambda p, q, w: p >= 0),
        ),
        Mutant(
            "no-window",
            "everything at or before the query is seen: the window is not used",
            wrong.masked(lambda p, q, w: (p >= 0) & (p <= q)),
        ),
        Mutant(
            "empty-passes",
            "an empty slot is seen: -1 looks like a position just before 0, so it must be ruled "
            "out by itself",
            wrong.masked(lambda p, q, w: (p <= q) & (q - p < w)),
        ),
        Mutant(
            "window-only",
            "only the far edge of the window is asked for: empty slots and tokens after the query "
            "pass",
            wrong.masked(lambda p, q, w: q - p < w),
        ),
        Mutant(
            "newest-as-query",
            "the newest stored position stands for the query's: tokens after the query may be "
            "stored already",
            answers(attend_seen=wrong.newest_as_query),
        ),
        *(
            Mutant(name + style, sentence, wrong.masked(test, style))
            for name, sentence, test in MAY_SEE_NOTHING
            for style in STYLES
        ),
        Mutant(
            "and",
            "`and`, or a chain like 0 <= x < w, is used on arrays: it asks one question of a whole "
            "array. Join comparisons with &, each in brackets of its own",
            answers(attend_seen=wrong.joined_by_and),
        ),
        Mutant(
            "values-unpicked",
            "the scores of the slots that are seen are picked, and the values are not: take "
            "values[seen], too",
            answers(attend_seen=wrong.values_unpicked),
        ),
        Mutant(
            "no-scale",
            "the scores are not divided by sqrt(head_dim)",
            wrong.steps_changed(scale=lambda keys: 1.0),
        ),
        Mutant(
            "overflow",
            "the largest score is not subtracted before exp, and infinity over infinity is NaN",
            wrong.steps_changed(top=lambda scores: 0.0),
        ),
    ),
)
