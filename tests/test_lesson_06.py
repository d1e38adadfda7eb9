"""What lesson 06 says in prose and in tables, computed again."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import nbformat
import numpy as np
import pytest

from ringkv_edu.checks.judge import WIDEST
from ringkv_edu.checks.lesson_06 import EXERCISES
from ringkv_edu.checks.lesson_06_law_mistakes import query_sees
from ringkv_edu.figures.centre_table import WAYS, times_true, typical
from ringkv_edu.figures.counted import demo_counts
from ringkv_edu.figures.log_n import SPREADS, measured
from ringkv_edu.figures.partition import BLOCK, QUERIES, SUMMARIES, WINDOW, seen_by
from ringkv_edu.figures.recall_table import recall_table
from ringkv_edu.figures.still import words_in
from ringkv_edu.given_summaries import Bank, PrefixSlidingCache, SlidingWindowCache
from ringkv_edu.grading.release import lessons, source_of
from ringkv_edu.numpy_summaries import NumpySummaryRing
from ringkv_edu.summaries import Fold, fold, spans

ROOT = Path(__file__).resolve().parents[1]
NAME = "06_prefix_summaries"
LESSON = (ROOT / f"course/lessons/{NAME}.py").read_text(encoding="utf-8")
PROSE = LESSON.replace("\n# ", " ")


def cell(name: str, folder: str = "solutions") -> Any:
    book = nbformat.read(ROOT / folder / f"{NAME}.ipynb", 4)
    return next(c for c in book.cells if c.id == name)


def printed(name: str) -> list[str]:
    return cell(name).outputs[0].text.splitlines()


def answer(exercise: str) -> dict[str, Any]:
    """Run the setup and a solution's answer cell."""
    names: dict[str, Any] = {}
    exec(source_of(next(lessons()[NAME].cells("given"))), names)
    exec(cell(exercise).source, names)
    return names


def test_the_first_demo_does_what_is_said_of_its_program() -> None:
    """D2: 7 after the eviction; points [4, 8, 8, 8, ...], 14 of them by token 20."""
    cache = SlidingWindowCache(8, 4)
    for token in range(1, 10):
        cache.add(token)
    assert cache.after_eviction == [7]
    for token in range(10, 21):
        cache.add(token)
    assert cache.points == [4] + [8] * 13
    assert len(cache.points) == 14
    six = SlidingWindowCache(6, 4)
    for token in range(100):
        six.add(token)
    assert six.points == [4]  # "with W = 6 nothing is due after token 4, ever"


def test_the_second_demo_does_what_is_said_of_its_program() -> None:
    """D3: nothing at steps 1 and 7; token 1 leaves at step 7; the five summaries of 15 steps."""
    cache, made = PrefixSlidingCache(6, 3), {}
    for token in range(1, 16):
        before = list(cache.summaries)
        cache.add(token)
        made[token] = cache.summaries[len(before) :]
        if token == 7:
            assert cache.window == [2, 3, 4, 5, 6, 7]
    assert cache.summaries == [(1, 3), (1, 6), (4, 9), (7, 12), (10, 15)]
    assert made[1] == made[7] == []
    assert made[3] == [(1, 3)]
    assert "1~3 1~6 4~9 7~12 10~15" in printed("06-demos")[-1]


def test_the_second_demo_counts_twice_and_grows_for_ever() -> None:
    """D4: while a token lives, itself and one or two summaries; W/k = 2 afterwards."""
    exact, covered = demo_counts()
    totals = [a + b for a, b in zip(exact, covered, strict=True)]
    assert totals == [2] * 9 + [3] * 3 + [2] * 3
    assert "| times counted | 2 | 3 | 2 |" in LESSON
    assert "| positions | 0 to 8 | 9 to 11 | 12 to 14 |" in LESSON
    cache, gone = PrefixSlidingCache(6, 3), set()
    for token in range(3000):
        cache.add(token)
    for position in range(cache.window[0]):
        gone.add(sum(first <= position <= last for first, last in cache.summaries))
    assert gone == {2}
    assert len(cache.summaries) == 1000


def test_times_counted_finds_what_other_designs_get_wrong() -> None:
    times_counted = answer("ps2-twice")["times_counted"]
    exact, blocks = query_sees(12, 4, 1, 3)
    assert times_counted(12, exact, [(b[0], b[-1]) for b in blocks]) == [1] * 13
    finished = [(b[0], b[-1]) for b in blocks if len(b) == 3]
    assert 0 in times_counted(12, exact, finished)  # a hole: who waits for a whole block


