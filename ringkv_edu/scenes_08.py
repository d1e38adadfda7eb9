"""What lesson 08 shows beside its exercises: the planner, tiles, and a small run measured here.

Nothing here is graded.
"""

from __future__ import annotations

__all__ = ["measured", "planned", "tiles"]

NEEDS_TORCH = 'This cell needs torch: python -m pip install "ringkv-edu[torch]"'
LENGTHS, WINDOW = (256, 1024, 2048), 64


def planned(*arguments: str) -> None:
    """Run `ringkv budget` with these arguments."""
    from .cli import main

    print("$ ringkv budget", *arguments)
    main(["budget", *arguments])


def tiles(tokens: int = 64, window: int = 8, tile: int = 8) -> None:
    """Compute attention tile by tile, with a window and without; say how many were computed."""
    import numpy as np

    from .tiled import tiled_attention

    q, k, v = np.random.default_rng(0).normal(size=(3, 1, tokens, 4))
    print(f"{tokens} tokens in tiles of {tile} by {tile}, {(-(-tokens // tile)) ** 2} in all:")
    for name, one in (("causal", None), (f"W = {window}", window)):
        _, work = tiled_attention(q, k, v, one, tile=(tile, tile))
        print(f"  {name:7} {work.computed} tiles computed")


def measured() -> None:
    """Time a small decoder with random weights: the first token and the further ones."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        print(NEEDS_TORCH)
        return
    import torch

    from .evaluate import contenders, speed
    from .evaluate.names import policies_of
    from .monitor.troubles import random_model

    who = contenders(random_model(), policies_of(f"full,window:{WINDOW}"))
    print(f"A decoder of 2 layers with random weights, W = {WINDOW}; what is left with the window:")
    print("tokens    cache     further token   first token")
    for n in LENGTHS:
        found = speed(who, torch.arange(n)[None] * 7 % 50, new=16, repeats=2)
        full, ring = (one.as_dict() for one in found.values())
        left = {key: ring[key] / full[key] for key in full}
        shares = f"{left['tpot_least_s']:<15.2f} {left['ttft_least_s']:.2f}"
        print(f"{n:6}    {left['peak_bytes']:<9.2f} {shares}")
