"""What lesson 09 and its map say in prose, in tables and in pictures, computed again."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from math import exp
from pathlib import Path
from random import Random

import numpy as np
import pytest

from ringkv_edu.audit import rows as audit_rows
from ringkv_edu.checks.judge import WIDEST
from ringkv_edu.checks.lesson_09 import EXERCISES
from ringkv_edu.checks.lesson_09_predict import CHOICES, errors
from ringkv_edu.figures.other_roads import draw_other_roads
from ringkv_edu.figures.other_roads_table import (
    EIGHT_BITS,
    ENTRY,
    FEW_BITS,
    LENGTHS,
    ROADS,
    SHOWN,
    STATE,
    WINDOW,
    lines,
    size_text,
)  # fmt: skip
from ringkv_edu.figures.paged_window import held_blocks
from ringkv_edu.given_beyond import Pool, drawn_block, fork, serve, start, tokens_of
from ringkv_edu.given_numpy import numbers
from ringkv_edu.graded import draw
from ringkv_edu.paged import PagedSequence, PagePool
from ringkv_edu.paged import pages_needed as needed
from ringkv_edu.paged_serving import PrefixIndex, fragmentation
from ringkv_edu.quantize import quantize, relative_error
from ringkv_edu.recorded import row
from ringkv_edu.tiled import fold, tiled_attention
from ringkv_edu.tiled import start as first_state
from ringkv_edu.visibility import oracle_attention

ROOT = Path(__file__).resolve().parents[1]
LESSON = (ROOT / "course/lessons/09_beyond_the_ring.py").read_text(encoding="utf-8")
PROSE = " ".join(LESSON.replace("\n#", " ").split())
PAGE = (ROOT / "course/other_roads.md").read_text(encoding="utf-8")
REFERENCE = {name: value for e in EXERCISES for name, value in e.reference.items()}
LINES = [(e, case.given) for e in EXERCISES for case in e.cases(Random(0))]
ROWS = {one.id: one for one in audit_rows()}
MISTAKES = {m.name: m.answer for e in EXERCISES for m in e.mutants if e.id == "case09-table"}


def stated(audit_row: str, *names: str) -> list[str]:
    """The figures of an audit row, as the course states them."""
    figures = ROWS[audit_row].figures
    return [fig[0] if isinstance(fig, tuple) else fig for fig in map(figures.__getitem__, names)]


def test_reserving_wastes_what_pages_do_not() -> None:
    rng = draw(0, "fragmentation")
    lengths = [1 + int(2047 * rng.random() ** 3) for _ in range(200)]
    assert max(lengths) <= 2048
    assert np.median(lengths) < 512
    whole = fragmentation(lengths, 2048, 2048)
    assert whole.paged == whole.reserved
    assert fragmentation(lengths, 2048, 16).paged < 1.02 * whole.stored


@pytest.mark.parametrize("size", range(1, 6))
@pytest.mark.parametrize("window", range(1, 12))
def test_a_window_over_pages(window: int, size: int) -> None:
    most = 0
    sequence = PagedSequence(PagePool(window + 3, size, 1, 1), window)
    for position in range(4 * window + 9):
        leaving = REFERENCE["leaving"](dict(sequence.table), position, window, size)
        before = set(sequence.table)
        sequence.append(np.zeros((1, 1)), np.zeros((1, 1)))
        assert sorted(leaving) == sorted(before - set(sequence.table))
        first = max(0, position - window + 1)
        assert sorted(sequence.table) == sorted({p // size for p in range(first, position + 1)})
        most = max(most, len(sequence.table))
    assert REFERENCE["pages_needed"](window, size) == needed(window, size) == most


def test_the_table_and_the_picture_of_pages() -> None:
    held = held_blocks()
    for query, gone in ((8, ""), (9, "0"), (12, ""), (13, "1")):
        blocks = " ".join(map(str, held[query]))
        row_ = f"| {query} | {query - 5} to {query} | {blocks} | {gone} |"
        assert row_.replace("|  |", "| |") in LESSON
        table = {block: 0 for block in range(4)}
        left = REFERENCE["leaving"](table, query, 6, 4)
        assert set(left) == set(range(min(held[query])))
    assert needed(1024, 16) == 65
    assert "With W = 1,024 and pages of 16 a text holds up to 65 pages" in PROSE


def owners_after_each(write) -> list[list[int]]:
    pool, a, found = Pool(3, 4), {}, []
    for position in range(6):
        write(pool, a, position, position)
    found.append(list(pool.owners))
    b = fork(pool, a)
    found.append(list(pool.owners))
    for table, token in ((b, 60), (a, 70)):
        write(pool, table, 6, token)
        found.append(list(pool.owners))
    assert tokens_of(pool, a, 7) == [0, 1, 2, 3, 4, 5, 70]
    assert tokens_of(pool, b, 7) == [0, 1, 2, 3, 4, 5, 60]
    return found


def test_the_table_of_owners() -> None:
    found = owners_after_each(REFERENCE["write_page"])
    rows = ("`a` has written 6 tokens, pages of 4", "`b = fork(pool, a)`", "`b` writes position 6",
            "`a` writes position 6")  # fmt: skip
    for said, owners in zip(rows, found, strict=True):
        assert f"| {said} | {' '.join(map(str, owners))} |" in LESSON


def test_what_a_pool_says() -> None:
    pool = Pool(1, 2)
    table: dict[int, int] = {}
    REFERENCE["write_page"](pool, table, 0, 5)
    assert repr(pool) == "<pool of 1 pages, owners [1], in use {0: [5, None]}>"
    with pytest.raises(ValueError, match="all 1 pages are in use"):
        pool.free_page()
    assert tokens_of(pool, table, 3) == [5, None, "?"]


@pytest.mark.parametrize("seed", range(60))
def test_a_hit_is_what_the_index_finds(seed: int) -> None:
    rng = Random(seed)
    size, blocks, window = rng.randrange(1, 4), rng.randrange(1, 8), rng.randrange(2, 9)
    everything, sliding = ([rng.choice([0, 1, 1]) for _ in range(blocks)] for _ in range(2))
    tokens = list(range(blocks * size))
    for held, width in ((everything, None), (sliding, window)):
        index = PrefixIndex(PagePool(blocks, size, 1, 1))
        for block, there in enumerate(held):
            if there:
                index.pages[tuple(tokens[: (block + 1) * size])] = index.pool.take()
        assert REFERENCE["prefix_hit"](held, size, width) == index.start(tokens, width).seen
    usable = [
        n for n in range(0, blocks * size + 1, size)
        if all(everything[p // size] for p in range(n))
        and all(sliding[p // size] for p in range(max(0, n - window + 1), n))
    ]  # fmt: skip
    assert REFERENCE["hybrid_hit"](everything, sliding, size, window) == usable[-1]


def test_the_table_of_hits() -> None:
    rows = re.findall(r"^# \| `(\[[01, ]+\])` \| (\d+) \| (\d+)", LESSON, re.MULTILINE)
    assert len(rows) == 3
    for held, full, windowed in rows:
        list_ = [int(one) for one in held.strip("[]").split(", ")]
        assert REFERENCE["prefix_hit"](list_, 4, None) == int(full)
        assert REFERENCE["prefix_hit"](list_, 4, 6) == int(windowed)


def test_the_prediction() -> None:
    found = errors()
    assert sorted(found, key=lambda group: found[group]) == REFERENCE["order"]
    for group, words in (
        ("channel", "each channel"),
        ("token", "each token"),
        ("tensor", "the tensor"),
    ):
        assert f"| {words} | {100 * found[group]:.1f} % |" in LESSON
    ratio = found["token"] / found["channel"]
    assert 13 < ratio < 15
    assert REFERENCE["times"] in CHOICES


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("along", [1, 2])
def test_a_drawn_block_has_no_ties(seed: int, along: int) -> None:
    x = drawn_block(Random(seed), 2, 5, 4, along)
    low, spread = x.min(along, keepdims=True), np.ptp(x, along, keepdims=True)
    steps = (x - low) / spread * 255
    assert np.abs(steps - np.floor(steps) - 0.5).min() > 1e-4


def test_a_quantised_block_is_the_packages_but_for_its_half_precision() -> None:
    rng = Random(1)
    keys, values = drawn_block(rng, 2, 8, 4, 1), drawn_block(rng, 2, 8, 4, 2)
    held = REFERENCE["quantized_block"](keys, values)
    for x, (bytes_, scale, low), group in zip((keys, values), held, ("channel", "token")):
        back = REFERENCE["restored"](bytes_, scale, low)
        assert (np.abs(back - x) <= scale / 2 + 1e-12).all()
        theirs = quantize(x, 8, group)
        assert np.abs(theirs.data.astype(int) - bytes_).max() <= 1
        assert scale.shape == theirs.scale.shape
        assert relative_error(x, back) < 0.01


def test_what_scales_cost() -> None:
    keys = quantize(np.zeros((1, 32, 128), np.float32), 8, "channel")
    values = quantize(np.zeros((1, 32, 128), np.float32), 8, "token")
    extra = [(q.scale.nbytes + q.low.nbytes) / q.data.size for q in (keys, values)]
    assert extra == [1 / 8, 1 / 32]
    assert (
        "pay an eighth of a byte for each number, values with 128 channels a thirty-second" in PROSE
    )


def test_what_the_articles_print() -> None:
    assert stated("C8", "times smaller") == ["16"]
    assert "are a sixteenth" in PROSE
    kept = stated("B12", "kept to save 40 %", "kept to save 30 %")
    assert f"with {kept[0]} to {kept[1]} of 32 layers kept in fp16" in PROSE
    assert f"but {stated('B14', 'the whole step, of what it was')[0]} of what it did" in PROSE
    assert "256 MiB in 8 bits and 128 in 4 (64 is printed)" in PROSE
    assert "256 MiB and 128 MiB" in ROWS["B5"].right or "256" in str(ROWS["B5"].figures)
    scores, causal = stated("C1", "scores, GB", "causal, GiB")
    assert (
        f"131,072 tokens {scores} GB in fp16 ({causal} is printed; that is the causal half)"
        in PROSE
    )
    assert "20,000 tokens are 400 million numbers" in PROSE
    assert 20_000**2 == 400e6
    assert stated("C7", "tiles of 128 x 128", "sets of Q, K and V, 128 x 128") == ["5", "1"]
    assert (32 // 4) ** 2 == 64
    assert "64 times the scores" in PROSE
    cold, seconds, share = stated(
        "C13", "96K tokens, GB", "reading them, seconds", "cold tokens readable in 11 %, %"
    )
    assert f"7B model are {cold} GB, {float(seconds):.1f} s a token at 64 GB/s" in PROSE
    assert f"The 11 % are enough to read {share} % of them" in PROSE


def running(tiles: list[list[float]]) -> list[tuple[float, float]]:
    state, found = start(1, 1), []
    for tile in tiles:
        state = REFERENCE["fold_tile"](state, np.array([tile]), np.ones((len(tile), 1)))
        found.append((float(state[0][0]), float(state[1][0])))
    return found


def test_the_table_of_a_running_softmax() -> None:
    (top, total), (new, last) = running([[1.0, 2.0], [4.0, 3.0]])
    assert f"| scores 1, 2 | {top:.0f} | exp(-1) + 1 = {total:.3f} |" in LESSON
    assert f"| scores 4, 3 | {new:.0f} | {total:.3f} exp(-2) + 1 + exp(-1) = {last:.3f} |" in LESSON
    assert last == pytest.approx(total * exp(-2) + 1 + exp(-1))


@pytest.mark.parametrize("seed", range(20))
def test_tiles_in_any_order_are_the_softmax(seed: int) -> None:
    rng = Random(seed)
    n, d = 11, 3
    q, k, v = numbers(rng, 1, n, d), numbers(rng, 1, n, d), numbers(rng, 1, n, d)
    mask = np.tril(np.ones((n, n), bool)) & ~np.tril(np.ones((n, n), bool), -4)
    scores = np.where(mask, q[0] @ k[0].T / d**0.5, -np.inf)
    edges = [0, 3, 4, 8, n]
    tiles = [slice(a, b) for a, b in pairwise(edges)]
    rng.shuffle(tiles)
    state, theirs = start(n, d), first_state(1, n, d)
    with np.errstate(all="raise", under="ignore"):
        for tile in tiles:
            state = REFERENCE["fold_tile"](state, scores[:, tile], v[0, tile])
            theirs = fold(theirs, scores[None, :, tile], v[:, tile])
    for mine, other in zip(state, theirs):
        np.testing.assert_allclose(mine, np.squeeze(other), rtol=1e-12)
    np.testing.assert_allclose(
        state[2] / state[1][:, None], oracle_attention(q, k, v, 4)[0], rtol=1e-9
    )


def test_twice_the_tokens() -> None:
    work = []
    for n in (64, 128, 256):
        x = np.ones((1, n, 2))
        work.append([tiled_attention(x, x, x, w, tile=(8, 8))[1] for w in (None, 16)])
    for shorter, longer in pairwise(work):
        whole, window = (b.computed / a.computed for a, b in zip(shorter, longer))
        assert 3.7 < whole < 4
        assert 2 <= window < 2.2
        assert shorter[0].held == longer[0].held


def test_bytes_of_the_roads_are_the_packages() -> None:
    kv_heads, d, block = 8, 128, 32
    x = np.zeros((kv_heads, block, d), np.float32)
    few = (quantize(x, 4, "channel").nbytes + quantize(x, 4, "token").nbytes) / block
    assert few == FEW_BITS
    assert 2 * quantize(x, 8, "token").nbytes / block == EIGHT_BITS
    assert ENTRY == 4096
    assert kv_heads * (d * d + d) * 4 == STATE
    six = next(road for road in ROADS if road.name == "one layer in six global")
    mixed = entries_in([WINDOW] * 5 + [None], SHOWN) * ENTRY / 6
    assert six.held(SHOWN) == mixed
    assert f"{FEW_BITS / ENTRY:.2f} n entries" in next(
        r.formula for r in ROADS if "4 bits" in r.name
    )


def entries_in(windows: list[int | None], tokens: int) -> int:
    return sum(tokens if window is None else min(window, tokens) for window in windows)


def test_no_road_holds_more_exact_tokens_than_it_has_room_for() -> None:
    for road in ROADS:
        for n in LENGTHS:
            assert road.exact(n) * ENTRY <= road.held(n) + 1
            assert road.held(n) <= ENTRY * n
    held = [road.held(SHOWN) for road in ROADS]
    assert held == sorted(held, reverse=True)


def test_the_map_and_the_lesson_say_what_is_drawn() -> None:
    for line in lines():
        assert line in PAGE
    alt = draw_other_roads().alt
    assert f"![{alt}](figures/other_roads.png)" in " ".join(PAGE.split())
    assert len(ROADS) == 13
    assert "has all thirteen" in PROSE
    assert "thirteen roads side by side" in " ".join(PAGE.split())
    table = LESSON.split("at 32,768 tokens | MiB | exact |")[1].split("course/other_roads.md")[0]
    shown = re.findall(r"^# \| ([a-z][^|]*) \| ([\d.]+) \| ([\w,]+) \|$", table, re.MULTILINE)
    assert len(shown) == 7
    by_name = {road.name: road for road in ROADS}
    for name, mib, exact in shown:
        road = by_name[name]
        assert size_text(road.held(SHOWN)) == mib
        assert road.still_exact.partition(";")[0] == exact
    below = PAGE.split("## What is lost")[1]
    for road in ROADS:
        assert f"| {road.name} | " in below
    assert (
        row("retrieved", "sinks")["codes_right"],
        row("retrieved", "sinks-retrieved")["codes_right"],
    ) == (0, 10)
    assert "ten codes of ten back with it, and none without" in PAGE


def test_the_case_file_writes_on_somebody_elses_page() -> None:
    table, bug = [3, 1, 0, 0], MISTAKES["as-reported"]["place_of"]
    mended = REFERENCE["place_of"]
    line = "| looked up | " + " | ".join(f"page {bug(table, 2, 4, p)[0]}" for p in (5, 9, 13))
    assert f"{line} | none |" in LESSON
    with pytest.raises(IndexError):
        bug(table, 2, 4, 17)
    line = "| should be | " + " | ".join(
        f"page {mended(table, 2, 4, p)[0]}" for p in (5, 9, 13, 17)
    )
    assert f"{line} |" in LESSON
    assert serve(bug, table, 2, 4, 8, 8) == (list(range(8)), [])
    assert serve(bug, table, 2, 4, 8, 11)[1] == [0]
    assert serve(mended, table, 2, 4, 8, 40) == (list(range(32, 40)), [])


def test_no_line_of_a_case_is_cut() -> None:
    for exercise, line in LINES:
        assert len(f"{exercise.id}: not yet. Case 10 of 20: {line}") <= WIDEST


def test_the_lesson_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from ringkv_edu.checks.lesson_09 import EXERCISES\n"
        "from ringkv_edu.paged_serving import fragmentation\n"
        "from ringkv_edu.quantized_ring import QuantizedRing\n"
        "from ringkv_edu.tiers import TieredCache\n"
        "print(len(EXERCISES))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"