def test_the_table_beside_the_picture_is_what_a_ring_does() -> None:
    assert (WINDOW, BLOCK, SUMMARIES) == (4, 2, 3)
    for seen in seen_by():
        exact = f"{seen.exact[0]} to {seen.exact[-1]}"
        some = ", ".join(f"{s[0]}" if len(s) == 1 else f"{s[0]} to {s[-1]}" for s in seen.summaries)
        assert f"| {seen.query} | {exact} | {some} |" in LESSON
        everyone = Counter([*seen.exact, *(p for s in seen.summaries for p in s)])
        assert everyone == Counter(range(seen.query + 1))
    assert [seen.query for seen in seen_by()] == list(QUERIES)


def test_exercise_3_shares_out_all_positions_as_the_package_does() -> None:
    sees = answer("ps3-law")["query_sees"]
    for seed in range(300):
        rng = Random(seed)
        window, sinks, block = rng.randrange(1, 7), rng.randrange(4), rng.randrange(1, 6)
        query = rng.randrange(40)
        exact, blocks = sees(query, window, sinks, block)
        assert sorted([*exact, *(p for some in blocks for p in some)]) == list(range(query + 1))
        counts: tuple[int, ...] = ()
        for _ in range(max(0, query + 1 - window - sinks)):
            counts, _ = fold(counts, Fold(100, block))
        assert [range(b[0], b[-1] + 1) for b in blocks] == spans(counts, sinks)
    assert sees(10, 4, 0, 2) == ([7, 8, 9, 10], [[0, 1], [2, 3], [4, 5], [6]])
    assert "`[7, 8, 9, 10], [[0, 1], [2, 3], [4, 5], [6]]`" in LESSON


def test_exercise_4_folds_as_the_package_does() -> None:
    folds = answer("ps4-fold")["fold"]
    for slots, block in ((2, 1), (3, 2), (4, 3), (5, 1)):
        bank, counts, rng = Bank(slots, block), (), np.random.default_rng(slots)
        vectors = rng.normal(size=(60, 3))
        for number, vector in enumerate(vectors):
            folds(bank, vector)
            counts, _ = fold(counts, Fold(slots, block))
            assert tuple(bank.counts) == counts
            for mean, span in zip(bank.means, spans(counts, 0), strict=True):
                np.testing.assert_allclose(mean, vectors[list(span)].mean(axis=0), atol=1e-12)
            assert sum(bank.counts) == number + 1


def test_exercises_5_and_6_are_what_the_ring_computes() -> None:
    attend = answer("ps5-log-n")["attend_summaries"]
    block_key = answer("ps6-centre")["block_key"]
    turned = answer("ps6-centre")["turned"]
    rng, d, n = np.random.default_rng(6), 8, 21
    q, k, v = rng.normal(size=(3, n, d))
    at = np.arange(n)
    for base in (None, 10000.0):
        ring = NumpySummaryRing(4, 1, d, 3, 2, dtype=np.float64, base=base)
        keys = turned(k, at)
        out = ring.step(turned(q, at)[None], keys[None], v[None])[0, -1]
        members = [list(s) for s in spans(tuple(ring.counts.tolist()), 0)]
        pooled = [
            keys[m].mean(axis=0) if base is None else block_key(keys[m], at[m]) for m in members
        ]
        values = np.array([v[m].mean(axis=0) for m in members])
        mine = attend(
            turned(q[-1], n - 1), keys[-4:], v[-4:], np.array(pooled), values, ring.counts
        )
        np.testing.assert_allclose(mine, out, rtol=1e-9)


def test_the_predicted_shares() -> None:
    attend = answer("ps5-log-n")["attend_summaries"]
    keys, q = np.zeros((16, 2)), np.ones(2)
    for count, share in ((1, 1 / 17), (16, 1 / 2)):
        out = attend(q, keys, keys, np.zeros((1, 2)), np.ones((1, 2)), np.array([count]))
        assert math.isclose(out[0], share)
    assert round(100 / 17) == 6  # "left with 6 % of it"
    assert round(16 ** (1 / math.sqrt(64)), 1) == 1.4  # "sixteen tokens would weigh as much as 1.4"


def test_the_table_of_what_stays_lost_is_the_picture() -> None:
    found = measured()
    rows = {
        "share, exact": found.true_share,
        "share, log 16 added": [found.share["with"]] * len(SPREADS),
        "share, mean alone": [found.share["without"]] * len(SPREADS),
        "error, log 16 added": found.error["with"],
        "error, mean alone": found.error["without"],
    }
    for name, values in rows.items():
        shown = " | ".join(f"{values[SPREADS.index(spread)]:.2f}" for spread in (0, 0.5, 1, 2))
        assert f"| {name} | {shown} |" in LESSON
    words = words_in(ROOT / "course/figures/log_n.png")
    assert "rises from 0.50 to 0.91" in words
    assert [f"{x:.2f}" for x in (found.true_share[0], found.true_share[-1])] == ["0.50", "0.91"]
    last = found.error["with"][-1], found.error["without"][0], found.error["without"][-1]
    assert "rises from 0 to {:.2f}, without from {:.2f} to {:.2f}".format(*last) in words
    small = SPREADS.index(0.3)  # the weight falls short by about half the variance
    weight = found.true_share[small] / (1 - found.true_share[small])
    assert abs((weight - 1) - 0.3**2 / 2) < 0.1 * 0.3**2


