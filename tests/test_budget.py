"""The planner agrees with what is allocated, and with the figures that the source audit settles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringkv_edu.budget import GB, GIB, KIB, MIB, Card, Model, Plan, Policy, first_gain
from ringkv_edu.budget_presets import CARDS, MODELS, card_named, from_config, model_named
from ringkv_edu.cli import main
from ringkv_edu.cli_budget import number
from ringkv_edu.problem import Problem

SEVEN, ARTICLE = Plan(MODELS["llama-2-7b"]), CARDS["article-80gb"]


def test_a_token_of_the_7b_model() -> None:
    assert SEVEN.token_bytes == 512 * KIB
    assert SEVEN.cache_bytes(1024) == 512 * MIB
    assert SEVEN.cache_bytes(32768) == 16 * GIB
    assert round(SEVEN.cache_bytes(32768) / GB, 2) == 17.18


def test_what_a_window_gains_in_latency_and_in_throughput() -> None:
    window = SEVEN.with_window(1024)
    gains = [round(window.gain(SEVEN, ARTICLE, n), 1) for n in (16384, 32768, 65536)]
    assert gains == [1.6, 2.2, 3.4]
    assert round(window.gain(SEVEN, ARTICLE, 16384, batch=8), 1) == 4.6
    assert SEVEN.most_requests(ARTICLE, 16384, use=1) == 7
    assert window.most_requests(ARTICLE, 16384, use=1) == 123
    assert round(window.throughput_gain(SEVEN, ARTICLE, 16384, use=1)) == 16
    assert first_gain(window, SEVEN, ARTICLE, 3, (16384, 32768, 65536)) == 65536
    assert first_gain(window, SEVEN, ARTICLE, 30, (16384, 32768)) is None


def test_longest_context_and_most_requests_are_edges() -> None:
    longest = SEVEN.longest_context(ARTICLE, batch=2)
    room = SEVEN.room(ARTICLE)
    assert SEVEN.cache_bytes(longest, 2) <= room < SEVEN.cache_bytes(longest + 1, 2)
    most = SEVEN.most_requests(ARTICLE, longest)
    assert SEVEN.cache_bytes(longest, most) <= room < SEVEN.cache_bytes(longest, most + 1)
    assert SEVEN.with_window(64).longest_context(ARTICLE, most=10**6) == 10**6
    assert Plan(SEVEN.model, stored="float32").longest_context(Card("small", 20 * GB, GB)) == 0


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("window", "sinks", "slack", "batch"), [(7, 0, 0, 1), (16, 4, 3, 5)])
def test_bytes_of_a_torch_ring(dtype: str, window: int, sinks: int, slack: int, batch: int) -> None:
    torch = pytest.importorskip("torch")
    from ringkv_edu import TorchRing

    ring = TorchRing(window, batch, 2, 24, sinks, slack, dtype=getattr(torch, dtype))
    model = Model("one layer", 6, 2, 24, (None,), 1)
    plan = Plan(model, Policy(window, sinks, slack), cache=dtype)
    storages = {x.untyped_storage().data_ptr(): x.untyped_storage().nbytes()
                for x in (ring.keys, ring.values)}  # fmt: skip
    assert plan.cache_bytes(1, batch, allocated=True) == ring.nbytes == sum(storages.values())
    assert plan.cache_bytes(10_000, batch) == ring.nbytes


def test_bytes_of_the_cache_of_a_model_of_the_library() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from ringkv_edu.adapters import ring_cache

    sizes = dict(hidden_size=32, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2)
    config = transformers.Gemma3TextConfig(
        vocab_size=99, num_hidden_layers=6, sliding_window=8, head_dim=16, **sizes
    )
    model = transformers.Gemma3ForCausalLM(config).eval()
    cache = ring_cache(model, sinks=2)
    with torch.no_grad():
        model(torch.arange(20)[None].repeat(3, 1), cache=cache)
    read = Model("gemma", 4, 2, 16, tuple(
        8 if kind == "sliding_attention" else None for kind in config.layer_types), 1)  # fmt: skip
    assert None in read.windows
    plan = Plan(read, Policy(None, sinks=2), cache="float32")
    assert plan.cache_bytes(20, 3, allocated=True) == cache.nbytes


def test_bytes_of_summaries() -> None:
    pytest.importorskip("torch")
    from ringkv_edu.numpy_summaries import NumpySummaryRing

    ring = NumpySummaryRing(4, kv_heads=2, head_dim=8, summaries=3, block=2)
    plan = Plan(Model("one", 2, 2, 8, (None,), 1), Policy(4, summaries=3), cache="float32")
    assert plan.cache_bytes(100) == ring.keys.nbytes + ring.values.nbytes + (
        ring.summary_keys.nbytes + ring.summary_values.nbytes
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Model("m", 6, 4, 8, (None,), 1), "6 heads cannot share 4"),
        (lambda: Model("m", 4, 4, 8, (), 1), "windows is"),
        (lambda: Model("m", 4, 0, 8, (None,), 1), "kv_heads is 0"),
        (lambda: Policy(0), "window is 0"),
        (lambda: Policy(4, sinks=-1), "sinks is -1"),
        (lambda: Plan(SEVEN.model, cache="fp16"), "'fp16' are unknown; give float32"),
        (lambda: SEVEN.cache_bytes(-1), "tokens is -1"),
        (lambda: SEVEN.room(ARTICLE, use=90), "use is 90"),
        (lambda: SEVEN.throughput_gain(SEVEN, Card("tiny", GB, GB), 8), "not one request"),
    ],
)
def test_wrong_calls_say_what_was_given(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]


def test_every_preset_says_where_its_figures_are_printed() -> None:
    assert all(one.source for one in (*MODELS.values(), *CARDS.values()))
    assert MODELS["gemma-3-4b"].windows.count(None) == 5
    assert MODELS["gpt-oss-20b"].windows[:2] == (128, None)


def test_a_config_of_the_library_is_read(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = dict(hidden_size=32, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2)
    config = transformers.MistralConfig(
        vocab_size=99, num_hidden_layers=3, sliding_window=8, **sizes
    )
    config.save_pretrained(tmp_path)
    found = from_config(tmp_path / "config.json")
    model = transformers.MistralForCausalLM(config)
    assert (found.windows, found.kv_heads, found.head_dim) == ((8, 8, 8), 2, 8)
    assert found.weights == sum(p.numel() for p in model.parameters())
    assert model_named(str(tmp_path)) == found


@pytest.mark.parametrize(
    ("text", "words"), [("{", "cannot be read"), ("[]", "lacks num_hidden"), ("{}", "lacks num_")]
)
def test_a_config_that_is_none_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(Problem, match=words):
        from_config(tmp_path / "config.json")


def test_layer_types_and_patterns(tmp_path: Path) -> None:
    base = dict(num_hidden_layers=4, num_attention_heads=4, hidden_size=32, vocab_size=9)
    path = tmp_path / "config.json"

    def windows(**more: object) -> tuple[int | None, ...]:
        path.write_text(json.dumps(base | more), encoding="utf-8")
        return from_config(path).windows

    kinds = ["sliding_attention", "full_attention"] * 2
    assert windows(sliding_window=8, layer_types=kinds) == (8, None, 8, None)
    assert windows(sliding_window=8, sliding_window_pattern=2) == (8, None, 8, None)
    assert windows(sliding_window=8, use_sliding_window=False) == (None,) * 4
    assert windows(sliding_window=None) == (None,) * 4
    assert windows(text_config=base | {"sliding_window": 4}) == (4,) * 4


def test_cards_by_hand() -> None:
    assert card_named("24GB:1008GB/s").memory == 24 * GB
    assert card_named("24GiB:1.5TB/s").bandwidth == 1500 * GB
    with pytest.raises(Problem, match="no card is called"):
        card_named("fast")


@pytest.mark.parametrize(("text", "n"), [("4096", 4096), ("32k", 32768), ("1M", 2**20)])
def test_lengths(text: str, n: int) -> None:
    assert number(text) == n


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot = tmp_path / "roof.png"
    arguments = ["--context", "16k", "--card", "article-80gb", "--windows", "1024", "--use", "1"]
    assert main(["budget", *arguments, "--plot", str(plot)]) == 0
    said = capsys.readouterr().out
    assert "512 KiB" in said
    assert "W = 1,024          0.500       123   no end      14.01     1.6x       16.3x" in said
    assert plot.stat().st_size < 40_000
    assert main(["budget", "--model", "llama-2-13b", "--card", "24GB:1008GB/s"]) == 1
    assert "The weights alone do not fit" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["--model", "gpt-9"], ["--context", "long"], ["--use", "2"], ["--sinks", "-1"],
     ["--cache", "int3"], ["--batch", "-1"], ["--windows", "0"]],
)  # fmt: skip
def test_wrong_options_are_named(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", *arguments]) == 2
    assert "ringkv: " in capsys.readouterr().err
