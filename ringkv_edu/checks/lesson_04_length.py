"""Lesson 04, case file: a length that stops at W (after huggingface/transformers#38156)."""

from __future__ import annotations

from functools import partial
from itertools import islice
from random import Random
from string import ascii_lowercase
from typing import Any

from . import lesson_04_length_mistakes as wrong
from .code_case import CASE
from .guard import call
from .lesson_04_length_mistakes import Fresh, LayerCache, changed, feed, shared_counter
from .model import Answer, Case, Exercise, Mutant, answers

__all__ = ["LENGTH"]


def _length_cases(rng: Random) -> list[Case]:
    window = rng.randrange(2, 6)
    runs = [
        (4, (3,)),
        (4, (6,)),
        (4, (2, 1, 1, 1, 1, 5)),
        (1, (1, 3)),
        (window, tuple(rng.randrange(1, window + 3) for _ in range(3))),
    ]
    cases = []
    for size, chunks in runs:
        letters = iter(ascii_lowercase)
        words = ["".join(islice(letters, chunk)) for chunk in chunks]
        fed = [f'feed(cache, list("{some}"))' for some in words]
        cases.append(_length_case(f"cache = LayerCache({size})", *fed))
    own = '[cache.append(word, cache.length()) for word in "abcd"]'
    cases.append(_length_case("cache = LayerCache(3)", own, 'feed(cache, list("ef"))'))
    two = ('feed(a, list("rstu"))', 'feed(b, list("xy"))', 'feed(a, list("v"))')
    return [*cases, _length_case("a = LayerCache(3)", "b = LayerCache(2)", *two)]


def _length_case(*statements: str) -> Case:
    """Make a case of statements that may be pasted; the caches are looked at after each."""
    codes = [compile(statement, CASE, "exec") for statement in statements]

    def run(answer: Answer) -> dict[str, Any]:
        fed = partial(call, answer.feed, may_change=(0,))
        space: dict[str, Any] = {"LayerCache": answer.LayerCache, "feed": fed}
        out: dict[str, Any] = {}
        for statement, code in zip(statements, codes, strict=True):
            exec(code, space)
            for name in [name for name in ("cache", "a", "b") if name in space]:
                cache, when = space[name], f"after {statement}"
                out[f"{name}.stored {when}"] = [list(pair) for pair in cache.stored]
                out[f"{name}.size() {when}"] = cache.size()
                out[f"{name}.length() {when}"] = cache.length()
        return out

    return Case("; ".join(statements), run)


LENGTH = Exercise(
    id="case04-length",
    names=("LayerCache", "feed"),
    cases=_length_cases,
    reference=answers(LayerCache, feed),
    mutants=(
        Mutant(
            "saturates",
            "length() still counts the stored tokens: that stops at the window, and every later "
            "token gets the same position",
            wrong.SATURATES,
        ),
        Mutant(
            "wraps",
            "length() begins again at 0 after each round: that is the next slot, not the next "
            "position",
            changed(length=lambda cache: cache.seen % cache.window_size),
        ),
        Mutant(
            "one-too-far",
            "length() is one too large, so the first token stands at position 1",
            changed(length=lambda cache: cache.seen + 1),
        ),
        Mutant(
            "newest",
            "length() gives the newest position: the next token stands one further",
            changed(length=lambda cache: max((p for _, p in cache.stored), default=0)),
        ),
        Mutant(
            "one-too-few",
            "length() is one too small, so the first token stands at position -1",
            changed(length=lambda cache: cache.seen - 1),
        ),
        Mutant(
            "stored-from-one",
            "append stores a position one too large: it counts the token before noting where "
            "it stands",
            changed(append=wrong.stores_from_one),
        ),
        Mutant(
            "counted-twice",
            "each token is counted twice",
            changed(append=wrong.counts_each_twice),
        ),
        Mutant(
            "size-grows",
            "size() now gives the length of the text: it must still count what is stored",
            changed(size=lambda cache: cache.seen),
        ),
        Mutant(
            "never-evicts",
            "nothing is let go: the positions are right, and memory grows for ever",
            changed(append=wrong.keeps_all),
        ),
        Mutant(
            "never-evicts-in-secret",
            "nothing is let go, and size() hides it: stored itself must keep the newest tokens "
            "alone",
            changed(append=wrong.keeps_all, size=lambda cache: min(cache.seen, cache.window_size)),
        ),
        Mutant(
            "newest-of-none",
            "length() looks at the last token of a cache that has none yet: there it is 0",
            changed(length=lambda cache: cache.stored[-1][1] + 1),
        ),
        Mutant(
            "counts-when-asked",
            "length() raises the count: whoever asks twice gets two answers. Count in append",
            changed(length=wrong.counts_when_asked),
        ),
        Mutant(
            "shared-counter",
            "all caches count together, on the class or outside of it: each cache needs a counter "
            "of its own (self.seen, set in __init__)",
            Fresh(LayerCache=shared_counter),
        ),
        Mutant(
            "feed-restarts",
            "feed numbers its own words from 0: its second call begins at position 0 again",
            answers(feed=wrong.counts_itself),
        ),
        Mutant(
            "feed-alone",
            "feed numbers the words itself, and length() is as it was: it must be mended, since "
            "the next call, and other code, go by it",
            wrong.SATURATES | answers(feed=wrong.counts_itself),
        ),
        Mutant(
            "feed-from-size",
            "feed counts on by itself, and length() is as it was: a call that comes after the ring "
            "is full begins at the window again",
            wrong.SATURATES | answers(feed=wrong.counts_on),
        ),
        Mutant(
            "counted-in-feed",
            "feed raises the count: a loop of one's own that calls append does not, so append "
            "has to",
            changed(append=wrong.counts_none) | answers(feed=wrong.counts_for_the_cache),
        ),
        Mutant(
            "words-emptied",
            "feed takes the words out of the caller's list: read them and leave them there",
            answers(feed=wrong.empties_words),
        ),
        Mutant(
            "feed-counts-too",
            "feed adds a count of its own to a length that grows by itself",
            answers(feed=wrong.counts_twice),
        ),
    ),
)
