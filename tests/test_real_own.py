"""A learner's own class as every layer's cache: tried first, then beside a right ring."""

from __future__ import annotations

import pytest
import torch

from ringkv_edu.cases import CASES
from ringkv_edu.model import Config, Decoder
from ringkv_edu.policies import Full, Sinks, Window
from ringkv_edu.policies.own import Own
from ringkv_edu.real.beside import side_by_side
from ringkv_edu.real.load import caches_of
from ringkv_edu.real.trial import try_out

from . import own_rings
from .own_rings import RIGHT, WRONG, Right, RightRows, Saturates, TooWide

QUICK = [case for case in CASES if case.id in ("1", "3", "8", "25", "41", "41b")]
SAYS = {
    "TooWide": ("1", "the query at position 4: saw 0 1 2 3 4; expected 1 2 3 4"),
    "TooNarrow": ("1", "the query at position 3: saw 1 2 3; expected 0 1 2 3"),
    "SlotForPosition": ("3", "after 9 tokens it holds 0 1 2 3 4 5 6 7; 8 is lost"),
    "NeverWraps": ("1", "the query at position 4: saw 0 1 2 4; expected 1 2 3 4"),
    "Backwards": ("1", "the query at position 4: saw 0 1 2 4; expected 1 2 3 4"),
    "SinksRoll": ("8", "position 10: saw 5 6 7 8 9 10; expected 0 1 7 8 9 10"),
    "StaleValues": ("1", "the query at position 4: saw 0 1 2 3; expected 1 2 3 4"),
    "HalfPositions": ("far", "after 2050 tokens it says that it holds 2046 2047 2048 2048"),
    "BrainPositions": ("far", "after 258 tokens it says that it holds 254 255 256 256"),
    "Saturates": ("far", "after 5 tokens its `seen` puts the next one at position 4"),
    "EmptyAreZero": ("1", "right keys, wrong weights"),
    "Stops": ("1", "step of 1 after 4 tokens raised IndexError"),
    "Grows": ("1", "the query at position 4: saw 0 1 2 3 4; expected 1 2 3 4"),
}


def small_decoder(policy):
    torch.manual_seed(0)
    config = Config(30, 32, 2, heads=4, kv_heads=2, head_dim=8, hidden=48)
    return Decoder(config, policy).eval()


@pytest.mark.parametrize("make", RIGHT, ids=lambda make: make.__name__)
def test_a_right_ring_holds_in_every_case(make):
    trial = try_out(make)
    assert trial.right
    sinks = make is Right
    assert trial.asked == (25 if sinks else 19)
    assert trial.lines() == [f"{make.__name__} holds in all {trial.asked} cases that it was asked."]


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
def test_a_wrong_ring_is_told_which_case_and_what_happened(make):
    trial = try_out(make, QUICK)
    case, words = SAYS[make.__name__]
    lines = trial.lines()
    assert not trial.right
    assert f"{make.__name__} is not right yet: {len(trial.failed)} of {trial.asked}" in lines[0]
    assert lines[1].startswith(f"  case {case}: ")
    assert words in lines[2]
    assert len(lines) <= 7


def test_a_class_that_no_model_can_take_is_told_why():
    for make, words in (
        (own_rings.FloatPositions, "positions are torch.float16"),
        (int, "int does not take window, kv_heads, head_dim by name"),
        (3, "make is a int; give a class or a function"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            try_out(make)


@pytest.mark.parametrize(("make", "sinks"), [(Right, 2), (Right, 0), (RightRows, 0)])
@pytest.mark.parametrize("cuts", [[40], [1] * 40, [7, 1, 32]], ids=len)
def test_a_decoder_decodes_as_with_our_ring(make, sinks, cuts):
    model = small_decoder(Sinks(9, sinks))
    tokens = torch.randint(0, 30, (2, 40), generator=torch.Generator().manual_seed(1))
    wanted = model.step(tokens, model.caches(2))
    caches = caches_of(model, Own(make, 9, sinks), 2)
    found = torch.cat([model.step(part, caches) for part in tokens.split(cuts, 1)], 1)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
    assert caches[0].seen.tolist() == [40, 40]
    assert caches[0].nbytes == model.caches(2)[0].nbytes
    for cache in caches:
        cache.reset()
    again = torch.cat([model.step(part, caches) for part in tokens.split(cuts, 1)], 1)
    torch.testing.assert_close(again, wanted, atol=1e-5, rtol=1e-4)
    whole = small_decoder(Own(make, 9, sinks))(tokens)
    torch.testing.assert_close(whole, wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("make", [TooWide, Saturates, own_rings.SlotForPosition])
def test_nothing_is_repaired(make):
    model = small_decoder(Window(9))
    tokens = torch.randint(0, 30, (1, 24), generator=torch.Generator().manual_seed(1))
    each = tokens.split(1, 1)
    caches, right = caches_of(model, Own(make, 9)), model.caches()
    apart = [float((model.step(t, caches) - model.step(t, right)).abs().max()) for t in each]
    first = next(i for i, x in enumerate(apart) if x > 1e-4)
    assert first == (9 if make is TooWide else 10)  # the first token that shows it


def told(capsys, make, **named):
    side_by_side(make, new=24, **named)
    return capsys.readouterr().out


@pytest.fixture
def no_model(monkeypatch, tmp_path):
    monkeypatch.setenv("RINGKV_MODELS", str(tmp_path))
    monkeypatch.setattr("ringkv_edu.real.beside.try_out", lambda make: try_out(make, QUICK))


def test_side_by_side_without_the_model(no_model, capsys):
    out = told(capsys, Right)
    assert "Right holds in all" in out
    assert "SmolLM2 has not been fetched (`ringkv model fetch`)" in out
    assert "The same tokens: the model decodes with your ring." in out
    assert "takes no sinks" not in out
    assert "takes no sinks" in told(capsys, RightRows)


def test_side_by_side_with_a_wrong_ring(no_model, capsys):
    out = told(capsys, TooWide)
    assert "TooWide is not right yet" in out
    assert "side_by_side(TooWide, anyway=True)" in out
    assert "your ring" not in out
    out = told(capsys, TooWide, anyway=True)
    assert "They part at token 2 of the answer." in out
    out = told(capsys, own_rings.HalfPositions, anyway=True)
    assert "The same tokens here. That is luck" in out
    out = told(capsys, own_rings.Stops, anyway=True)
    assert "With your ring the model raised IndexError: index 52 is out of bounds" in out
    out = told(capsys, own_rings.FloatPositions)
    assert "A model cannot take this class: positions are torch.float16" in out
    assert "does not take" in told(capsys, lambda window: None)


def test_own_beside_full_layers():
    model = small_decoder([Full(), Own(Right, 5)])
    tokens = torch.arange(20)[None]
    mixed = small_decoder([Full(), Window(5)])
    torch.testing.assert_close(model(tokens), mixed(tokens), atol=1e-5, rtol=1e-4)
