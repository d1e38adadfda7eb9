"""What lesson 07 shows beside its exercises: live where torch and the model are, else recorded.

Nothing here is graded. What was not computed here says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .recorded import recorded, row

__all__ = ["cliff", "side_by_side", "two_ways"]

NEEDS_TORCH = 'This cell needs torch: python -m pip install "ringkv-edu[torch]"'
TOPICS = ("specialnames", "objects", "naming")  # of Python's own documentation
LIVE_TOKENS, WIDTH = 641, 64
NAMES = {"full": "everything", "window": "last 256", "sinks": "252 + first 4"}


def two_ways() -> None:
    """Run a tiny decoder over a whole text, and token by token through rings."""
    if not _torch():
        return
    import torch

    from .policies import Full, Window

    windows = (8, None, 8, None)
    model = _tiny([Full() if w is None else Window(w) for w in windows])
    tokens = torch.arange(40)[None] * 7 % 50
    with torch.no_grad():
        whole = model(tokens)
    caches = model.caches()
    steps = torch.cat([model.step(tokens[:, t : t + 1], caches) for t in range(40)], dim=1)
    print(f"40 tokens, 4 layers; the largest logit is {whole.abs().max():.2f},")
    print(f"the largest difference between the two ways {(whole - steps).abs().max():.1e}")
    for number, (window, cache) in enumerate(zip(windows, caches, strict=True)):
        kind = "sees all   " if window is None else f"window {window:2}  "
        print(f"  layer {number}, {kind} cache after 40 tokens: {int(cache.nbytes):5} bytes")


def cliff() -> None:
    """Show perplexity along a text for three caches: measured here, or as recorded."""
    if not _model():
        about = recorded("cliff")
        per_line = WIDTH // about["bin"]
        losses = {key: row("cliff", key)["nll_bins"] for key in NAMES}
        print(f"Recorded on {about['date']}, {about['model']}, {about['machine']['cpu']}:")
        _curve({k: _joined(v[: LIVE_TOKENS // about["bin"]], per_line) for k, v in losses.items()})
        return
    import pydoc_data.topics

    from .policies import Full, Sinks, Window
    from .real import smollm2
    from .real.named import Row
    from .real.perplexity import bins, run_one

    print("Measuring three runs of SmolLM2, about a minute ...", flush=True)
    model, tokenizer = smollm2()
    text = "".join(pydoc_data.topics.topics[name] for name in TOPICS)
    ids = tokenizer.encode(text, add_special_tokens=False).ids[:LIVE_TOKENS]
    policies = (("full", Full()), ("window", Window(256)), ("sinks", Sinks(252, 4)))
    runs = {key: run_one(model, ids, Row(key, NAMES[key], policy)) for key, policy in policies}
    print(f"Measured here, {LIVE_TOKENS} tokens of Python's documentation:")
    _curve({key: bins(run.nll, WIDTH) for key, run in runs.items()})


def side_by_side(make: Any, sinks: int = 0, new: int = 60, anyway: bool = False) -> None:
    """Let a model write with a right ring and with rings made by ``make``, window 48.

    SmolLM2, or without it a tiny decoder with random weights. ``make`` is first tried on the known
    bugs of ring caches; when it fails one, ``anyway`` shows what the model says with it.
    """
    if _torch():
        from .real import side_by_side as beside

        beside(make, sinks=sinks, new=new, anyway=anyway)


def _tiny(policies: Sequence[Any]) -> Any:
    """Make a decoder of 4 layers with random weights, from a seed."""
    import torch

    from .model import Config, Decoder

    sizes: dict[str, Any] = {"dim": 32, "heads": 4, "kv_heads": 2, "head_dim": 8, "hidden": 64}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        return Decoder(Config(vocab=50, layers=len(policies), **sizes), policies).eval()


def _joined(losses: Sequence[float], width: int) -> list[float]:
    groups = [losses[at : at + width] for at in range(0, len(losses), width)]
    return [sum(group) / len(group) for group in groups]


def _curve(losses: dict[str, list[float]]) -> None:
    """Print perplexity by bins, and a bar for each, a sign for each factor of 1.25."""
    print("tokens    " + "".join(f"{NAMES[key]:>15}" for key in losses), "  last 256, as a bar")
    for place in range(len(next(iter(losses.values())))):
        found = {key: math.exp(each[place]) for key, each in losses.items()}
        first = 1 + place * WIDTH
        numbers = "".join(f"{value:15.1f}" for value in found.values())
        bar = "#" * round(math.log(found["window"], 1.25))
        print(f"{first:4}-{first + WIDTH - 1:<4} {numbers}   {bar}")


def _torch() -> bool:
    from importlib.util import find_spec

    if find_spec("torch") is None:
        print(NEEDS_TORCH)
        return False
    return True


def _model() -> bool:
    """Say whether the real model and all that it needs are here."""
    from importlib.util import find_spec

    from .real import fetched

    return fetched() and all(find_spec(name) for name in ("torch", "safetensors", "tokenizers"))