def test_averaged_as_stored_is_never_too_much_and_the_centre_may_be() -> None:
    for seed in range(5):
        found = times_true(seed)
        assert found["averaged as stored"].max() <= 1
        assert found["turned to the centre"].max() > 1
        off = [typical(found[way]) for way in WAYS]
        assert off == sorted(off)  # as the text ranks them
        assert off[-1] > 3 * off[-2]
    rows = [[float(x) for x in line[34:].split()] for line in printed("06-four-places")[1:]]
    for shown, some in zip(rows, times_true().values(), strict=True):
        assert shown == [round(float(x), 2) for x in (typical(some), some.min(), some.max())]


def test_bytes_stay_and_the_ring_refuses_as_the_text_says() -> None:
    assert {line.split()[-2] for line in printed("06-for-ever")} == {"160"}
    said = printed("06-taking-back")
    assert len(said) == 3
    assert "refused" in said[2]


def test_the_shipped_toy_counts_twice_and_has_no_hole() -> None:
    lines = printed("06-shipped")[:-1]
    counts = [[int(x) for x in line.split("counted")[1].split()] for line in lines]
    assert all(0 not in some for some in counts)
    assert any(2 in some for some in counts)


def test_deepseek_v4_is_as_the_text_says() -> None:
    pytest.importorskip("transformers")
    config = pytest.importorskip("transformers.models.deepseek_v4.configuration_deepseek_v4")
    made = config.DeepseekV4Config()
    assert made.sliding_window == 128
    assert made.compress_rates["heavily_compressed_attention"] == 128
    assert made.compress_rates["compressed_sparse_attention"] == 4


def test_the_report_of_the_case_file() -> None:
    stub = cell("case06-freeze", "notebooks").source
    for source, reads in ((stub, 1.0), (cell("case06-freeze").source, 1.375)):
        names: dict[str, Any] = {"np": np}
        exec(source, names)
        summary = names["Summary"](1)
        for number, times in ((1.0, 1500), (1.5, 4500)):
            for _ in range(times):
                summary.add(np.array([number], np.float16))
        assert summary.read() == [reads]
    assert f"{np.spacing(np.float16(1)):.5f}" == "0.00098"
    assert np.spacing(np.float16(1)) / 2 > 0.5 / 1501
    assert np.float16(2048) + np.float16(1) == 2048
    rows = np.random.default_rng(0).uniform(size=(5000, 3)).astype(np.float16)
    exact = rows.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(rows.mean(axis=0), exact, rtol=1e-3)  # numpy/numpy#7933, mended


def test_the_recall_table(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert "no recorded runs" in recall_table(path)
    path.write_text(json.dumps({"runs": []}))
    assert "no recorded runs" in recall_table(path)
    runs = [
        {"policy": "full", "seed": seed, "accuracy": accuracy}
        for seed, accuracy in ((100, 1.0), (101, 0.98))
    ]
    runs.append({"policy": "window", "seed": 100, "accuracy": 0.125})
    path.write_text(json.dumps({"runs": runs, "chance": 0.125}))
    lines = recall_table(path).splitlines()
    assert "seeds 100, 101." in lines[0]
    assert "0.125" in lines[0]
    full = re.fullmatch(r"everything +(-|[\d,]+)  0\.990 #{24}", lines[2])
    window = re.fullmatch(r"window of 16 +(-|[\d,]+)  0\.125 ###", lines[3])
    assert full
    assert window
    if full[1] != "-":  # 64 tokens against 16
        assert int(full[1].replace(",", "")) == 4 * int(window[1].replace(",", ""))


@pytest.mark.parametrize(
    "exercise", [e for e in EXERCISES if e.id != "predict06"], ids=lambda e: e.id
)
def test_a_case_can_be_pasted_into_the_notebook(exercise: Any) -> None:
    setup = source_of(next(lessons()[NAME].cells("given")))
    for seed in range(3 if exercise.id == "case06-freeze" else 20):
        for place, case in enumerate(exercise.cases(Random(seed)), 1):
            names: dict[str, Any] = {}
            exec(setup, names)
            exec(case.given, names | dict(exercise.reference))
            said = f"{exercise.id}: not yet. Case {place} of 99: {case.given}"
            assert len(said) <= WIDEST, said
