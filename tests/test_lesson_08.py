"""What lesson 08 says in prose, in tables and in its picture, computed again; and what it is given."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from ringkv_edu import given_budget as given
from ringkv_edu import scenes_08 as scenes
from ringkv_edu.audit import rows
from ringkv_edu.audit.shapes import scores
from ringkv_edu.budget import GB, GIB, KIB, MIB, Card, Model, Plan, Policy
from ringkv_edu.budget_presets import CARDS, MODELS
from ringkv_edu.checks.judge import WIDEST
from ringkv_edu.checks.lesson_08 import EXERCISES
from ringkv_edu.checks.lesson_08_gain import solved_length
from ringkv_edu.checks.lesson_08_predict import FACTS
from ringkv_edu.checks.lesson_08_predict import REFERENCE as PREDICTED
from ringkv_edu.checks.lesson_08_predict import gains as two_gains
from ringkv_edu.figures import gain
from ringkv_edu.grading.sealed.view import modules
from ringkv_edu.paged import PagedSequence, PagePool, pages_needed
from ringkv_edu.tiled import tiled_attention
from ringkv_edu.visibility import visibility_mask

ROOT = Path(__file__).resolve().parents[1]
NAME = "08_the_memory_budget"
LESSON = (ROOT / f"course/lessons/{NAME}.py").read_text(encoding="utf-8")
PROSE = " ".join(LESSON.replace("\n#", " ").split())
REFERENCE = {name: value for e in EXERCISES for name, value in e.reference.items()}
LINES = [(e, case.given) for e in EXERCISES for case in e.cases(Random(0))]
K = 1024
SEVEN, CARD = Plan(MODELS["llama-2-7b"]), CARDS["article-80gb"]
THIRTEEN, GEMMA = Plan(MODELS["llama-2-13b"]), Plan(MODELS["gemma-3-4b"])
RING = SEVEN.with_window(1024)
PLANS = {"SEVEN": SEVEN, "THIRTEEN": THIRTEEN, "GEMMA": GEMMA}


def said(*words: str) -> None:
    for one in words:
        assert " ".join(one.split()) in PROSE, one


@pytest.mark.parametrize("name", PLANS)
def test_the_given_shapes_are_the_planners_models(name: str) -> None:
    shape, plan = getattr(given, name), PLANS[name]
    model = plan.model
    assert tuple(shape.windows) == model.windows
    assert (shape.heads, shape.kv_heads, shape.head_dim) == (model.heads, model.kv_heads, model.head_dim)  # fmt: skip
    printed = 26 * GB if name == "THIRTEEN" else plan.weight_bytes  # as article B has it
    assert shape.weights == printed
    assert (given.KIB, given.MIB, given.GIB, given.GB) == (KIB, MIB, GIB, GB)
    assert (given.CARD.memory, given.CARD.bandwidth) == (CARD.memory, CARD.bandwidth)


def test_what_is_given_reckons_nothing() -> None:
    tree = ast.parse((ROOT / "ringkv_edu/given_budget.py").read_text(encoding="utf-8"))
    functions = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    assert functions == ["__repr__"]
    seen = modules(NAME)
    assert "ringkv_edu.given_budget" in seen
    assert "ringkv_edu.scenes_08" in seen
    assert not {"ringkv_edu.budget", "ringkv_edu.budget_presets", "ringkv_edu.paged"} & set(seen)


@pytest.mark.parametrize("seed", range(60))
def test_the_exercises_agree_with_the_planner(seed: int) -> None:
    rng = Random(seed)
    windows = tuple(rng.choice([None, 5, 16, 40]) for _ in range(rng.randrange(1, 5)))
    kv_heads, dim, sinks, slack = rng.choice([1, 2, 4]), 8, rng.randrange(4), rng.randrange(5)
    weights = rng.randrange(1000, 9000)
    model = Model("drawn", 4, kv_heads, dim, windows, weights)
    plan = Plan(model, Policy(None, sinks, slack), cache=rng.choice(["float16", "int8", "int4"]))
    number = {"float16": 2, "int8": 1, "int4": 0.5}[plan.cache]
    shape = given.Shape(windows, 4, kv_heads, dim, 2 * weights)
    tokens, batch = rng.randrange(1, 90), rng.randrange(1, 6)
    planned = REFERENCE["planned_bytes"]
    asked = dict(sinks=sinks, slack=slack, number=number)
    assert planned(shape, tokens, batch, **asked) == plan.cache_bytes(tokens, batch)
    left = REFERENCE["room"](80, "GB", shape.weights, 0.5)
    card = Card("drawn", 80 * GB, 7.0)
    assert left == plan.room(card, 0.5)
    small = replace(card, memory=shape.weights + rng.randrange(500, 90000))
    left = small.memory - shape.weights

    def cache(n: int) -> float:
        return planned(shape, n, **asked)

    assert REFERENCE["most_requests"](left, cache, tokens) == plan.most_requests(small, tokens, 1)
    longest = REFERENCE["longest_context"](left, cache, batch, 2**30)
    assert longest == plan.longest_context(small, batch, 1, most=2**30)


@pytest.mark.parametrize("seed", range(40))
def test_steps_and_gains_agree_with_the_planner(seed: int) -> None:
    rng = Random(seed)
    window, tokens, batch = rng.randrange(4, 40), rng.randrange(2, 400), rng.randrange(1, 9)
    plan = Plan(Model("drawn", 2, 2, 4, (None, None, None), rng.randrange(500, 5000)))
    ring, card = plan.with_window(window), Card("drawn", 10**5, 250.0)
    sizes = (plan.weight_bytes, plan.token_bytes, window)
    step, rate = REFERENCE["step_seconds"], REFERENCE["tokens_a_second"]
    took = ring.step_seconds(card, tokens, batch)
    assert step(*sizes, [tokens] * batch, 250.0) == pytest.approx(took)
    assert rate(*sizes, [tokens] * batch, 250.0) == pytest.approx(batch / took)
    assert REFERENCE["latency_gain"](*sizes, tokens, batch) == pytest.approx(
        ring.gain(plan, card, tokens, batch)
    )
    left = card.memory - plan.weight_bytes
    found = REFERENCE["throughput_gain"](*sizes, tokens, left)
    if plan.most_requests(card, tokens, 1):
        assert found == pytest.approx(ring.throughput_gain(plan, card, tokens, 1))
    else:
        assert found is None
    for wanted in (1.5, 3):
        first = REFERENCE["first_length"](*sizes, wanted, batch, 10**6)
        assert first == solved_length(*sizes, wanted, batch, 10**6)
        assert (
            ring.gain(plan, card, first, batch) >= wanted > ring.gain(plan, card, first - 1, batch)
        )


@pytest.mark.parametrize("seed", range(60))
def test_pairs_are_those_of_the_mask(seed: int) -> None:
    rng = Random(seed)
    n, window, sinks = rng.randrange(1, 30), rng.randrange(1, 20), rng.randrange(5)
    places = np.arange(n)
    pairs = REFERENCE["scored_pairs"]
    assert pairs(n, window, sinks) == visibility_mask(places, places, window, sinks).sum()
    assert pairs(n) == scores(n)
    assert pairs(n, window) == scores(n, window)


def test_pages_are_those_that_a_paged_cache_takes() -> None:
    for window in range(1, 12):
        for page in (1, 2, 4, 5):
            pool = PagePool(60, page, 1, 2)
            sequence, most = PagedSequence(pool, window), 0
            for _ in range(40):
                sequence.append(*np.zeros((2, 1, 2)))
                most = max(most, len(sequence.table))
            assert most == pages_needed(window, page) == 1 + -(-(window - 1) // page)
            assert REFERENCE["requests_at_once"]([window], 40, page, 840) == 840 // most
    lie = [{p // 4 for p in range(first, first + 5)} for first in (0, 3)]
    assert lie == [{0, 1}, {0, 1}]
    assert {p // 4 for p in range(3, 9)} == {0, 1, 2}


def test_the_start() -> None:
    assert f"Of the {len(rows())} statements" in PROSE
    verdicts = Counter(row.verdict.split(":")[0] for row in rows())
    said(f"{verdicts['right']} hold as they stand")
    said(f"2^30, {100 * (GIB / GB - 1):.0f} % more; MiB are {100 * (MIB / 10**6 - 1):.0f} % more")


def test_the_table_of_shapes() -> None:
    def row(plan: Plan) -> str:
        return f"{plan.token_bytes / KIB:g} KiB | {plan.cache_bytes(32 * K) / GIB:g} GiB |"

    model = GEMMA.model
    full = replace(GEMMA, model=replace(model, windows=(None,) * 34))
    for name in ("SEVEN", "THIRTEEN"):
        m = PLANS[name].model
        assert f"| `{name}` | {m.layers} | {m.heads}, {m.kv_heads} | {row(PLANS[name])}" in LESSON
    assert f"| `GEMMA`, if all were global | 34 | 8, 4 | {row(full)}" in LESSON
    held = GEMMA.cache_bytes(32 * K)
    share = f"{held / GIB:.2f} GiB, {100 * held / full.cache_bytes(32 * K):.0f} % |"
    sliding = sum(w is not None for w in model.windows)
    assert f"| `GEMMA`, {sliding} of them sliding, W = 1,024 | 34 | 8, 4 | | {share}" in LESSON
    globals_ = 5 * 32 * K * GEMMA.entry_bytes
    said(f"the 5 global layers hold {100 * globals_ / held:.0f} % of what is held at 32K")
    printed = Plan(MODELS["article-13b"])
    said(f"so {printed.token_bytes / KIB:g} KiB and {printed.cache_bytes(32 * K) / GIB:g} GiB (B6)")
    four = replace(SEVEN, cache="int4").cache_bytes(K) / MIB
    said(f"where it is {four:g} MiB (B5)")
    numbers = 32 * 128 * 128_000
    said(f"{numbers / 1e6:.0f} million of them", f"are {2 * numbers / GB:.2f} GB (C2)")


def test_the_table_of_what_fits() -> None:
    def beside(gb: int) -> int:
        return SEVEN.longest_context(Card("", SEVEN.weight_bytes + gb * GB, GB), use=1)

    said(f'| 6K to 8K, "1 GB for 1K" | {beside(6):,} and {beside(8):,} |')
    plan = replace(THIRTEEN, model=replace(THIRTEEN.model, weights=13 * 10**9))
    assert plan.weight_bytes == given.THIRTEEN.weights
    longest = [plan.longest_context(CARD, use=use) for use in (1, 0.9)]
    said(f"| about 64K | {longest[0]:,}; with a share of 0.9 {longest[1]:,} |")
    peak = replace(plan, cache="int8").cache_bytes(16 * K, 8) + plan.weight_bytes
    said(f"| 70 GB | {peak / GB:.1f} GB |")
    cards = [Card("", 24 * unit, GB) for unit in (GIB, GB)]
    right, wrong = (SEVEN.longest_context(card, use=0.9) for card in cards)
    said(f"room for {right:,} tokens", f"for 24 GB, and it is {wrong:,}")


def test_the_table_of_floors() -> None:
    def row(name: str, plan: Plan, tokens: int, batch: int = 1, more: str = "") -> str:
        step = plan.step_seconds(CARD, tokens, batch)
        alone = plan.cache_bytes(tokens, batch) / CARD.bandwidth
        return f"| {name} | {1e3 * alone:.1f} ms | {1e3 * step:.1f} ms{more} | {batch / step:.0f} |"

    eight = replace(SEVEN, cache="int8")
    share = eight.step_seconds(CARD, 32 * K) / SEVEN.step_seconds(CARD, 32 * K)
    assert row("1 of 8K", SEVEN, 8 * K) in LESSON
    assert row("1 of 32K", SEVEN, 32 * K) in LESSON
    more = f", {share:.2f} of it, not half"
    assert row("1 of 32K, in 8 bits", eight, 32 * K, more=more) in LESSON
    assert row("8 of 4K", SEVEN, 4 * K, 8) in LESSON
    said(f"with {SEVEN.weight_bytes / GB:.1f} GB of weights")
    said(f"is {SEVEN.cache_bytes(32 * K) / SEVEN.weight_bytes:.2f} times the weights")
    said(f"a token has {SEVEN.entry_bytes / KIB:g} KiB", "weights 405 MB; 2 KB and 100 MB in print")
    layer = 4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096
    assert round(2 * layer / 1e6) == 405
    said(f"reads {CARDS['a100-80gb'].bandwidth / 1e12:.0f} TB/s")


def test_the_prediction() -> None:
    alone, of_8, throughput = two_gains()
    assert (round(alone, 1), round(of_8, 1), round(throughput)) == (1.6, 4.6, 16)
    assert list(FACTS) == list(PREDICTED)
    assert PREDICTED == {"latency": 1.6, "latency_of_8": 4.6, "throughput": 16}
    many = [plan.most_requests(CARD, 16 * K, 1) for plan in (SEVEN, RING)]
    said(f"{many[0]} requests become {many[1]}", f"fit into {SEVEN.room(CARD, 1) / GB:.1f} GB")
    said(f"one cache of 16K is {SEVEN.cache_bytes(16 * K) / GB:.1f}")
    said(f"one of 1,024 tokens {RING.cache_bytes(16 * K) / GB:.2f}")
    share = SEVEN.cache_bytes(16 * K) / (SEVEN.cache_bytes(16 * K) + SEVEN.weight_bytes)
    assert 1 / 3 < share < 0.5  # "more than a third of what a step reads"


def test_the_table_beside_the_picture() -> None:
    found = gain.gains()
    for tokens in (4, 16, 64):
        at = gain.LENGTHS.index(tokens * K)
        full, eight, one = (values[at] for values in found.values())
        assert f"| {tokens}K | {one:.1f} | {eight:.1f} | {full:.1f} |" in LESSON
    many = [plan.most_requests(CARD, 16 * K, 1) for plan in (SEVEN, RING)]
    steps = [1e3 * plan.step_seconds(CARD, 16 * K, n) for plan, n in zip((SEVEN, RING), many)]
    said(f"from {many[0]} requests and {steps[0]:.1f} ms a step to {many[1]} and {steps[1]:.1f} ms")
    fit = [SEVEN.most_requests(CARD, n, 1) for n in (8 * K, 16 * K)]
    assert fit[0] >= 8 > fit[1]
    crossed = {name: next(n for n, g in zip(gain.LENGTHS, gains) if g >= 3)
               for name, gains in found.items()}  # fmt: skip
    assert list(crossed.values()) == [4 * K, 16 * K, 64 * K]
    assert "throughput before 4,096 tokens, by a batch of 8 before 16,384" in gain.draw_gain().alt


def test_first_lengths() -> None:
    sizes = (SEVEN.weight_bytes, SEVEN.token_bytes, 1024, 3)
    first = REFERENCE["first_length"]
    said(
        f"3 times as fast from {first(*sizes, 1, 10**6):,} tokens on, in a batch of 8 from {first(*sizes, 8, 10**6):,}"
    )
    at = first(*sizes, 64, 4096)
    room = SEVEN.cache_bytes(at, 64) / GB
    said(f"A batch of 64 does, at {at:,}, on a card with room for {room:.0f} GB of caches")
    assert first(*sizes, 1, 4096) is None
    solved = 3 * 1024 + 2 * SEVEN.weight_bytes / SEVEN.token_bytes
    assert -(-solved // 1) == first(*sizes, 1, 10**6)
    assert first(*sizes, 10**9, 10**6) == 3 * 1024 + 1  # "three windows of text"


def test_the_table_of_pairs() -> None:
    pairs = REFERENCE["scored_pairs"]
    n = 20_000
    for name, count in (("all with all (B8)", n * n), ("causal", pairs(n)), ("W = 1,024", pairs(n, 1024))):  # fmt: skip
        assert re.search(rf"\| {re.escape(name)} \| {count / 1e6:.0f} million \|", PROSE) or (
            f"| 20,000 tokens, {name} | {count / 1e6:.0f} million |" in LESSON
        )
    said(f"| 4K to 32K, causal (B3) | {pairs(32 * K) / pairs(4 * K):.0f} times; passes")
    said("passes through the weights 8 times |")
    said(f"are {2 * (128 * K) ** 2 / GB:.1f} GB of scores in fp16")
    assert round(2 * pairs(128 * K) / GIB) == 16
    keys = visibility_mask(np.arange(6), np.arange(6), 4).sum(axis=1).tolist()
    said(f"see {', '.join(map(str, keys[:-1]))} and {keys[-1]} keys: {pairs(6, 4)} pairs")
    assert pairs(6, 4, 2) == pairs(6) == 21
    said(
        "so 21 pairs, as without a window",
        f"Ten queries score {pairs(10, 4, 2)} pairs of {pairs(10)}",
    )
    left = [REFERENCE["work_left"](MODELS["llama-2-7b"].weights, 2 * 32 * 32 * 128, k * K, 1024)
            for k in (4, 16, 128)]  # fmt: skip
    said(f"{left[0]:.2f} of the work is left at 4K and {left[1]:.2f} at 16K (D10)")
    said(f"At 128K it is {left[2]:.2f}")


def test_the_case_file() -> None:
    windows = ([1024] * 5 + [None]) * 10
    assert (len(windows), windows.count(1024)) == (60, 50)
    said("60 layers pages for the longest text, though 50 slide")
    pages = [sum(128 * K // 16 if w is None else need for w in windows)
             for need in (128 * K // 16, pages_needed(1024, 16))]  # fmt: skip
    assert 5.7 < pages[0] / pages[1] < 6  # "nearly six times too much"
    ring, text = 1024, 128  # the first mend: rings of W slots for requests of 128 tokens
    assert 50 * ring + 10 * text > 60 * text


def test_no_line_of_a_case_is_cut() -> None:
    for exercise, line in LINES:
        assert len(f"{exercise.id}: not yet. Case 10 of 30: {line}") <= WIDEST


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_sentences_stand_after_is_what_happens_when(exercise) -> None:
    for mutant in exercise.mutants:
        assert mutant.sentence[0].islower() or re.match(r"[A-Z]\b|GB|GiB|W |\d|`", mutant.sentence)


def test_the_scenes(capsys: pytest.CaptureFixture[str]) -> None:
    call = LESSON.split("scenes.planned(")[1].split(")")[0]
    scenes.planned(*ast.literal_eval(f"({call},)"))
    assert "W = 1,024          0.500       123   no end      14.01     1.6x       16.3x" in (
        capsys.readouterr().out
    )
    scenes.tiles(64, window=8, tile=8)
    assert "causal  36 tiles computed\n  W = 8   15 tiles" in capsys.readouterr().out
    _, work = tiled_attention(*np.ones((3, 1, 64, 2)), 8, tile=(8, 8))
    assert work.computed == 15
    scenes.measured()
    lines = capsys.readouterr().out.splitlines()[2:]
    shares = [[float(x) for x in line.split()] for line in lines]
    assert [row[0] for row in shares] == list(scenes.LENGTHS)
    for tokens, cache, _, _ in shares:
        assert cache == pytest.approx(scenes.WINDOW / (tokens + 16), abs=0.01)


def test_the_lesson_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
        "from ringkv_edu import scenes_08 as scenes, given_budget\n"
        "from ringkv_edu.graded import draw, fixed, plain\n"
        "from ringkv_edu.lesson import check, hint, save_work\n"
        "scenes.measured(); scenes.planned('--context', '16k')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert 'needs torch: python -m pip install "ringkv-edu[torch]"' in done.stdout
    assert "as it is" in done.stdout
