"""Section B of the bug reports: prefill longer than the window, and chunks."""

from __future__ import annotations

import numpy as np

from .adapter import Subject
from .case import Collector
from .twin import TOLERANCE, Differs, Twin

__all__ = ["CASES"]

CASES = Collector()
case = CASES.case
LONGEST = 40


@case("10", "Lightning-AI/litgpt#2182", "a chunk longer than the window leaks no future")
def no_future(subject: Subject) -> None:
    """Prefill ten, step six, then a chunk of three over the full ring."""
    twin = Twin(subject, window=4)
    twin.step(10)
    for _ in range(6):
        twin.step()
    twin.step(3)


@case("10a", "Lightning-AI/litgpt#2182", "changing the last token changes no earlier output")
def perturbed_future(subject: Subject) -> None:
    """Prefill the same ten tokens twice, the last value changed: rows 0 to 8 stay."""
    outputs = []
    for change in (0.0, 7.0):
        twin = Twin(subject, window=4)
        q, k, v = twin.draw(10)
        v[:, -1] += np.float32(change)
        outputs.append(np.array(twin.give("step", q, k, v)))
    apart = np.abs(outputs[0] - outputs[1]).max(axis=(0, 2))[:9]
    moved = np.flatnonzero(~(apart <= TOLERANCE))  # NaN has moved, too
    if moved.size:
        raise Differs(f"token 9 was changed, and the output of token {moved[0]} moved")


@case("11", "lablup/mlxcel#405", "no row of a chunk is left without keys")
def finite_rows(subject: Subject) -> None:
    """Feed ten tokens in five ways, then go on for two windows."""
    for sizes in ((4, 4, 2), (3, 7), (1, 9), (9, 1), (5, 5)):
        twin = Twin(subject, window=4)
        for n in sizes:
            twin.step(n)
        for _ in range(8):
            twin.step()


@case("13", "pytorch/executorch#21857", "each row of a chunk has its own lower bound")
def bound_per_row(subject: Subject) -> None:
    """Append six, then a chunk of four: row r sees r + 3 to r + 6."""
    twin = Twin(subject, window=4)
    for _ in range(6):
        twin.append()
    twin.step(4)


@case("16", "tomaarsen/attention_sinks#17", "late rows of a prefill see the sinks", "sinks")
def sinks_in_a_prefill(subject: Subject) -> None:
    """Prefill ten tokens at once with two sinks."""
    twin = Twin(subject, window=4, sinks=2)
    twin.step(10)
    twin.step()


@case("18", "ollama/ollama#12543", "two caches share nothing, and a chunk's room is given back")
def no_headroom_kept(subject: Subject) -> None:
    """Prefill one sequence, work on another, then look at the first: at most four may stay."""
    first, second = Twin(subject, window=4), Twin(subject, window=4)
    first.append(8)
    for n in (1, 6, 1, 1):
        second.step(n)
    first.expect_bounded()
    second.expect_bounded()
    first.attend()
    for _ in range(3):
        first.step()
        second.step()


@case("31", "ml-explore/mlx-examples#1000", "chunks and single tokens may come in any order")
def any_order(subject: Subject) -> None:
    """Interleave chunks and single tokens at random, 200 seeds, windows 1 to 5."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        twin = Twin(subject, window=1 + seed % 5)
        while twin.seen < 16:
            (twin.append if rng.random() < 0.5 else twin.step)(int(rng.choice([1, 1, 2, 3, 7])))
            twin.expect_needed()


@case("31a", "ml-explore/mlx-examples#1000", "the same with sinks", "sinks")
def any_order_with_sinks(subject: Subject) -> None:
    """Interleave chunks and single tokens at random, with 1 to 3 sinks."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        twin = Twin(subject, window=1 + seed % 5, sinks=1 + seed % 3)
        while twin.seen < 16:
            (twin.append if rng.random() < 0.5 else twin.step)(int(rng.choice([1, 1, 2, 3, 7])))
            twin.expect_needed()
        twin.step()


@case("31b", "ml-explore/mlx-examples#1093", "what is held does not depend on the path")
def same_size_by_any_path(subject: Subject) -> None:
    """Reach the same lengths by single tokens and by chunks, and compare what is held."""
    for window in (1, 2, 4):
        one, chunked = Twin(subject, window), Twin(subject, window)
        for n in (1, 2, 3, 1, 5, 9, 1):
            chunked.append(n)
            for _ in range(n):
                one.append()
            if one.held != chunked.held:
                raise chunked.differs(
                    f"after {one.seen} tokens it holds {one.held} when they came one by one, "
                    f"{chunked.held} after a chunk of {n}"
                )


@case("31c", "ml-explore/mlx-examples#1000", "a whole life: chunks, single tokens, taking back")
def whole_life(subject: Subject) -> None:
    """Do everything in any order, 60 seeds, with sinks and slack if there are any."""
    for seed in range(60):
        _live(subject, seed, ["append", "step", "rewind"], (0.3, 0.4, 0.3))


@case("31d", "ml-explore/mlx-examples#1000", "a whole life, saved and loaded now and then", "state")
def whole_life_saved(subject: Subject) -> None:
    """Do the same, and save and load in between."""
    for seed in range(60):
        _live(subject, seed, ["append", "step", "rewind", "restore"], (0.25, 0.3, 0.25, 0.2))


def _live(subject: Subject, seed: int, actions: list[str], how_often: tuple[float, ...]) -> None:
    rng = np.random.default_rng(seed)
    sinks, slack = (
        int(rng.integers(0, 4)) if name in subject.offers else 0 for name in ("sinks", "slack")
    )
    twin = Twin(subject, 1 + seed % 6, sinks, slack)
    for _ in range(14):
        what = str(rng.choice(actions, p=how_often))
        if what == "rewind":
            twin.rewind(int(rng.integers(0, min(5, twin.seen) + 1)))
        elif what in ("append", "step"):
            getattr(twin, what)(int(rng.choice([1, 1, 2, 3, 8])))
        else:
            getattr(twin, what)()
        twin.expect_needed()
        twin.attend()
        if twin.seen > LONGEST:  # the oracle's time grows with its square
            break
    twin.step()
