"""The ring inside a language model: the same logits and tokens as without it."""

from __future__ import annotations

import copy
import re
import runpy
import subprocess
import sys
import types
from typing import Any

import pytest
import torch
import transformers
from transformers import DynamicCache

import ringkv_edu
from ringkv_edu import NumpyRing, RewindError, TorchRing
from ringkv_edu.adapters import hf, hf_layers, hf_proof, hf_release, ring_cache
from ringkv_edu.adapters.hf import TESTED, FullLayer, RingCache, RingLayer

from . import hf_models as models
from .hf_models import ROW_CALLS, STEPS, WINDOW, gap, left_padded, streamed, text, uncached

Tensor = torch.Tensor
SCALE = 1e-6
ATTENTION = ["sdpa", "eager"]
PROMPTS = [1, 10, 31, 32, 33, 80]
ROWS = [(0,), (0, 0), (0, 7)]


def one_by_one(prompt: int, steps: int = STEPS) -> list[int]:
    return [prompt] + [1] * steps


def given(rows: tuple[int, ...], prompt: int, steps: int = STEPS) -> tuple[Tensor, Tensor]:
    pads = tuple(min(pad, prompt - 1) for pad in rows)
    return left_padded(text(len(rows), prompt + steps, seed=prompt), pads)


def storage(cache: Any) -> list[Any]:
    return [(x.data_ptr(), x.shape) for ring in cache.rings for x in (ring.keys, ring.values)]


def test_the_example_of_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert hf.__doc__
    example = re.search(r"::\n\n((?:    .*\n|\n)+)", hf.__doc__)
    assert example
    names: dict[str, Any] = {}
    exec("\n".join(line[4:] for line in example[1].splitlines()), names)
    assert names["cache"].get_seq_length() == 40 + 60 - 1
    assert ringkv_edu.ring_cache is ring_cache


# Exactness.


@pytest.mark.parametrize("attention", ATTENTION)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_mistral_gives_what_a_dynamic_cache_gives(
    attention: str, rows: tuple[int, ...], prompt: int
) -> None:
    model = models.mistral(attention)
    tokens, real = given(rows, prompt)
    cache = ring_cache(model)
    ours = streamed(model, cache, tokens, real, [prompt])
    before, nbytes = storage(cache), cache.nbytes
    with torch.no_grad():
        for stop in range(prompt + 1, prompt + STEPS + 1):
            more = {"attention_mask": real[:, :stop]}
            where = models.position_ids(real)[:, stop - 1 : stop]
            new = model(tokens[:, stop - 1 : stop], position_ids=where, cache=cache, **more)
            ours = torch.cat([ours, new.logits], dim=1)
    theirs = streamed(model, DynamicCache(config=model.config), tokens, real, one_by_one(prompt))
    assert gap(ours, theirs, real) <= SCALE
    assert torch.equal(ours.argmax(-1)[real.bool()], theirs.argmax(-1)[real.bool()])
    assert (storage(cache), cache.nbytes) == (before, nbytes)
    assert nbytes == 2 * 2 * len(rows) * 2 * WINDOW * 8 * 4


@pytest.mark.parametrize(("attention", "sinks"), [("sdpa", 0), ("sdpa", 4), ("eager", 4)])
@pytest.mark.parametrize("rows", [(0,), (0, 7)])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_llama_gives_what_a_window_mask_gives(
    attention: str, sinks: int, rows: tuple[int, ...], prompt: int
) -> None:
    model = models.llama(attention)
    tokens, real = given(rows, prompt)
    cache = ring_cache(model, window=WINDOW, sinks=sinks)
    ours = streamed(model, cache, tokens, real, one_by_one(prompt))
    assert gap(ours, uncached(model, tokens, real, WINDOW, sinks), real) <= SCALE


@pytest.mark.parametrize("model", [models.mistral(), models.llama()])
def test_a_window_one_off_and_no_sinks_would_be_seen(model: Any) -> None:
    tokens, real = given((0, 7), 40)
    wanted = uncached(model, tokens, real, WINDOW, 4)
    for window, sinks in ((WINDOW - 1, 4), (WINDOW + 1, 4), (WINDOW, 3), (WINDOW, 0)):
        cache = ring_cache(model, window=window, sinks=sinks)
        assert gap(streamed(model, cache, tokens, real, one_by_one(40)), wanted, real) > 1e-3


