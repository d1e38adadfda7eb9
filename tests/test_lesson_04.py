"""What lesson 04 says in prose and in tables, computed again."""

from __future__ import annotations

import math
import re
from pathlib import Path
from random import Random
from typing import Any

import nbformat
import numpy as np
import pytest

from ringkv_edu import rope
from ringkv_edu.checks.judge import WIDEST
from ringkv_edu.checks.lesson_04 import EXERCISES
from ringkv_edu.figures.clock import PLACES, hands
from ringkv_edu.figures.ntk import HEAD_DIM, STRETCH, times_slower
from ringkv_edu.figures.slot_error import STEPS, WINDOW, slot_errors
from ringkv_edu.figures.still import words_in
from ringkv_edu.given_rope import turned
from ringkv_edu.grading.release import lessons, source_of

ROOT = Path(__file__).resolve().parents[1]
LESSON = (ROOT / "course/lessons/04_positions_and_rope.py").read_text(encoding="utf-8")


def printed(cell_id: str) -> list[str]:
    book = nbformat.read(ROOT / "solutions/04_positions_and_rope.ipynb", 4)
    return next(c for c in book.cells if c.id == cell_id).outputs[0].text.splitlines()


@pytest.mark.parametrize("d", [2, 4, 10, 64])
def test_the_given_rotation_is_the_packages(d: int) -> None:
    x = np.random.default_rng(d).normal(size=(3, 5, d))
    for base in (10000.0, 500.0):
        for positions in (7, -3, np.arange(5) * 1000):
            np.testing.assert_allclose(
                turned(x, positions, base), rope.rotate(x, positions, base), rtol=0, atol=1e-12
            )


def test_the_worked_examples_of_exercise_1() -> None:
    np.testing.assert_allclose(turned([1, 0], 1), [0.540, 0.841], atol=5e-4)
    found = turned([1, 2, 3, 4], 2, 100.0)
    np.testing.assert_allclose(found, [-3.144, 1.165, -0.339, 4.318], atol=5e-4)
    assert "[-3.144, 1.165, -0.339, 4.318]" in LESSON


def test_the_clocks_show_the_same_angle() -> None:
    for key, query in (hands(place) for place in PLACES):
        assert math.isclose((query - key) % (2 * math.pi), 2, rel_tol=1e-12)
    for key, query in PLACES:
        assert f"| key {key}, query {query} | {key} | {query} | 2 |" in LESSON


def test_the_table_beside_the_picture_is_the_picture() -> None:
    errors = slot_errors()
    for step, error in enumerate(errors):
        by_luck = step < WINDOW or (step + 1) % WINDOW == 0
        assert error < 1e-12 if by_luck else error > 0.3
    assert len(errors) == STEPS
    assert round(max(errors), 1) == 3.5
    head = re.search(r"\| newest token \|(.*)\|\n.*\n# \| largest error \|(.*)\|", LESSON)
    assert head
    steps, shown = ([float(x.strip(" *")) for x in row.split("|")] for row in head.groups())
    assert [round(errors[int(step)], 2) for step in steps] == shown


def test_the_answers_of_the_prediction() -> None:
    errors = slot_errors(window=6, steps=20)
    wrong = [step for step, error in enumerate(errors) if error > 1e-12]
    assert wrong[0] == 6
    assert next(step for step in range(6, 20) if step not in wrong) == 11


def test_how_much_each_base_slows_the_pairs() -> None:
    slower = times_slower()
    assert (HEAD_DIM, STRETCH) == (128, 4)
    for name, powers in (
        ("NTK-aware", np.arange(64) / 63),  # 2i / d times d / (d - 2)
        ("article", np.arange(64) / 128),
    ):
        np.testing.assert_allclose(slower[name], 4.0**powers, rtol=1e-12)
        row = " | ".join(f"{slower[name][pair]:.2f}" for pair in (0, 31, 63))
        assert f"| times slower, {name} | {row} |" in LESSON
    assert math.isclose(slower["NTK-aware"][-1], STRETCH)
    assert round(slower["article"][-1], 2) == 1.98
    assert round(HEAD_DIM / (HEAD_DIM - 2), 3) == 1.016
    for shown in ("only 1.98 times", "exponent is 1.016"):
        assert shown in LESSON
    for shown in ("bends up to 4", "ends at 1.98"):
        assert shown in words_in(ROOT / "course/figures/ntk.png")


def test_stale_keys_are_off_by_what_the_text_says() -> None:
    rows = [[float(x) for x in line[22:].split()] for line in printed("04-stale")]
    old, new, stale = np.array(rows)
    assert np.abs(new - old).max() < 0.1
    assert round(np.abs(stale - new).max(), 1) == 2.2


def test_float32_angles_drift_as_the_scene_and_the_text_say() -> None:
    """Within a factor of two of transformers' own Llama rotation."""
    import torch
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(
        hidden_size=64, num_attention_heads=1, num_key_value_heads=1, head_dim=64,
        num_hidden_layers=1, vocab_size=8, intermediate_size=8,
    )  # fmt: skip
    llama = LlamaRotaryEmbedding(config)
    rows = [re.findall(r"[\d.]+", line) for line in printed("04-precision")[:4]]
    assert [int(last) for last, _ in rows] == [10**3, 10**4, 10**5, 10**6]
    theirs = []
    for last, shown in rows:
        here = torch.arange(int(last) - 255, int(last) + 1)[None]
        cosines = llama(torch.zeros(1), here)[0][0, :, :32].numpy()
        theirs.append(np.abs(cosines - rope.cos_sin(here[0].numpy(), 64)[0]).max())
        assert theirs[-1] / 2 < float(shown) < 2 * theirs[-1]
    assert f"{float(rows[-1][1]):.2f}" == "0.04"
    assert "Near a million, a cosine is off by up to 0.04." in LESSON
    said = re.search(
        r"off by ([\d.]+) near position 1,000 and by ([\d.]+) near a million",
        LESSON.replace("\n# ", " "),
    )
    assert said
    for number, error in zip(said.groups(), (theirs[0], theirs[-1]), strict=True):
        assert error / 2 < float(number) < 2 * error


def test_where_short_floats_stop_counting() -> None:
    import torch

    for dtype, last in ((torch.float16, 2048), (torch.bfloat16, 256)):
        one = torch.tensor(1, dtype=dtype)
        assert torch.tensor(last, dtype=dtype) + one == last
        assert torch.tensor(last - 1, dtype=dtype) + one == last


def test_ranks_with_a_sink_are_as_the_table_says() -> None:
    positions = np.array([0, 10, 8, 9])
    ranks = np.argsort(np.argsort(positions))
    for name, row in (
        ("position", positions),
        ("rank", ranks),
        ("back from the newest, by position", positions.max() - positions),
        ("back from the newest, by rank", ranks.max() - ranks),
    ):
        assert f"| {name} | {' | '.join(str(x) for x in row)} |" in LESSON


@pytest.mark.parametrize(
    "exercise", [e for e in EXERCISES if e.id != "predict04"], ids=lambda e: e.id
)
def test_a_case_can_be_pasted_into_the_notebook(exercise: Any) -> None:
    setup = source_of(next(lessons()["04_positions_and_rope"].cells("given")))
    for seed in range(20):
        for place, case in enumerate(exercise.cases(Random(seed)), 1):
            names: dict[str, Any] = {}
            exec(setup, names)
            exec(case.given, names | dict(exercise.reference))
            said = f"{exercise.id}: not yet. Case {place} of 99: {case.given}"
            assert len(said) <= WIDEST, said
