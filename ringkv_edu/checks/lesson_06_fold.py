"""Lesson 06: folding a vector into a fixed number of means, each with its count."""

from __future__ import annotations

from random import Random
from typing import Any

from ..given_numpy import numbers
from . import lesson_06_fold_mistakes as wrong
from .code_case import code_case
from .lesson_06_common import GIVEN
from .lesson_06_fold_mistakes import changed, fold
from .model import Case, Exercise, Mutant, answers

__all__ = ["FOLD"]


def _fold_cases(rng: Random) -> list[Case]:
    slots, block = rng.randrange(2, 5), rng.randrange(2, 4)
    tokens = slots * block + rng.randrange(1, 4)
    ready = [
        (3, 2, [], 1),  # an empty bank
        (3, 2, [1], 1),  # the last one grows
        (3, 2, [2], 1),  # a new one begins
        (3, 2, [2, 2, 1], 1),  # all taken, and the last one grows
        (3, 2, [2, 2, 2], 1),  # two merge
        (3, 2, [4, 2, 2], 1),  # counts that differ
        (3, 3, [9, 3, 3], 2),
        (2, 4, [12, 4], 1),
        (4, 1, [5, 1, 1, 1], 2),
        (3, 4, [4, 2], 2),
    ]
    runs = [(3, 2, 12), (2, 1, 5), (2, 5, 8), (slots, block, tokens), (slots, block, 3 * tokens)]
    copied = "x = np.array([1.5, -2.0]); bank = Bank(2, 1); fold(bank, x); x += 1; fold(bank, x)"
    return [
        *(_ready(rng, *one) for one in ready),
        *(_run(rng.randrange(1000), *run) for run in runs),
        _case(copied + "; x += 1"),
    ]


def _case(line: str) -> Case:
    def look(space: dict[str, Any]) -> dict[str, Any]:
        bank = space["bank"]
        return {"bank.counts": bank.counts, "bank.means": bank.means}

    return code_case(line, "fold", look, may_change=(0,), given=GIVEN)


def _ready(rng: Random, slots: int, block: int, counts: list[int], tokens: int) -> Case:
    means = numbers(rng, len(counts), 2).tolist()
    line = f"bank = Bank({slots}, {block}, {means}, {counts})" if counts else "bank = Bank(3, 2)"
    for vector in numbers(rng, tokens, 2).tolist():
        line += f"; fold(bank, np.array({vector}))"
    return _case(line)


def _run(seed: int, slots: int, block: int, tokens: int) -> Case:
    folds = f"[fold(bank, numbers(rng, 2)) for _ in range({tokens})]"
    return _case(f'rng = draw({seed}, "ps4"); bank = Bank({slots}, {block}); {folds}')