@pytest.mark.parametrize(
    "chunks",
    [[5, 27, 40, 1, 1, 33, 2, 80, 3], [80, 80, 32], [1, 190, 1], [31, 1, 1, 1, 158], [192]],
)
@pytest.mark.parametrize(("attention", "sinks"), [("sdpa", 0), ("sdpa", 3), ("eager", 3)])
def test_chunks_of_any_length(chunks: list[int], attention: str, sinks: int) -> None:
    model = models.llama(attention)
    tokens, real = given((0, 4), sum(chunks), 0)
    cache = ring_cache(model, window=WINDOW, sinks=sinks)
    ours = streamed(model, cache, tokens, real, chunks)
    assert gap(ours, uncached(model, tokens, real, WINDOW, sinks), real) <= SCALE
    cache = ring_cache(model, window=WINDOW, sinks=sinks)  # and without a mask or padding
    ours = streamed(model, cache, tokens[:1], None, chunks)
    assert gap(ours, uncached(model, tokens[:1], real[:1], WINDOW, sinks)) <= SCALE


@pytest.mark.parametrize("rows", [(0,), (0, 7)])
def test_slack_is_kept_and_not_seen(rows: tuple[int, ...]) -> None:
    model = models.llama()
    tokens, real = given(rows, 20)
    for sinks in (0, 2):
        cache = ring_cache(model, WINDOW, sinks, slack=5)
        ours = streamed(model, cache, tokens, real, one_by_one(20))
        assert gap(ours, uncached(model, tokens, real, WINDOW, sinks), real) <= SCALE


@pytest.mark.parametrize("pads", [(40, 0), (0, 79), (35, 50)])
def test_padding_longer_than_the_window(pads: tuple[int, ...]) -> None:
    tokens, real = left_padded(text(2, 140), pads)
    for sinks in (0, 4):
        cache = ring_cache(models.llama(), window=WINDOW, sinks=sinks)
        ours = streamed(models.llama(), cache, tokens, real, one_by_one(80, 60))
        assert gap(ours, uncached(models.llama(), tokens, real, WINDOW, sinks), real) <= SCALE


def test_padding_anywhere_takes_no_slot() -> None:
    tokens = text(2, 120)
    real = torch.ones_like(tokens)
    real[0, 50:60] = real[1, 3:9] = real[1, 100] = real[0, 118:] = 0
    for chunks in ([70, 50], [5, 50, 40, 1, 1, 1, 1, 1, 1, 1, 18], one_by_one(90, 30)):
        cache = ring_cache(models.llama(), window=WINDOW, sinks=2)
        ours = streamed(models.llama(), cache, tokens, real, chunks)
        assert gap(ours, uncached(models.llama(), tokens, real, WINDOW, 2), real) <= SCALE
        assert [ring.seen.tolist() for ring in cache.rings] == [real.sum(1).tolist()] * 2


def test_a_row_gives_what_it_gives_alone() -> None:
    model = models.llama()
    tokens, real = left_padded(text(3, 110), (0, 3, 41))
    together = streamed(model, ring_cache(model, WINDOW, sinks=4), tokens, real, one_by_one(50, 60))
    for row, pad in enumerate((0, 3, 41)):
        alone = streamed(
            model, ring_cache(model, WINDOW, sinks=4), tokens[row : row + 1, pad:], None,
            one_by_one(50 - pad, 60),
        )  # fmt: skip
        assert gap(together[row : row + 1, pad:], alone) <= SCALE


# Several kinds of layers.


