"""SmolLM2 itself, where it has been fetched; and what was recorded with it."""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np
import pytest
import torch

from ringkv_edu.policies import Full, Sinks, Window
from ringkv_edu.real import needle as asking
from ringkv_edu.real.beside import PROMPT, compare, own_policies
from ringkv_edu.real.load import smollm2
from ringkv_edu.real.named import Row
from ringkv_edu.real.perplexity import ppl, run_one
from ringkv_edu.real.places import fetched, found
from ringkv_edu.real.template import after_answer, opening, turn

from .own_rings import NeverWraps, Right

needs_model = pytest.mark.skipif(not fetched(), reason="model weights not fetched")
TEXT = "The ring keeps what the next token sees, and nothing else. A slot is not a position. "


@lru_cache(maxsize=1)
def loaded():
    return smollm2()


@needs_model
def test_logits_are_those_of_transformers():
    from transformers import LlamaForCausalLM

    model, tokenizer = loaded()
    ids = torch.tensor([tokenizer.encode(TEXT * 6).ids[:64]])
    with torch.no_grad():
        wanted = LlamaForCausalLM.from_pretrained(found(), dtype=torch.float32)(ids).logits
    for logits in (model(ids), model.step(ids, model.caches())):
        assert ids.shape[1] == 64
        assert (logits - wanted).abs().max() < 1e-3 * wanted.abs().max()
        assert torch.equal(logits.argmax(-1), wanted.argmax(-1))


@needs_model
def test_the_pieces_are_what_its_own_template_makes():
    import jinja2

    template = jinja2.Template((found() / "chat_template.jinja").read_text(encoding="utf-8"))
    said = [("user", "Hello."), ("assistant", "Good day."), ("user", "And now?")]
    messages = [{"role": role, "content": content} for role, content in said]
    wanted = template.render(messages=messages, add_generation_prompt=True)
    assert opening() + turn("Hello.") + "Good day." + after_answer() + turn("And now?") == wanted


@needs_model
def test_it_answers():
    model, tokenizer = loaded()
    right, own = own_policies(Right, 40, 4)
    both = compare(model, tokenizer, right, own, "What is the capital of France?", 12)
    assert "Paris" in both.right_text
    assert both.right == both.own
    both = compare(model, tokenizer, *own_policies(NeverWraps, 24, 4), PROMPT, 12)
    assert both.parts is not None


@needs_model
def test_the_cliff_and_its_cure():
    from pydoc_data.topics import topics

    model, tokenizer = loaded()
    ids = tokenizer.encode(topics["specialnames"]).ids[:200]
    policies = {"full": Full(), "window": Window(64), "sinks": Sinks(60, 4)}
    runs = {name: run_one(model, ids, Row(name, name, p)) for name, p in policies.items()}
    before = {name: ppl(run.nll, 0, 64) for name, run in runs.items()}
    after = {name: ppl(run.nll, 64) for name, run in runs.items()}
    assert before["window"] == pytest.approx(before["full"], rel=1e-4)
    assert after["window"] > 1.5 * after["full"]
    assert after["sinks"] < 0.7 * after["window"]


@needs_model
def test_digits_are_tokens_and_the_code_is_far():
    _, tokenizer = loaded()
    for question in asking.questions(tokenizer):
        assert question.digits.shape == (asking.CODES, 4)
        assert question.back > 256


def recorded(root, name):
    text = (root / "ringkv_edu" / "recorded" / name).read_text(encoding="utf-8")
    record = json.loads(text)
    assert record["model"] == "SmolLM2-135M-Instruct"
    assert record["command"].startswith("ringkv model ")
    assert "/tmp" not in text
    assert "/work" not in text.replace("work/", "")
    return record, {row["key"]: row for row in record["rows"]}


@pytest.mark.parametrize("name", ["perplexity.json", "perplexity_code.json", "cliff.json"])
def test_recorded_perplexity(root, name):
    record, rows = recorded(root, name)
    assert record["text"]["tokens"] >= 2000
    full, window, sinks = (rows[key]["perplexity_after"] for key in ("full", "window", "sinks"))
    assert (window - sinks) / (window - full) > 0.85  # four slots bring most of it back
    assert rows["window"]["cache_bytes"] == rows["sinks"]["cache_bytes"] == 46080 * 256
    bins = np.array(rows["window"]["nll_bins"]) - np.array(rows["full"]["nll_bins"])
    assert np.abs(bins[: 256 // record["bin"] - 1]).max() < 1e-3  # nothing has left the window
    assert bins[256 // record["bin"] :].mean() > 0.4


@pytest.mark.parametrize("name", ["perplexity.json", "perplexity_code.json"])
def test_untrained_summaries_add_nothing(root, name):
    _, rows = recorded(root, name)
    without = rows["sinks-small"]["perplexity_after"]
    for key in ("pooled", "pooled-centre"):
        assert rows[key]["perplexity_after"] > without - 0.05


def test_recorded_needle(root):
    _, rows = recorded(root, "needle.json")
    assert rows["full"]["codes_right"] == rows["full"]["codes"] == 10
    assert all(row["codes_right"] == 0 for key, row in rows.items() if key != "full")


def test_recorded_chat(root):
    text = (root / "ringkv_edu" / "recorded" / "chat.json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert "/tmp" not in text
    assert record["tokens"] >= 3000
    assert record["least_bytes"] == record["most_bytes"] == 46080 * 256  # flat to the byte
    assert sum(group["tokens"] for group in record["groups"]) == record["decoded"]
