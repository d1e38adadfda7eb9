"""What lesson 07 says in prose, in tables and in pictures, computed again; and what it is given."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from ringkv_edu import scenes_07 as scenes
from ringkv_edu.checks.judge import WIDEST
from ringkv_edu.checks.lesson_07 import EXERCISES
from ringkv_edu.checks.lesson_07_predict import first_loss
from ringkv_edu.figures.cliff import BLOCKS, RECORDED, shown_bins
from ringkv_edu.figures.reach import LAYERS, TOKENS, WINDOW, changes, decoder_run
from ringkv_edu.figures.sink_mass import ratios, shares
from ringkv_edu.given_model import Layer, Stack, attended, drawn_layer, write
from ringkv_edu.given_numpy import RingArrays, numbers
from ringkv_edu.model import Attention, Config, turns_at
from ringkv_edu.policies import Full, Shape, Sinks, Window
from ringkv_edu.real import fetched, smollm2
from ringkv_edu.real.named import Row
from ringkv_edu.real.perplexity import bins, run_one
from ringkv_edu.real.retrieved import QUESTION, best_passage
from ringkv_edu.real.sinks import Foreign, Kept, Ranked, mass_of
from ringkv_edu.recorded import recorded, row
from ringkv_edu.rope import rotate

ROOT = Path(__file__).resolve().parents[1]
LESSON = (ROOT / "course/lessons/07_a_model_on_your_ring.py").read_text(encoding="utf-8")
PROSE = " ".join(LESSON.replace("\n#", " ").split())
FIRST = (ROOT / "course/lessons/00_start_here.py").read_text(encoding="utf-8")
REFERENCE = {name: value for e in EXERCISES for name, value in e.reference.items()}
LINES = [(e, case.given) for e in EXERCISES for case in e.cases(Random(0))]
SHAPE = Shape(heads=4, kv_heads=2, head_dim=8, base=10000.0)


@pytest.mark.parametrize(("window", "sinks"), [(4, 0), (3, 2), (20, 0)])
def test_a_layer_step_by_step_is_the_decoders_attention(window: int, sinks: int) -> None:
    rng, n, dim = Random(1), 15, 5
    layer = drawn_layer(rng, dim, 4, 2, 4)
    policy = Sinks(window, sinks) if sinks else Window(window)
    config = Config(10, dim, 1, 4, 2, 4, 8)
    with torch.no_grad():
        attention = Attention(config, policy).double()
        for name in ("q", "k", "v", "out"):
            getattr(attention, name).weight.copy_(torch.from_numpy(getattr(layer, name)))
        xs = numbers(rng, n, dim)
        x = torch.from_numpy(xs)[None]
        whole = attention(x, turns_at(torch.arange(n), config, x))[0].numpy()
    ring = RingArrays(window, 2, 4, sinks)
    steps = [REFERENCE["layer_step"](layer, ring, x) for x in xs]
    np.testing.assert_allclose(steps, whole, rtol=1e-9)


def test_a_layers_given_parts_hold_no_projection() -> None:
    ring, rng = RingArrays(2, 1, 2), Random(2)
    for _ in range(3):
        write(ring, *numbers(rng, 2, 1, 2))
    assert ring.positions.tolist() == [2, 1]
    assert ring.seen == 3
    q = numbers(rng, 2, 2)
    scores = q @ ring.keys[0].T / 2**0.5
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(attended(ring, q), weights @ ring.values[0])
    assert repr(Layer(q, q, q, q, 2, 1, 2)) == "<layer of 2 heads, 1 kv_heads of 2>"


@pytest.mark.parametrize("seed", range(40))
def test_the_toys_reach_is_the_rule_and_can_be_seen(seed: int) -> None:
    rng = Random(seed)
    windows = [rng.choice([2, 3, 4, None]) for _ in range(rng.randrange(1, 5))]
    tokens = [rng.randrange(10) for _ in range(14)]
    other, at = list(tokens), rng.randrange(8)
    other[at] = (other[at] + rng.randrange(1, 10)) % 10
    stack = Stack(windows, rng)
    for layer, (a, b) in enumerate(zip(stack.run(tokens), stack.run(other)), 1):
        moved = np.abs(a - b).max(axis=1)
        asked = [REFERENCE["reach"](windows[:layer], position) <= at for position in range(14)]
        assert (moved > 0).tolist() == [p >= at and asked[p] for p in range(14)]
        assert not np.allclose(a[moved > 0], b[moved > 0])


def test_the_picture_of_reach() -> None:
    found = changes()
    assert found.shape == (LAYERS, TOKENS) == (3, 14)
    last = [int(np.flatnonzero(layer)[-1]) for layer in found]
    assert last == [number * (WINDOW - 1) for number in (1, 2, 3)] == [3, 6, 9]
    ends = [f"{found[layer, position]:.2f}" for layer, position in enumerate(last)]
    assert (
        f"positions that change are 3, 6 and 9; the changes there are {ends[0]}, {ends[1]} and"
        in PROSE
    )
    assert 55 < found[2, 0] / found[2, 9] < 68
    assert "a sixtieth of what it was at the start" in PROSE


def test_spread_on_the_tiny_decoder() -> None:
    tokens = list(range(10)) * 2
    assert REFERENCE["spread"](decoder_run([4, 4, 4]), tokens, 2) == [5, 8, 11]
    assert REFERENCE["spread"](decoder_run([4, None]), tokens, 2) == [5, 19]


def test_what_mixed_layers_hold() -> None:
    held = {
        kinds: REFERENCE["held_bytes"](windows, 32768, 1, 1, 1) // 2
        for kinds, windows in {
            "6 global": [None] * 6, "5 sliding, 1 global": [1024] * 5 + [None], "6 sliding": [1024] * 6,
        }.items()
    }  # fmt: skip
    for kinds, entries in held.items():
        assert f"| {kinds} | {entries:,}" in LESSON
    shares_ = [f"{100 * entries / held['6 global']:.0f} %" for entries in held.values()]
    assert shares_ == ["100 %", "19 %", "3 %"]
    assert (
        f"{100 * 32768 / held['5 sliding, 1 global']:.0f} % of what the mix holds"
        == "86 % of what the mix holds"
    )
    assert "86 % of what the mix holds" in PROSE
    assert "five times the memory" in PROSE
    assert 5 < held["6 global"] / held["5 sliding, 1 global"] < 5.3
    assert "could reach 131,040 back" in PROSE
    assert 32 * 4095 == 131_040


def test_perplexity_is_torchs_cross_entropy() -> None:
    logits, tokens = numbers(Random(4), 9, 6) * 5, [5, 0, 3, 3, 2, 1, 4, 0, 5]
    loss = torch.nn.functional.cross_entropy(
        torch.from_numpy(logits[:-1]), torch.tensor(tokens[1:])
    )
    assert REFERENCE["perplexity"](logits, tokens) == pytest.approx(loss.exp().item(), rel=1e-12)
    assert REFERENCE["perplexity"](np.zeros((5, 8)), [0, 1, 2, 3, 4]) == pytest.approx(8)


def test_the_prediction() -> None:
    assert first_loss(256, 0) == (256, 0)
    assert first_loss(252, 4) == (256, 4)
    assert "stays in reach of 30 x 255 later positions" in PROSE


def test_the_recorded_cliff_is_what_both_lessons_say() -> None:
    names = ("keep everything", "keep the last 256", "keep the last 252 and the first 4")
    for place, (first, last) in enumerate(BLOCKS):
        full, window, sinks = (f"{RECORDED[name][place]:.2f}" for name in names)
        window = f"**{window}**" if first == 256 else window
        assert f"| {first}-{last} | {full} | {window} | {sinks} |" in FIRST
    assert f"A model read {recorded('cliff')['text']['tokens']:,} tokens" in FIRST
    jump = RECORDED[names[1]]
    assert jump[2] > 2.5 * RECORDED[names[0]][2]
    shown = shown_bins()
    assert all(len(values) == 20 for values in shown.values())
    everything, window, sinks = (np.array(shown[name]) for name in names)
    assert np.allclose(window[:8], everything[:8], rtol=1e-3)
    assert (window[8:] > 1.1 * everything[8:]).all()
    assert 5 <= (window[8:] / everything[8:]).max() < 6
    assert np.abs(np.log(sinks / everything)).max() < 0.25


def test_the_recorded_sinks_are_what_the_lesson_says() -> None:
    words = {
        "full": "everything", "window": "the last 256", "sinks-1": "255 and token 0",
        "sinks-4": "252 and tokens 0 to 3", "next-4": "252 and tokens 4 to 7",
        "other-4": "252 and tokens 100 to 103", "foreign-1": "255 and another text's token 0",
        "silent-1": "255 and token 0, its value set to zeros",
    }  # fmt: skip
    for key, kept in words.items():
        assert f"| {kept} | {row('sinks', key)['perplexity']:.2f} |" in LESSON
    ranked = row("sinks", "ranked")["perplexity"]
    assert (
        f"went from {row('sinks', 'sinks-4')['perplexity']:.1f} to {ranked:.1f} (recorded)" in PROSE
    )
    mixed, window = (row("sinks", key)["perplexity"] for key in ("mixed", "window"))
    assert f"{window:.1f} becomes {mixed:.1f} (recorded)" in PROSE
    cache = row("sinks", "cache")["perplexity"]
    assert f"with true distances, {cache:.2f} in the cache" in PROSE
    assert recorded("sinks")["scored"] == "257-1024"
    assert max(shares()[:12]) < 0.08
    assert [round(100 * x) for x in (min(shares()[12:]), max(shares()))] == [26, 59]
    assert round(max(ratios()[12:]), 2) == 0.5


def test_the_recorded_table_of_summaries() -> None:
    rows = {
        "full": "everything", "window": "256", "sinks": "252, 4 sinks", "sinks-small": "220, 4 sinks",
        "pooled": "220, 4 sinks, 32 summaries",
    }  # fmt: skip
    for key, kept in rows.items():
        found = row("perplexity", key)
        mib = f"{found['cache_bytes'] / 2**20:.1f}".replace("11.3", "11.2")  # 11.25
        assert f"| {kept} | {found['perplexity_after']:.2f} | {mib} |" in LESSON
    assert recorded("perplexity")["text"]["tokens"] == 2560
    for text in ("perplexity", "perplexity_code"):
        for key in ("pooled", "pooled-centre"):
            least = row(text, "sinks-small")["perplexity_after"]
            assert row(text, key)["perplexity_after"] >= least


def test_the_recorded_needle_is_what_the_lesson_says() -> None:
    assert [question["back"] for question in recorded("needle")["questions"]] == [474, 330]
    found = {one["key"]: one for one in recorded("needle")["rows"]}
    assert all(one["codes"] == 10 for one in found.values())
    assert found.pop("full")["codes_right"] == 10
    assert not any(one["codes_right"] for one in found.values())


def test_retrieval_at_equal_memory() -> None:
    before, after = row("retrieved", "sinks"), row("retrieved", "sinks-retrieved")
    assert before["cache_bytes"] == after["cache_bytes"] == row("cliff", "sinks")["cache_bytes"]
    assert (before["codes_right"], after["codes_right"]) == (0, 10)
    assert row("retrieved", "full")["logp"] == row("needle", "full")["logp"]
    story = ["The tea was hot.", "Remember: the secret code is 4917.", "What is that?"]
    assert best_passage(story, QUESTION) == story[1]


def test_a_record_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="nothing is recorded as 'wedge'; there are chat, cliff, "):
        recorded("wedge")


def tokens_of(n: int = 30, batch: int = 2) -> list[torch.Tensor]:
    make = torch.Generator().manual_seed(0)
    return [torch.randn(batch, h, n, 8, generator=make) for h in (4, 2, 2)]


def test_the_policies_that_were_measured() -> None:
    q, k, v = tokens_of()
    same = torch.testing.assert_close
    same(Kept(places=6).whole(q, k, v, SHAPE), Window(6).whole(q, k, v, SHAPE))
    sinks = Sinks(4, 2).whole(q, k, v, SHAPE)
    same(Kept(0, 2, places=6).whole(q, k, v, SHAPE), sinks)
    silent = Kept(0, 2, silent=True, places=6).whole(q, k, v, SHAPE)
    same(silent[:, :, :6], sinks[:, :, :6])
    quiet = v.clone()
    quiet[:, :, :2] = 0
    same(silent[:, :, 6:], Sinks(4, 2).whole(q, k, quiet, SHAPE)[:, :, 6:])
    one = Sinks(5, 1).whole(q, k, v, SHAPE)
    foreign = Foreign(places=6).whole(q, k, v, SHAPE)
    same(foreign[:, :, :6], one[:, :, :6])
    k[[0, 1], :, :1], v[[0, 1], :, :1] = k[[1, 0], :, :1], v[[1, 0], :, :1]
    same(foreign[:, :, 6:], Sinks(5, 1).whole(q, k, v, SHAPE)[:, :, 6:])


def test_the_case_file_turns_are_distances_in_the_cache() -> None:
    q, k, v = tokens_of(batch=1)
    expected = Sinks(4, 2, "cache").whole(q, k, v, SHAPE)[0, :, 20]
    turns = REFERENCE["query_turns"](range(30), 20, 4, 2)
    seen = [p for p, turn in enumerate(turns) if turn is not None]
    assert seen == [0, 1, 17, 18, 19, 20]
    assert [turns[p] - p for p in seen] == [5, 4, 3, 2, 1, 0]
    # the query arrives turned to 20, so it is turned by what is missing
    asked = [
        rotate(q[:, :, 20:21], torch.tensor([turns[p] - 20]), SHAPE.base)[0, :, 0] for p in seen
    ]
    for head in range(4):
        scores = torch.stack([a[head] @ k[0, head // 2, p] for a, p in zip(asked, seen)])
        out = torch.softmax(scores * SHAPE.scale, 0) @ v[0, head // 2, seen]
        torch.testing.assert_close(out, expected[head])
    bug = Ranked(4, 2).whole(q, k, v, SHAPE)[0, :, 20]
    assert not torch.allclose(bug, expected, atol=0.01)


def test_no_line_of_a_case_is_cut() -> None:
    for exercise, line in LINES:
        assert len(f"{exercise.id}: not yet. Case 10 of 20: {line}") <= WIDEST


def mutant_of_the_ring(name: str):
    exercise = next(e for e in EXERCISES if e.id == "mo5-ring")
    return next(m for m in exercise.mutants if m.name == name).answer["MyModelRing"]


@pytest.mark.parametrize("sinks", [0, 4])
def test_the_scenes_without_a_model(sinks: int, monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setenv("RINGKV_MODELS", str(tmp_path))
    scenes.two_ways()
    said = capsys.readouterr().out
    assert float(re.search(r"two ways (\S+)", said)[1]) < 1e-5
    scenes.cliff()
    said = capsys.readouterr().out
    assert said.startswith("Recorded on ")
    assert len(said.splitlines()) == 12
    scenes.side_by_side(REFERENCE["MyModelRing"], sinks=sinks)
    said = capsys.readouterr().out
    assert "MyModelRing holds in all" in said
    assert "The same tokens: the model decodes with your ring." in said
    wrong = mutant_of_the_ring("seen-from-the-slot")  # what the lesson suggests to try
    scenes.side_by_side(wrong, sinks=sinks)
    assert "MyModelRing is not right yet" in capsys.readouterr().out
    scenes.side_by_side(wrong, sinks=sinks, anyway=True)
    assert "They part at token " in capsys.readouterr().out


def test_the_lesson_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
        "from ringkv_edu.checks.lesson_07 import EXERCISES\n"
        "from ringkv_edu import scenes_07 as scenes\n"
        "from ringkv_edu.given_model import Stack\n"
        "scenes.two_ways(); scenes.side_by_side(None); scenes.cliff()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.count('needs torch: python -m pip install "ringkv-edu[torch]"') == 2
    assert "Recorded on " in done.stdout


def test_records_say_with_what_they_were_made() -> None:
    folder = ROOT / "ringkv_edu/recorded"
    names = sorted(path.stem for path in folder.glob("*.json"))
    assert {"cliff", "needle", "perplexity", "retrieved", "sinks"} <= set(names)
    for name in names:
        record = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        assert {"command", "date", "model", "weights", "versions", "machine"} <= set(record)
        keys = [one["key"] for one in record.get("rows", [])]  # a chat has none
        assert len(set(keys)) == len(keys)


@pytest.mark.skipif(not fetched(), reason="model weights not fetched")
def test_a_little_of_the_record_again() -> None:
    from pydoc_data.topics import topics

    model, tokenizer = smollm2()
    text = "".join(topics[name] for name in scenes.TOPICS)
    ids = tokenizer.encode(text, add_special_tokens=False).ids[:280]
    nll = run_one(model, ids, Row("full", "full", Full())).nll
    if recorded("cliff")["machine"]["python"].startswith(f"3.{sys.version_info.minor}."):
        np.testing.assert_allclose(bins(nll), row("cliff", "full")["nll_bins"][:8], atol=0.01)
    found = [layer["token_0"] for layer in mass_of(model, torch.tensor(ids)[None])]
    assert max(found[:12]) < 0.15 < min(found[12:])