@pytest.mark.parametrize("pads", [(0,), (0, 9)])
@pytest.mark.parametrize("name", ["qwen2", "gemma3", "gemma3 eager"])
def test_a_model_that_mixes_full_and_sliding_layers(name: str, pads: tuple[int, ...]) -> None:
    name, *attention = name.split()
    model = getattr(models, name)(*attention)
    tokens, real = given(pads, 40)
    cache = ring_cache(model)
    assert [type(layer).__name__ for layer in cache.layers] == ["FullLayer", "RingLayer"]
    ours = streamed(model, cache, tokens, real, one_by_one(40))
    theirs = streamed(model, DynamicCache(config=model.config), tokens, real, one_by_one(40))
    assert gap(ours, theirs, real) <= SCALE
    assert cache.layers[0].nbytes == 2 * len(pads) * 2 * (40 + STEPS) * 8 * 4
    assert cache.layers[1].nbytes == 2 * len(pads) * 2 * WINDOW * 8 * 4


@pytest.mark.parametrize("attention", ATTENTION)
@pytest.mark.parametrize("pads", [(0,), (0, 9)])
@pytest.mark.parametrize("layers", [models.MIXED, models.MIXED[::-1]])
def test_full_and_sliding_layers_in_a_model_that_knows_one_kind(
    attention: str, pads: tuple[int, ...], layers: list[str]
) -> None:
    """Qwen2 without its biases is such a model as Llama, and has a mask for each kind."""
    model = models.llama(attention)
    tokens, real = given(pads, 40)
    cache = ring_cache(model, WINDOW, layers=layers)
    ours = streamed(model, cache, tokens, real, one_by_one(40))
    config = models.Qwen2Config(
        **models.SIZES, use_sliding_window=True, sliding_window=WINDOW, layer_types=layers
    )
    twin = models.of(models.Qwen2ForCausalLM, config, attention)
    state = twin.state_dict()
    weights = {k: model.state_dict().get(k, torch.zeros_like(v)) for k, v in state.items()}
    twin.load_state_dict(weights)
    theirs = streamed(twin, DynamicCache(config=config), tokens, real, one_by_one(40))
    assert gap(ours, theirs, real) <= SCALE


@pytest.mark.parametrize("attention", ATTENTION)
def test_layers_of_several_windows_by_turns(attention: str) -> None:
    config = models.LlamaConfig(**models.SIZES | {"num_hidden_layers": 5})
    model = models.of(models.LlamaForCausalLM, config, attention)
    tokens, real = given((0, 7), 40, 40)
    sizes = [8, None, 8, 16, 16]
    ours, theirs = (
        streamed(
            model,
            RingCache([RingLayer(size, make=make) if size else FullLayer() for size in sizes]),
            tokens, real, one_by_one(40, 40),
        )
        for make in (None, NumpyRing)
    )  # fmt: skip
    assert gap(ours, theirs, real) <= SCALE


@pytest.mark.parametrize("pads", [(0,), (0, 9)])
def test_full_layers_alone(pads: tuple[int, ...]) -> None:
    model = models.llama()
    tokens, real = given(pads, 40, 10)
    cache = ring_cache(model, layers=["full_attention"] * 2)
    ours = streamed(model, cache, tokens, real, [20, 20, 1, 1, 5, 3])
    assert gap(ours, uncached(model, tokens, real, 1000), real) <= SCALE


# generate.

WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "beams": {"num_beams": 3, "do_sample": False, "num_return_sequences": 2},
    "sampling": {"do_sample": True, "top_k": 20, "temperature": 1.3},
}


def tokens_of(model: Any, tokens: Tensor, real: Tensor, way: str, **more: Any) -> Tensor:
    torch.manual_seed(5)
    sizes = {"max_new_tokens": STEPS, "attention_mask": real, "pad_token_id": 0}
    return model.generate(tokens, **sizes, **WAYS[way], **more)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("rows", "prompt"), [((0,), 33), ((0, 7), 10), ((3, 0), 50)])
def test_generate_gives_the_same_tokens_with_mistral(
    way: str, rows: tuple[int, ...], prompt: int
) -> None:
    model = models.mistral()
    tokens, real = given(rows, prompt, 0)
    theirs = tokens_of(model, tokens, real, way)
    assert len(set(theirs[0, prompt:].tolist())) > 5
    assert torch.equal(tokens_of(model, tokens, real, way, cache=ring_cache(model)), theirs)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sinks", [0, 4])
