"""The learner's ring under a tiny Mistral model, beside the library's own cache."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["side_by_side", "tiny_mistral"]

WINDOW, NEW = 8, 20
NEEDED = {
    "write_rows": ("tr1-write", 1),
    "rows_mask": ("tr2-mask", 2),
    "start_again": ("tr4-reset", 4),
}
TEXTS = {"First": 11, "Second, after a reset": 3}  # and how long their prompts are


def side_by_side(make: Any, names: Mapping[str, Any] | None = None) -> None:
    """Let a tiny model write two texts with the library's cache and with rings made by ``make``.

    Prints the tokens of both and where they part. The functions that ``make`` needs are looked up
    in the notebook's own names, or in ``names``; one that is missing is named.
    """
    known = sys._getframe(1).f_globals if names is None else names
    missing = _missing(known)
    if missing:
        print("\n".join([*missing, "Write it, then run this cell again."]))
        return
    try:
        adapters = import_module("ringkv_edu.adapters")
        model = tiny_mistral()
        cache = adapters.ring_cache(model, make=make)
    except ImportError as error:
        print(error)
        return
    try:
        _compare(model, cache)
    except Exception as error:
        print(f"With your ring the model raised {type(error).__name__}: {error}")


def tiny_mistral() -> Any:
    """Make a Mistral model with two layers, a window of 8, and seeded random weights."""
    import torch

    try:
        from transformers import MistralConfig, MistralForCausalLM
    except ImportError:
        raise ImportError(
            "A model needs the transformers library: "
            'python -m pip install "ringkv-edu[models]", then restart the kernel.'
        ) from None
    config = MistralConfig(
        vocab_size=100, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=8, num_key_value_heads=2, head_dim=8, max_position_embeddings=256,
        sliding_window=WINDOW, initializer_range=0.3, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        return MistralForCausalLM(config).eval()


def _missing(names: Mapping[str, Any]) -> list[str]:
    """Say which functions have not been written yet."""
    from .checks import exercise
    from .checks.judge import missing

    said = []
    for name, (asked_by, number) in NEEDED.items():
        if missing(exercise(asked_by), names):
            said.append(f"`{name}` is missing: it is exercise {number}.")
    return said


def _compare(model: Any, cache: Any) -> None:
    import torch

    alike = True
    for number, (title, length) in enumerate(TEXTS.items()):
        prompt = torch.tensor([[7], [11]]) * (torch.arange(length) + 3 * number) % 100
        own = _written(model, prompt, None)
        if number:
            cache.reset()
        yours = _written(model, prompt, cache)
        alike = alike and own == yours
        print(f"{title}: two rows, {NEW} tokens after a prompt of {length}, window {WINDOW}")
        for row, (theirs, mine) in enumerate(zip(own, yours, strict=True)):
            print(f"  row {row}, library's cache:", *(f"{token:2}" for token in theirs))
            print(f"  row {row}, your ring:      ", *(f"{token:2}" for token in mine))
            if theirs != mine:
                part = next(i for i in range(NEW) if theirs[i] != mine[i])
                print("  they part here:        ", *["  "] * part, "^^")
    if alike:
        print("The same tokens: a model decodes with your ring.")
    else:
        print("They should be the same. The checks of exercises 1, 2 and 4 say what is wrong.")


def _written(model: Any, prompt: Any, cache: Any) -> list[list[int]]:
    """Give the tokens that the model writes after each row's prompt, the likeliest each time."""
    import torch

    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = model.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=NEW, do_sample=False,
            pad_token_id=0, **({} if cache is None else {"cache": cache}),
        )  # fmt: skip
    tokens: list[list[int]] = out[:, prompt.shape[1] :].tolist()
    return tokens
