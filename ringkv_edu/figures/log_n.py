"""What a mean of 16 tokens gets of the attention, with and without log n, and what is lost."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..graded import draw
from .still import Still
from .style import FAINT, INK, LINE, SLOT_COLOURS, WRONG, text_style

__all__ = ["SPREADS", "TOKENS", "Measured", "draw_log_n", "measured"]

TOKENS, HEAD_DIM, DRAWS = 16, 8, 400
SPREADS = tuple(i / 10 for i in range(0, 26))
Array = npt.NDArray[np.float64]


class Measured(NamedTuple):
    """For each spread: the block's share of the attention, and the error of the output."""

    true_share: list[float]
    share: dict[str, float]  # "with" and "without": the same for every spread
    error: dict[str, list[float]]


def measured() -> Measured:
    """Attend to 16 tokens of a window and to a block of 16, exactly and as a summary.

    The window's scores are all 0. The block's have the mean 0 and the given standard deviation; the
    score of the mean key is the mean of the scores, so it is 0, too. An error is the length of the
    difference to exact attention, for values whose numbers have the standard deviation 1. All are
    means over 400 draws.
    """
    rng = draw(0, "log-n")
    blocks = [_block(rng) for _ in range(DRAWS)]
    shares, errors = [], {"with": [], "without": []}  # type: ignore[var-annotated]
    for spread in SPREADS:
        found = [_exact(spread * scores, *values) for scores, *values in blocks]
        shares.append(float(np.mean([share for share, _ in found])))
        for name, weight in (("with", TOKENS), ("without", 1)):
            outs = [_pooled(weight, *values) for _, *values in blocks]
            gaps = [np.linalg.norm(out - true) for out, (_, true) in zip(outs, found, strict=True)]
            errors[name].append(float(np.mean(gaps)))
    share = {"with": 1 / 2, "without": 1 / (TOKENS + 1)}
    return Measured(shares, share, errors)


def _block(rng: Random) -> tuple[Array, Array, Array]:
    """Draw scores of mean 0 and deviation 1, and the values of the window and of the block."""
    scores = _normal(rng, TOKENS)
    scores = (scores - scores.mean()) / scores.std()
    return scores, _normal(rng, TOKENS, HEAD_DIM), _normal(rng, TOKENS, HEAD_DIM)


def _normal(rng: Random, *shape: int) -> Array:
    return np.array([rng.gauss(0, 1) for _ in range(int(np.prod(shape)))]).reshape(shape)


def _exact(scores: Array, window: Array, block: Array) -> tuple[float, Array]:
    weights = np.exp(np.concatenate([np.zeros(TOKENS), scores]))
    weights /= weights.sum()
    return float(weights[TOKENS:].sum()), weights @ np.concatenate([window, block])


def _pooled(weight: float, window: Array, block: Array) -> Array:
    mean: Array = (window.sum(axis=0) + weight * block.mean(axis=0)) / (TOKENS + weight)
    return mean


def draw_log_n() -> Still:
    """Draw shares on the left and errors on the right. Gives a still of 9 by 3.4 inches."""
    import matplotlib.pyplot as plt

    found = measured()
    with plt.rc_context(text_style()):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        level = {name: [share] * len(SPREADS) for name, share in found.share.items()}
        _line(left, found.true_share, "exact: all 16 keys", INK, "-", "")
        _line(left, level["with"], "a mean, log 16 added", SLOT_COLOURS[0], "--", "o")
        _line(left, level["without"], "a mean alone", WRONG, ":", "s")
        _line(right, found.error["with"], "", SLOT_COLOURS[0], "--", "o")
        _line(right, found.error["without"], "", WRONG, ":", "s")
        left.set(ylim=(0, 1), ylabel="share of the attention")
        right.set(ylim=(0, 1.8), ylabel="error of the output")
        for axes in (left, right):
            axes.set(xlabel="spread of the 16 scores", xlim=(0, SPREADS[-1]))
            axes.grid(color=LINE, lw=0.5)
            axes.tick_params(colors=FAINT, labelcolor=INK)
            axes.spines[["top", "right"]].set_visible(False)
        figure.legend(frameon=False, loc="outside upper center", ncols=3)
        plt.close(figure)
    return Still(figure, _alt(found))


def _alt(found: Measured) -> str:
    good, bad = found.error["with"], found.error["without"]
    log, share = f"log {TOKENS}", {name: _two(level) for name, level in found.share.items()}
    return (
        f"Two panels against the spread of the {TOKENS} scores, from {SPREADS[0]:g} to "
        f"{SPREADS[-1]:g}. Left, the share of the attention: exact attention "
        f"rises {_rise(found.true_share)}; a mean with {log} stays at {share['with']}; a mean "
        f"alone stays at {share['without']}. Right, the error of the output: with {log} it "
        f"rises {_rise(good)}, without {_rise(bad)}."
    )


def _rise(line: list[float]) -> str:
    return f"from {_two(line[0])} to {_two(line[-1])}"


def _two(number: float) -> str:
    return f"{number:.2f}" if number > 0.005 else "0"


def _line(axes: Any, values: list[float], label: str, colour: str, line: str, mark: str) -> None:
    axes.plot(SPREADS, values, color=colour, ls=line, lw=2.4, marker=mark, markevery=5, ms=6,
              label=label or None, clip_on=False)  # fmt: skip