def test_generate_gives_the_same_tokens_with_llama(way: str, sinks: int) -> None:
    tokens, real = given((0, 7), 40, 0)
    cache = ring_cache(models.llama(), WINDOW, sinks)
    ours = tokens_of(models.llama(), tokens, real, way, cache=cache)
    theirs = tokens_of(models.windowed(sinks), tokens, real, way, use_cache=False)
    assert torch.equal(ours, theirs)


def test_generate_in_eager_in_chunks_and_by_the_old_name() -> None:
    model = models.mistral("eager")
    tokens, real = given((0, 7), 50, 0)
    theirs = tokens_of(model, tokens, real, "greedy")
    for more in (
        {"cache": ring_cache(model)},
        {"cache": ring_cache(model), "prefill_chunk_size": 16},
        {"past_key_values": ring_cache(model)},
    ):
        assert torch.equal(tokens_of(model, tokens, real, "greedy", **more), theirs)
    with torch.no_grad():
        a = model(tokens, attention_mask=real, past_key_values=ring_cache(model)).logits
        b = model(tokens, attention_mask=real).logits
    assert gap(a, b, real) <= SCALE


def test_a_second_turn_goes_on_with_the_same_cache() -> None:
    model = models.mistral()
    tokens, real = given((0, 7), 40, 0)
    cache, theirs = ring_cache(model), DynamicCache(config=model.config)
    both = []
    for held in (cache, theirs):
        first = tokens_of(model, tokens, real, "greedy", cache=held)
        more = torch.cat([first, text(2, 9, seed=9)], dim=1)
        long = torch.cat([real, torch.ones(2, STEPS + 9, dtype=torch.long)], dim=1)
        both.append(tokens_of(model, more, long, "greedy", cache=held))
    assert torch.equal(*both)


def test_assisted_decoding_takes_drafts_back() -> None:
    model = models.mistral()
    tokens = text(1, 12).repeat(1, 4)  # the drafts are found in the prompt
    theirs = model.generate(tokens, max_new_tokens=80, do_sample=False)
    more = {"max_new_tokens": 80, "do_sample": False, "prompt_lookup_num_tokens": 4}
    cache = ring_cache(model, slack=5)
    crops = []
    crop = cache.crop
    cache.crop = lambda n: (crops.append(n), crop(n))
    assert torch.equal(model.generate(tokens, cache=cache, **more), theirs)
    assert min(crops) < 0
    with pytest.raises(ValueError, match="cropped"):
        model.generate(tokens, cache=ring_cache(model), **more)


# Rows, taking back, starting again.


def filled(n: int = 40, pads: tuple[int, ...] = (0, 7), **more: Any) -> tuple[Any, Tensor, Tensor]:
    tokens, real = left_padded(text(len(pads), n + 8), pads)
    cache = ring_cache(models.llama(), WINDOW, **more)
    streamed(models.llama(), cache, tokens[:, :n], real[:, :n], [n - 2, 1, 1])
    return cache, tokens, real


def next_logits(cache: Any, tokens: Tensor, real: Tensor, n: int = 40) -> Tensor:
    with torch.no_grad():
        where = models.position_ids(real)[:, n : n + 8]
        given = {"attention_mask": real[:, : n + 8], "position_ids": where, "cache": cache}
        return models.llama()(tokens[:, n : n + 8], **given).logits


@pytest.mark.parametrize("layers", [None, models.MIXED])
def test_rows_are_reordered_selected_and_repeated(layers: Any) -> None:
    cache, tokens, real = filled(layers=layers, sinks=2)
    wanted = next_logits(copy.deepcopy(cache), tokens, real)
    for call, rows in ROW_CALLS:
        other = copy.deepcopy(cache)
        call(other)
        assert gap(next_logits(other, tokens[rows], real[rows]), wanted[rows]) <= SCALE
    assert gap(next_logits(cache, tokens, real), wanted) == 0  # the copies were copies


