"""Draws the caches on which a graded cell tries a test: which fault, and where it shows."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from .batches import kept, padded, pools
from .reads import masks, reads, saves
from .steps import means, steps

__all__ = ["drawn"]

MANY = range(2, 1000)


def drawn(case: str, rng: Random) -> list[type]:
    """Give classes with the methods of a case's toy, right ones and wrong ones, shuffled."""
    classes = CASES[case](rng)
    rng.shuffle(classes)
    return classes


def _order(rng: Random) -> str:
    return rng.choice(["newest first", "as slots"])


def _window(rng: Random) -> list[int]:
    return [rng.choice([2, 3, 5, 6])]


def _windows(rng: Random) -> list[type]:
    return [
        steps(order=_order(rng)),
        steps(order="set"),
        steps("one more"),
        steps("one more", chunks=[1]),
        steps("one less", chunks=MANY),
        steps("one more", chunks=MANY, windows=_window(rng)),
        steps("one more", chunks=MANY, starts=range(rng.randrange(1, 4), 99)),
        steps("one more", chunks=MANY, positions=range(7, 7 + rng.randrange(1, 3))),
        steps("not itself", positions=range(7, 99)),
    ]


def _starts(rng: Random) -> list[type]:
    window = rng.choice([4, 5, 6])
    return [
        reads(),
        reads(),
        reads("empty slot", lengths=[1]),
        reads("newest twice", [window], range(2, window)),
        reads("out of order", lengths=range(12 + rng.randrange(3), 20)),
        reads("out of order", _window(rng)),
        reads("out of order", [4], [6, 7]),
        reads("oldest missing", [window], [rng.choice([window - 1, window])]),
        reads("empty slots too"),
    ]


def _keys(rng: Random) -> list[type]:
    return [
        means(weights=True),
        means(),
        means("cut", _window(rng)),
        means("cut", starts=range(rng.randrange(1, 4), 99)),
        means("cut", positions=[rng.randrange(2, 5)]),
        means("cut, never empty"),
        means("one more", starts=[0]),
        means("zeros for empty slots"),
        means("itself alone", positions=range(rng.randrange(9, 12), 13)),
    ]


def _halves(rng: Random) -> list[type]:
    return [
        masks(order=_order(rng)),
        masks(spare=rng.randrange(1, 4), order=_order(rng)),
        masks("half", _window(rng)),
        masks("half, never empty"),
        masks("nothing", lengths=range(16 + rng.randrange(3), 20)),
        masks("one less", _window(rng), spare=2),
        masks("all that is held", spare=rng.randrange(1, 4)),
        masks("half", lengths=range(8, 10)),
        masks("one behind", spare=rng.randrange(1, 3)),
    ]


def _flags(rng: Random) -> list[type]:
    return [
        saves(order=_order(rng)),
        saves("empty slots", _window(rng)),
        saves("empty slots", lengths=[0]),
        saves("empty slots", lengths=[rng.randrange(1, 3)]),
        saves("turned", [rng.choice([3, 5, 6])], [2]),
        saves("nothing", _window(rng)),
        saves("empty slots", lazy=True),
        saves(),
        saves("newest missing", lengths=range(7 + rng.randrange(3), 99)),
    ]


def _pads(rng: Random) -> list[type]:
    return [
        padded(order=_order(rng)),
        padded(order="set"),
        padded("evicts", _window(rng)),
        padded("evicts", rows=[1]),
        padded("evicts", rows=[2]),
        padded("sees", sides=["right"]),
        padded("short"),
        padded("evicts", sides=["left"], starts=range(1, 99)),
        padded("evicts", sides=["right"]),
        padded("seen"),
        padded("mixed"),
    ]


def _keeps(rng: Random) -> list[type]:
    return [
        kept(order=_order(rng)),
        kept(order="set"),
        kept("lost", [4]),
        kept("lost", _window(rng)),
        kept("lost", rows=[1]),
        kept("lost", keeps=[rng.randrange(2, 4)]),
        kept("of the first"),
        kept("of the last"),
        kept("newest missing", keeps=[1, 2, 3]),
        kept("at least one"),
        kept("window lost", keeps=[1, 2, 3]),
        kept("others kept"),
    ]


def _pools(rng: Random) -> list[type]:
    return [
        pools(order=_order(rng)),
        pools(spare=1),
        pools("idle", _window(rng)),
        pools("idle", sequences=[3]),
        pools("idle lost"),
        pools("idle", sequences=[2]),
        pools("one short"),
        pools("full", sequences=[3]),
        pools("one more"),
        pools("mixed"),
    ]


CASES: dict[str, Callable[[Random], list[type]]] = {
    "window": _windows,
    "start": _starts,
    "keys": _keys,
    "half": _halves,
    "flag": _flags,
    "pads": _pads,
    "keep": _keeps,
    "pool": _pools,
}