FOLD = Exercise(
    id="ps4-fold",
    names=("fold",),
    cases=_fold_cases,
    reference=answers(fold),
    mutants=(
        Mutant(
            "merge-unweighted",
            "two summaries are merged half and half: one that stands for more tokens must weigh "
            "more",
            changed(merge=lambda bank: wrong.merge_first(bank, lambda a, n, b, m: (a + b) / 2)),
        ),
        Mutant(
            "count-not-added",
            "the merged summary keeps the count of the first: it stands for the tokens of both",
            changed(merge=wrong.count_lost),
        ),
        Mutant(
            "counts-first",
            "the counts are added before the means are weighted with them: the first mean then "
            "has the weight of both",
            changed(merge=wrong.counts_first),
        ),
        Mutant(
            "dropped",
            "the oldest summary is thrown away where the two oldest should merge: its tokens are "
            "gone, which is a hole",
            changed(merge=wrong.drop_oldest),
        ),
        Mutant(
            "second-left",
            "the second of the merged summaries is left where it was: its tokens are counted twice",
            changed(merge=wrong.second_left),
        ),
        Mutant(
            "merged-last",
            "the merged summary is put behind the others: it is the oldest, so it comes first",
            changed(merge=wrong.merged_last),
        ),
        Mutant(
            "merged-as-blocks",
            "a merged summary is taken to be two blocks: it may be more, add the counts",
            changed(merge=wrong.as_blocks),
        ),
        Mutant(
            "vector-lost",
            "two summaries merge and the vector is left out: merging makes room for it",
            answers(fold=wrong.vector_lost),
        ),
        Mutant(
            "merges-newest",
            "the two newest summaries are merged: merge the two oldest",
            changed(merge=wrong.merge_newest),
        ),
        Mutant(
            "merges-least",
            "the two neighbours with the fewest tokens are merged: a good rule, but here the two "
            "oldest are asked for",
            changed(merge=wrong.merge_least),
        ),
        Mutant(
            "never-merges",
            "a new summary begins although all are taken: the bank grows for ever",
            changed(merge=lambda bank: None),
        ),
        Mutant(
            "merges-early",
            "two are merged while one summary is still free",
            changed(full=lambda bank: len(bank.counts) >= max(2, bank.slots - 1)),
        ),
        Mutant(
            "merges-anyway",
            "two are merged although the last summary still has room for the vector",
            answers(fold=wrong.merged_anyway),
        ),
        Mutant(
            "into-the-merged",
            "the vector goes into the merged summary: it is newer than all that is in there. "
            "Merging makes room, and it begins a summary of its own",
            answers(fold=wrong.into_the_merged),
        ),
        Mutant(
            "grows-on",
            "once all summaries are taken the last one grows for ever, and nothing merges",
            answers(fold=wrong.grows_on),
        ),
        Mutant(
            "one-too-many",
            "a summary takes one vector more than a block",
            changed(room=lambda bank: bank.counts[-1] <= bank.block),
        ),
        Mutant(
            "one-too-few",
            "a summary takes one vector less than a block",
            changed(room=lambda bank: bank.counts[-1] < bank.block - 1),
        ),
        Mutant(
            "first-has-room",
            "the first summary's count decides whether there is room: it is the last one that "
            "grows",
            changed(room=lambda bank: bank.counts[0] < bank.block),
        ),
        Mutant(
            "of-none",
            "an empty bank is asked for the count of its newest summary: ask first whether there "
            "is one",
            answers(fold=wrong.of_none),
        ),
        Mutant(
            "count-kept",
            "the newest summary's mean grows and its count does not",
            answers(fold=wrong.count_kept),
        ),
        Mutant(
            "half-and-half",
            "the new vector gets half the weight of the mean: it is one among count + 1",
            changed(grow=lambda mean, count, vector: (mean + vector) / 2),
        ),
        Mutant(
            "count-too-late",
            "the mean is divided by the old count: the new vector is one more",
            changed(grow=lambda mean, count, vector: mean + (vector - mean) / count),
        ),
        Mutant(
            "count-too-early",
            "the count is raised before the mean is weighted with it: the old mean stands for one "
            "vector less",
            changed(grow=lambda mean, n, vector: wrong.running(mean, n + 1, vector)),
        ),
        Mutant(
            "sum",
            "the vectors are added up: a summary is their mean",
            changed(grow=lambda mean, count, vector: mean + vector),
        ),
        Mutant(
            "newest-kept",
            "the vector replaces the mean",
            changed(grow=lambda mean, count, vector: vector.copy()),
        ),
        Mutant(
            "counted-as-none",
            "a new summary begins with the count 0: it has one vector already",
            changed(begin=wrong.counted_as_none),
        ),
        Mutant(
            "counted-as-block",
            "a new summary begins with the count of a whole block: it has one vector so far",
            changed(begin=wrong.counted_as_block),
        ),
        Mutant(
            "by-reference",
            "the caller's vector itself is stored: the caller uses it again, and the summary "
            "changes with it. Store a copy",
            changed(begin=wrong.by_reference),
        ),
        Mutant(
            "in-place",
            "the caller's vector is written over",
            answers(fold=wrong.in_place),
        ),
        Mutant(
            "newest-first",
            "the newest summary stands first: the oldest comes first",
            answers(fold=wrong.newest_first),
        ),
    ),
)