@pytest.mark.parametrize("back", [1, 4])
@pytest.mark.parametrize("layers", [None, models.MIXED])
def test_crop_takes_back_what_slack_holds(back: int, layers: Any) -> None:
    cache, tokens, real = filled(slack=4, layers=layers)
    wanted = next_logits(copy.deepcopy(cache), tokens, real)
    next_tokens = torch.flip(tokens[:, 40 : 40 + back], [0])
    ahead = torch.cat([real[:, :40], torch.ones(2, back, dtype=torch.long)], dim=1)
    with torch.no_grad():
        models.llama()(next_tokens, attention_mask=ahead, cache=cache)
    cache.crop(0)
    cache.crop(-back)
    assert cache.get_seq_length() == 40
    assert gap(next_logits(cache, tokens, real), wanted) <= SCALE


def test_crop_counts_real_tokens_and_refuses_what_is_gone() -> None:
    cache, tokens, real = filled(20, pads=(0, 18))
    for call, rows in [(lambda c: None, [0, 1]), *ROW_CALLS]:
        other = copy.deepcopy(cache)
        call(other)
        other.crop(-5)  # of row 1 only two tokens
        assert [ring.seen.tolist() for ring in other.rings] == [[[15, 0][row] for row in rows]] * 2
    cache.reset()
    streamed(models.llama(), cache, tokens[:, :20], None, [20])
    cache.crop(-5)
    assert [ring.seen.tolist() for ring in cache.rings] == [[15, 15]] * 2
    cache, tokens, real = filled()
    wanted = next_logits(copy.deepcopy(cache), tokens, real)
    with pytest.raises(RewindError, match="slack"):
        cache.crop(-1)
    for wrong in (3, -41):
        with pytest.raises(ValueError, match="give 0 or a number below it, to -40"):
            cache.crop(wrong)
    assert gap(next_logits(cache, tokens, real), wanted) == 0


@pytest.mark.parametrize("layers", [None, models.MIXED])
@pytest.mark.parametrize("left", [0, 3])
def test_after_a_crop_a_text_goes_on(layers: Any, left: int) -> None:
    model = models.llama()
    tokens, real = left_padded(text(2, 60), (0, 2))
    cache = ring_cache(model, WINDOW, layers=layers)
    streamed(model, cache, tokens[:, :20], real[:, :20], [20])
    cache.crop(left - 20)
    start = (real[:, :left], tokens[:, :left])
    after, n = text(2, 50, seed=3), left + 50
    whole, ones = torch.cat([start[1], after], 1), torch.ones_like(after)
    all_real = torch.cat([start[0], ones], 1)
    where, ours = models.position_ids(all_real), []
    for at in (slice(left, left + 25), slice(left + 25, n)):  # the first fits into the window
        more = {"position_ids": where[:, at], "attention_mask": all_real[:, : at.stop]}
        if left == 0:
            del more["attention_mask"]
        with torch.no_grad():
            ours.append(model(whole[:, at], cache=cache, **more).logits)
    theirs = streamed(model, ring_cache(model, WINDOW, layers=layers), whole, all_real, [n])
    assert gap(torch.cat(ours, 1), theirs[:, left:]) <= SCALE
    if left == 0:  # what was taken back is no padding of what came then
        cache.crop(-50)
        assert all(ring is None or ring.seen.tolist() == [0, 0] for ring in cache.rings)


def test_reset_keeps_the_storage_and_forgets_the_text() -> None:
    model = models.mistral()
    cache = ring_cache(model, sinks=2)
    tokens, real = given((0, 7), 40, 0)
    first = tokens_of(model, tokens, real, "greedy", cache=cache)
    same, nbytes = storage(cache), cache.nbytes
    cache.reset()
    assert cache.get_seq_length() == 0
    assert torch.equal(tokens_of(model, tokens, real, "greedy", cache=cache), first)
    assert (storage(cache), cache.nbytes) == (same, nbytes)
    cache.reset()  # another batch may follow
    alone = tokens_of(model, tokens[:1], real[:1], "greedy", cache=cache)
    assert torch.equal(alone, first[:1])


