"""How far a changed token is felt, layer by layer, in the tiny decoder with random weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, text_style
from .words import spelt

__all__ = ["LAYERS", "TOKENS", "WINDOW", "changes", "decoder_run", "draw_reach"]

WINDOW, LAYERS, TOKENS = 4, 3, 14
Array = npt.NDArray[Any]
Run = Callable[[Sequence[int]], list[Array]]


def decoder_run(windows: Sequence[int | None]) -> Run:
    """Make a tiny decoder with a window for each layer, None for one that sees all.

    Gives ``run(tokens)``: what each block puts out, arrays (n, 16), as lesson 07's ``spread``
    takes it. Tokens are whole numbers from 0 to 9. Weights are random, from a seed. Needs torch.
    """
    import torch

    from ..model import Config, Decoder
    from ..policies import Full, Window

    sizes: dict[str, Any] = {"dim": 16, "heads": 4, "kv_heads": 2, "head_dim": 8, "hidden": 32}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        config = Config(vocab=10, layers=len(windows), **sizes)
        policies = [Full() if window is None else Window(window) for window in windows]
        model = Decoder(config, policies).double().eval()

    def run(tokens: Sequence[int]) -> list[Array]:
        outs: list[Array] = []
        hooks = [
            block.register_forward_hook(lambda _, given, out: outs.append(out[0].numpy()))
            for block in model.blocks
        ]
        try:
            with torch.no_grad():
                model(torch.tensor([list(tokens)]))
        finally:
            for hook in hooks:
                hook.remove()
        return outs

    return run


def changes() -> Array:
    """Change token 0; give the size of what that changes, (layers, tokens), 0 where nothing."""
    run, tokens = decoder_run([WINDOW] * LAYERS), [t * 7 % 10 for t in range(TOKENS)]
    pairs = zip(run(tokens), run([5, *tokens[1:]]), strict=True)
    return np.array([np.linalg.norm(a - b, axis=1) for a, b in pairs])


def draw_reach() -> Still:
    """Draw the grid of layers and positions. Gives a still of 9 by 2.7 inches."""
    import matplotlib.pyplot as plt

    found = changes()
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(9, 2.7), layout="constrained")
        for layer, row in enumerate(found):
            for position, size in enumerate(row):
                _cell(axes, position, layer, size, found.max())
            last = int(np.flatnonzero(row)[-1])
            axes.text(TOKENS - 0.35, layer, f"reaches {last}", va="center", color=INK)
        axes.set(xlim=(-0.5, TOKENS + 1.3), ylim=(-0.55, LAYERS - 0.45), xlabel="position")
        axes.set_xticks(range(TOKENS))
        axes.set_yticks(range(LAYERS), [f"layer {1 + layer}" for layer in range(LAYERS)])
        axes.tick_params(length=0, labelcolor=INK)
        axes.spines[:].set_visible(False)
        plt.close(figure)
    return Still(figure, _alt(found))


def _alt(found: Array) -> str:
    last = [int(np.flatnonzero(row)[-1]) for row in found]
    rest = "".join(f", in layer {layer} 0 to {end}" for layer, end in enumerate(last[1:], 2))
    return (
        f"{spelt(LAYERS).capitalize()} rows of {spelt(TOKENS)} cells, one for each layer of a "
        f"tiny decoder with W = {WINDOW}; a cell holds the size of the change at its position. In "
        f"layer 1 positions 0 to {last[0]} change{rest}; the later ones are exactly equal."
    )


def _cell(axes: Any, position: int, layer: int, size: float, most: float) -> None:
    import matplotlib.pyplot as plt

    strength = 0.0 if size == 0 else max(0.18, 1 + np.log10(size / most) / 2)
    box = plt.Rectangle(
        (position - 0.46, layer - 0.42), 0.92, 0.84, ec=LINE, lw=0.8,
        fc=(*plt.matplotlib.colors.to_rgb(SLOT_COLOURS[0]), strength) if size else "white",
    )  # fmt: skip
    axes.add_patch(box)
    text = "=" if size == 0 else f"{size:.2f}"
    colour = FAINT if size == 0 else "white" if strength > 0.65 else INK
    axes.text(position, layer, text, ha="center", va="center", fontsize=8.5, color=colour)
