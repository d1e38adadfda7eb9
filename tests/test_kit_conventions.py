"""The convention card: measured where a library is here, computed from its stated rule elsewhere."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringkv_edu import NumpyRing, visible

from .test_kit_pages import page, table

MLX = importlib.util.find_spec("mlx_lm") is not None  # has no build for some machines
RULES = {  # what a size of 4 lets a query at i see, as each project's own text says
    "this course": lambda i, j: visible(i, j, 4),
    "flash-attn": lambda i, j: i - 4 <= j <= i + 0,
    "attention-gym": lambda i, j: i - j <= 4 and j <= i,
    "axlearn": lambda i, j: 0 <= i - j <= 4,
    "sglang, inside": lambda i, j: 0 <= i - j <= 4,
    "Mistral 7B's paper": lambda i, j: i - 4 <= j <= i,
    "TorchCode": lambda i, j: abs(i - j) <= 4,
}


def rows(root: Path) -> list[dict[str, str]]:
    head, *lines = table(page(root, "conventions.md"), "| who | its name")
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_each_rule_gives_the_keys_that_the_card_prints(root: Path) -> None:
    for row in rows(root):
        keys = [int(text) for text in row["given 4, query 9 sees"].split()]
        assert len(keys) == int(row["keys"])
        rule = RULES.get(row["who"])
        if rule:
            assert keys == [j for j in range(20) if rule(9, j)], row["who"]
        else:
            assert row["how known"] == "measured", row["who"]
        wanted = row["for our W = 4"]
        if len(keys) == 5:  # one less gives what this course calls 4
            assert wanted in ("3", "(3, 0)")
        elif len(keys) == 4:
            assert wanted == "4"
    assert len(rows(root)) == 10
    assert sorted({int(row["keys"]) for row in rows(root)}) == [4, 5, 9]
    assert "in ten places" in page(root, "conventions.md")
    assert "4 keys, 5, or 9" in page(root, "conventions.md")


def test_transformers(root: Path) -> None:
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from transformers.masking_utils import sliding_window_causal_mask_function

    sees = sliding_window_causal_mask_function(4)
    assert [j for j in range(12) if sees(0, 0, _tensor(9), _tensor(j))] == [6, 7, 8, 9]
    if transformers.__version__.startswith("5.24"):  # as the card says
        source = Path(transformers.__file__).parent / "modeling_flash_attention_utils.py"
        assert "(sliding_window - 1, sliding_window - 1)" in source.read_text(encoding="utf-8")
    (line,) = [r for r in table(page(root, "conventions.md"), "| who | its size") if "5.24" in r[0]]
    assert line[2] == str(_transformers_holds(4, 20))


def _tensor(number: int) -> Any:
    import torch

    return torch.tensor(number)


def _transformers_holds(window: int, tokens: int) -> int:
    import torch
    from transformers import MistralConfig
    from transformers.cache_utils import DynamicCache

    config = MistralConfig(num_hidden_layers=1, sliding_window=window)
    cache = DynamicCache(config=config)
    for _ in range(tokens):
        cache.update(torch.zeros(1, 1, 1, 2), torch.zeros(1, 1, 1, 2), 0)
    return int(cache.layers[0].keys.shape[2])


if MLX:

    def test_mlx(root: Path) -> None:
        import mlx.core as mx
        from mlx_lm.models.base import create_causal_mask
        from mlx_lm.models.cache import RotatingKVCache

        mask = np.array(create_causal_mask(12, window_size=4))
        assert np.flatnonzero(mask[9]).tolist() == [6, 7, 8, 9]

        def held(size: int, keep: int, tokens: int) -> list[int]:
            cache = RotatingKVCache(max_size=size, keep=keep)
            for token in range(tokens):
                got, _ = cache.update_and_fetch(*[mx.full((1, 1, 1, 1), float(token))] * 2)
            return sorted(int(x) for x in np.array(got).ravel())

        assert held(4, 0, 10) == [6, 7, 8, 9]
        assert held(6, 2, 20) == [0, 1, 16, 17, 18, 19]
        (line,) = [
            r for r in table(page(root, "conventions.md"), "| who | its size") if "mlx" in r[0]
        ]
        assert line[2] == str(len(held(6, 2, 20)))


def test_slots_of_this_course(root: Path) -> None:
    lines = table(page(root, "conventions.md"), "| who | its size")
    for slack, line in zip(
        (0, 3), [r for r in lines if r[0].startswith("this course")], strict=True
    ):
        ring = NumpyRing(4, kv_heads=1, head_dim=1, sinks=2, slack=slack)
        for _ in range(20):
            ring.append(*np.zeros((2, 1, 1, 1), np.float32))
        assert line[2] == str(ring.size) == str(ring.slots)


def test_the_question_is_asked_as_printed(root: Path) -> None:
    found = doctest.testfile(str(root / "course/conventions.md"), module_relative=False)
    assert found.attempted >= 6
    assert found.failed == 0


def test_reports_are_named_in_full(root: Path) -> None:
    text = page(root, "conventions.md")
    assert all("/" in name for name in re.findall(r"(\S+)#\d+", text))