@pytest.mark.parametrize("first", [5, 60])
def test_after_a_reset_a_long_prompt_is_windowed(first: int) -> None:
    model, cache = models.llama(), ring_cache(models.llama(), WINDOW, sinks=2)
    streamed(model, cache, text(1, first), None, [first])
    cache.reset()
    tokens = text(1, 90, seed=1)
    ours = streamed(model, cache, tokens, None, [80, 1, 1, 8])
    assert gap(ours, uncached(model, tokens, torch.ones_like(tokens), WINDOW, 2)) <= SCALE


# What the host does in a decode step.


def test_a_decode_step_hands_over_the_slots_as_they_lie() -> None:
    model = models.llama()
    for pads, steps in (((0, 0), 3), ((0, 7), 60)):
        tokens, real = left_padded(text(2, 50 + steps), pads)
        cache = ring_cache(model, WINDOW)
        streamed(model, cache, tokens, real, one_by_one(50, steps))
        for layer, ring in zip(cache.layers, cache.rings):
            assert layer.keys.data_ptr() == ring.keys.data_ptr()
            assert layer.keys.shape == ring.keys.shape


@pytest.mark.parametrize("kv_heads", [2, 4])
def test_masks_are_left_out_where_that_is_right_and_not_slower(
    kv_heads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a mask the library repeats grouped heads on a CPU, so there it gets one."""
    sizes = models.SIZES | {"num_key_value_heads": kv_heads}
    model = models.of(models.LlamaForCausalLM, models.LlamaConfig(**sizes))
    seen: list[Any] = []
    inner = torch.nn.functional.scaled_dot_product_attention

    def spied(q: Tensor, k: Tensor, v: Tensor, attn_mask: Any = None, **more: Any) -> Tensor:
        seen.append(attn_mask is not None)
        return inner(q, k, v, attn_mask=attn_mask, **more)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spied)
    cache = ring_cache(model, WINDOW)
    tokens, real = given((0, 0), 20)
    streamed(model, cache, tokens, real, one_by_one(20))
    assert seen == [False] * 2 + [kv_heads == 2] * 2 * STEPS
    seen.clear()
    tokens, real = given((0, 7), 20)
    streamed(model, ring_cache(model, WINDOW), tokens, real, one_by_one(20))
    unsure = 2 * WINDOW  # how long the rows were at first is not known, until every slot is full
    assert sum(seen) == (len(seen) if kv_heads == 2 else unsure)


def test_a_decode_step_asks_the_device_for_nothing() -> None:
    """Tensors without values stand in for an accelerator: reading one raises."""
    meta = models.of(models.LlamaForCausalLM, models.LlamaConfig(**models.SIZES)).to("meta")
    tokens = text(2, 40).to("meta")
    for attention in ATTENTION:
        meta.set_attn_implementation(attention)
        cache = ring_cache(meta, WINDOW, sinks=2, layers=models.MIXED)
        with torch.no_grad():
            meta(tokens, cache=cache)
            same = [ring.keys for ring in cache.rings[1:]]
            for n in (41, 42, 43):
                real = torch.ones(2, n, device="meta")
                out = meta(tokens[:, :1], attention_mask=real, cache=cache).logits
        assert out.shape == (2, 1, models.VOCAB)
        assert all(a is b.keys for a, b in zip(same, cache.rings[1:]))
    with pytest.raises(RuntimeError, match="meta"):
        bool(real.all())


def test_caches_by_turns_modes_mixed_and_gradients_on() -> None:
    model = models.llama()
    tokens, other = text(1, 70), text(1, 70, seed=1)
    real = torch.ones_like(tokens)
    cache, second = ring_cache(model, WINDOW), ring_cache(model, WINDOW)
    out, out_second = [], []
    for t in range(70):
        with torch.inference_mode(t % 2 == 0), torch.set_grad_enabled(t % 3 == 0):
            out.append(model(tokens[:, t : t + 1], cache=cache).logits.detach())
            out_second.append(model(other[:, t : t + 1], cache=second).logits.detach())
    assert gap(torch.cat(out, 1), uncached(model, tokens, real, WINDOW)) <= SCALE
    assert gap(torch.cat(out_second, 1), uncached(model, other, real, WINDOW)) <= SCALE


def test_bfloat16_and_float64_keep_their_kind() -> None:
    tokens, real = given((0, 7), 40)
    for dtype, most in ((torch.bfloat16, 0.1), (torch.float64, 1e-14)):
        model = copy.deepcopy(models.llama()).to(dtype)
        cache = ring_cache(model, WINDOW, sinks=2)
        ours = streamed(model, cache, tokens, real, one_by_one(40))
        assert {ring.keys.dtype for ring in cache.rings} == {dtype}
        wanted = uncached(copy.deepcopy(models.llama()).double(), tokens, real, WINDOW, 2)
        assert gap(ours.double(), wanted, real) <= most


# What is refused.


def test_what_cannot_be_is_refused_at_once() -> None:
    model = models.llama()
    with pytest.raises(ValueError, match="names no sliding_window; give window="):
        ring_cache(model)
    for window in (0, -3):
        with pytest.raises(ValueError, match="window is"):
            ring_cache(model, window)
    with pytest.raises(TypeError, match=r"window is 2\.5"):
        ring_cache(model, 2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sinks is -1"):
        ring_cache(model, 4, sinks=-1)
    with pytest.raises(ValueError, match="give 2, each 'sliding_attention'"):
        ring_cache(model, 4, layers=["full_attention"])
    with pytest.raises(TypeError, match="give a model of the transformers library"):
        ring_cache("mistral")
    chunked = models.LlamaConfig(**models.SIZES)
    chunked.layer_types = ["chunked_attention"] * 2
    with pytest.raises(ValueError, match="chunked_attention"):
        ring_cache(chunked, 4)
    with pytest.raises(ValueError, match="computes attention by 'flex_attention'"):
        ring_cache(models.of(models.LlamaForCausalLM, chunked, "flex_attention"), 4)


def test_a_mask_of_another_kind_is_refused() -> None:
    model, tokens = models.llama(), text(2, 6)
    whole = models.window_mask(torch.ones_like(tokens), 4)
    with pytest.raises(ValueError, match="2-D attention_mask or none"), torch.no_grad():
        model(tokens, attention_mask=whole, cache=ring_cache(model, 4))
    cache = ring_cache(model, 4)
    streamed(model, cache, tokens, None, [6])
    with pytest.raises(ValueError, match=re.escape("so give (2, 7)")), torch.no_grad():
        model(tokens[:, :1], attention_mask=torch.ones(2, 1), cache=cache)
    with torch.no_grad():  # the mask that was made for the step before does not do
        model(tokens[:, :1], cache=cache)
        with pytest.raises(ValueError, match="2-D attention_mask or none"):
            model(tokens[:, :1], attention_mask=whole[:, :, :1], cache=cache)
    gemma = models.gemma3()
    gemma.config.use_bidirectional_attention = True
    try:
        with pytest.raises(ValueError, match="neither causal nor"), torch.no_grad():
            gemma(tokens, cache=ring_cache(gemma))
    finally:
        gemma.config.use_bidirectional_attention = False


def test_a_cache_holds_one_text_of_one_model() -> None:
    model = models.llama()
    cache, tokens, real = filled()
    with pytest.raises(ValueError, match="of another model"), torch.no_grad():
        models.mistral()(tokens[:, :1], cache=cache)
    with pytest.raises(ValueError, match="another batch or model; reset"), torch.no_grad():
        model(tokens[:1, :1], cache=cache)
    half = copy.deepcopy(model).bfloat16()
    half.model.config = model.config
    with pytest.raises(ValueError, match="bfloat16"), torch.no_grad():
        half(tokens[:, :1], cache=cache)
    assert gap(next_logits(cache, tokens, real), next_logits(filled()[0], tokens, real)) == 0


def test_a_second_text_without_a_reset_is_refused_where_it_shows() -> None:
    model, cache = models.llama(), ring_cache(models.llama(), WINDOW)
    model.generate(text(1, 20), cache=cache, max_new_tokens=30, do_sample=False)
    with pytest.raises(ValueError, match=r"holds 49 tokens.*reset\(\)"):
        model.generate(text(1, 20, seed=1), cache=cache, max_new_tokens=5)


def test_other_caches_are_left_alone() -> None:
    tokens, real = given((0, 7), 40, 0)
    before = tokens_of(models.mistral(), tokens, real, "greedy")
    ring_cache(models.mistral())
    assert torch.equal(tokens_of(models.mistral(), tokens, real, "greedy"), before)
    from transformers.masking_utils import AttentionMaskInterface

    first = AttentionMaskInterface()["sdpa"]
    ring_cache(models.mistral())
    assert AttentionMaskInterface()["sdpa"] is first  # wrapped once


def test_a_ring_is_a_torch_ring() -> None:
    cache, _, _ = filled(sinks=3, slack=2)
    assert all(type(ring) is TorchRing for ring in cache.rings)
    assert {(r.window, r.sinks, r.slack) for r in cache.rings} == {(WINDOW, 3, 2)}


# The release.


def refusal() -> str:
    """What the module that looks at the release says now."""
    with pytest.raises(ImportError) as caught:
        runpy.run_path(hf_release.__file__)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_another_release_is_refused_in_one_sentence() -> None:
    assert transformers.__version__ in TESTED
    cache_utils, masks = transformers.cache_utils, transformers.masking_utils
    layer = cache_utils.CacheLayerMixin
    known = f"tested on {TESTED[-1]}: python -m pip install transformers=={TESTED[-1]} (it lacks"
    with pytest.MonkeyPatch.context() as change:
        change.delattr(cache_utils.Cache, "crop")
        assert f"{known} Cache.crop)" in refusal()
    with pytest.MonkeyPatch.context() as change:
        change.delattr(masks, "causal_mask_function")
        assert f"{known} causal_mask_function)" in refusal()
    with pytest.MonkeyPatch.context() as change:
        change.setattr(masks, "create_causal_mask", lambda config, past_key_values: None)
        assert f"{known} the argument `cache` of a model)" in refusal()
    with pytest.MonkeyPatch.context() as change:
        change.setattr(layer, "__abstractmethods__", layer.__abstractmethods__ | {"fold"})
        assert f"{known} fold, unknown)" in refusal()
    with pytest.MonkeyPatch.context() as change:
        old = types.ModuleType("transformers")
        old.__version__ = "4.30.0"  # type: ignore[attr-defined]
        for name, module in (("", old), (".cache_utils", None), (".masking_utils", None)):
            change.setitem(sys.modules, f"transformers{name}", module)
        assert refusal().startswith("transformers 4.30.0 has no cache interface that this adapter")
    runpy.run_path(hf_release.__file__)  # and as it is, it is not


def test_a_release_that_nobody_tested_is_tried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf_proof, "RELEASE", "9.9")
    ring_cache(models.mistral())
    assert "9.9" in hf_proof._proved
    hf_proof._proved.remove("9.9")
    sees = hf_layers.sees
    monkeypatch.setattr(
        hf_layers, "sees", lambda q, k, window, sinks: sees(q, k, window + 1, sinks)
    )
    with pytest.raises(ImportError, match=r"tested on 5\.24\.0: .*its logits are off by"):
        ring_cache(models.mistral())
    assert "9.9" not in hf_proof._proved


@pytest.mark.parametrize(
    ("missing", "needs", "extra"),
    [("transformers", "", "models"), ("torch", "torch and ", "torch,models")],
)
def test_without_a_library_one_sentence_says_how_to_get_it(
    missing: str, needs: str, extra: str
) -> None:
    code = (
        f"import sys\nsys.modules[{missing!r}] = None\n"
        "try:\n    from ringkv_edu import ring_cache\nexcept ImportError as e:\n    print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        f"a cache for a language model needs {needs}the transformers library: "
        f'python -m pip install "ringkv-edu[{extra}]"\n'
    )


def test_under_autocast_it_gives_what_the_library_gives() -> None:
    model = models.llama()
    tokens = text(2, 20)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        expected, cache = model(tokens).logits, ring_cache(model, WINDOW)
        first = model(tokens[:, :19], cache=cache).logits
        last = model(tokens[:, 19:], cache=cache).logits
    out = torch.cat([first, last], dim=1)
    assert (out - expected).abs().max() <= 0.02 * expected.abs().max()
