"""Rotary position embedding (RoPE): turn queries and keys by an angle that grows with position.

A vector of ``head_dim`` numbers is taken as ``head_dim / 2`` pairs. Pair ``i`` is turned by the
angle ``position * base ** (-2 i / head_dim)``, so the score of a query at n and a key at m depends
on n - m alone. A key may be turned once, when it is stored, and never again: as long as the base
stays what it was. With another base every stored key is stale and must be made again from the
unrotated one.

**Pairing.** Which two numbers make a pair is a convention of the trained weights. ``half``: number
i with number i + head_dim/2 (Llama, Mistral, Gemma in the transformers library). ``interleaved``:
numbers 2i and 2i + 1 (the RoPE paper, GPT-J). Weights trained with one are wrong with the other.

**Longer contexts.** ``ntk_base`` stretches the slow pairs for texts longer than those trained on.
A sliding window needs none of it: no query is ever further than window - 1 from a key it sees
(sinks apart), so every distance is one that training has shown.

Source: arXiv 2104.09864; NTK-aware scaling as in arXiv 2309.00071, section 3.1; S28, S29, C6, C14.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from .inputs import DTYPES, count

if TYPE_CHECKING:
    import torch

__all__ = [
    "Pairing", "article_base", "cos_sin", "frequencies", "ntk_base", "numbers", "rotate", "turn",
]  # fmt: skip

Array = npt.NDArray[Any]
Pairing = Literal["half", "interleaved"]
PAIRINGS = ("half", "interleaved")


@overload
def rotate(
    x: Array, positions: npt.ArrayLike, base: float = ..., pairing: Pairing = ...
) -> Array: ...
@overload
def rotate(
    x: torch.Tensor, positions: Any, base: float = ..., pairing: Pairing = ...
) -> torch.Tensor: ...
def rotate(x: Any, positions: Any, base: float = 10000.0, pairing: Pairing = "half") -> Any:
    """Turn vectors to their positions.

    ``x`` (..., n, head_dim) of float16, float32 or float64, head_dim even; ``positions`` (n,),
    whole or half (the centre of an even block lies between two tokens), or one number for all n.
    The result has the shape and dtype of ``x``; angles and products are float64.

    ``x`` may also be a torch tensor, bfloat16 included; its positions may then be a tensor as well,
    (n,) or of a shape that broadcasts to ``x.shape[:-1]``: for one token a row of a ring,
    ``ring.seen[:, None, None]``. No value on an accelerator is read; a compiled step gives a tensor
    or one number.
    Raises ``ValueError`` or ``TypeError`` for anything else.
    """
    loaded = sys.modules.get("torch")
    if loaded and isinstance(x, loaded.Tensor):
        from .rope_torch import rotate_tensor

        return rotate_tensor(x, positions, base, pairing)
    _check(x)
    cos, sin = cos_sin(positions, x.shape[-1], base)
    if cos.ndim == 2 and (x.ndim < 2 or cos.shape[0] != x.shape[-2]):
        raise ValueError(
            f"x has shape {x.shape} and there are {cos.shape[0]} positions; give one per vector"
        )
    return turn(x, cos, sin, pairing)


def frequencies(head_dim: int, base: float = 10000.0) -> npt.NDArray[np.float64]:
    """Give the turn per token of each pair, in radians, fastest first: (head_dim / 2,)."""
    _check_head_dim(head_dim)
    number = _number("base", base, "a number of 1 or more, such as 10000.0")
    return number ** (-np.arange(0, head_dim, 2) / head_dim)


def cos_sin(
    positions: npt.ArrayLike, head_dim: int, base: float = 10000.0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Give the cosine and sine of every pair's angle at every position: (n, head_dim / 2) each.

    ``position * frequency`` alone, rounded to float64, is off by 1e-10 at position 10 ** 6. So the
    frequency is split into a coarse part, whose product with a position has no rounding at all
    (below 2 ** 28), and a small rest; the two angles are added by the addition theorems.
    """
    turns = frequencies(head_dim, base)
    coarse = turns.astype(np.float32).astype(np.float64)
    column = numbers(positions)[..., None]
    a, b = column * coarse, column * (turns - coarse)
    cos = np.cos(a) * np.cos(b) - np.sin(a) * np.sin(b)
    sin = np.sin(a) * np.cos(b) + np.cos(a) * np.sin(b)
    return cos, sin


def numbers(positions: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Give positions, one number or a row of them, as float64."""
    try:
        where = np.asarray(positions)
    except ValueError:
        raise TypeError("positions are rows of unequal length; give one row of numbers") from None
    if where.dtype.kind not in "iuf" or where.ndim > 1:
        raise TypeError(
            f"positions are {where.dtype} of shape {where.shape}; give one row of numbers, (n,)"
        )
    if not np.isfinite(where).all():
        raise ValueError("positions hold a number that is not finite")
    return where.astype(np.float64)


def turn(x: Array, cos: Array, sin: Array, pairing: Pairing = "half") -> Array:
    """Turn each pair of ``x`` (..., n, head_dim) by angles given as cosines and sines.

    ``cos`` and ``sin`` (n, head_dim / 2), or any shape that broadcasts to (..., n, head_dim / 2).
    """
    _check(x)
    half = x.shape[-1] // 2
    if pairing not in PAIRINGS:
        raise ValueError(f"pairing is {pairing!r}; give one of {', '.join(PAIRINGS)}")
    pair = (
        (slice(0, half), slice(half, None))
        if pairing == "half"
        else (slice(0, None, 2), slice(1, None, 2))
    )
    _check_turns(x, cos, sin)
    first, second = x[..., pair[0]], x[..., pair[1]]
    out = np.empty_like(x)
    out[..., pair[0]] = first * cos - second * sin
    out[..., pair[1]] = second * cos + first * sin
    return out


def ntk_base(base: float, stretch: float, head_dim: int) -> float:
    """Give the base that slows the slowest pair ``stretch`` times and the fastest not at all.

    It is ``base * stretch ** (d / (d - 2))`` for ``d = head_dim``, which must be 4 or more.
    """
    _check_head_dim(head_dim)
    if head_dim < 4:
        raise ValueError(f"head_dim is {head_dim}; with one pair the base changes nothing")
    return _scaled(base, stretch, head_dim / (head_dim - 2))


def article_base(base: float, stretch: float, alpha: float = 0.5) -> float:
    """Give the base by article C's formula (C6), ``base * stretch ** alpha``, to compare.

    With its alpha of 0.5, head_dim 128 and stretch 4 the slowest pair turns 1.98 times slower.
    """
    return _scaled(base, stretch, alpha)


def _scaled(base: float, stretch: float, power: float) -> float:
    number = _number("base", base, "a number of 1 or more, such as 10000.0")
    times = _number("stretch", stretch, "how many times longer texts are, 1 or more")
    power = _number("power", power, "a power from 0 on", least=0)
    try:
        return float(number * times**power)
    except OverflowError:
        raise ValueError(f"base {base} with stretch {stretch} is too large for a float") from None


def _number(name: str, value: Any, wanted: str, least: float = 1) -> float:
    """Give a finite number of ``least`` or more."""
    try:
        number = float(value + 0.0)  # a text is no number, even one that float() could read
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {str(value)[:40]!r}; give {wanted}") from None
    if not least <= number < np.inf:
        raise ValueError(f"{name} is {value}; give {wanted}")
    return number


def _check(x: Any) -> None:
    if isinstance(x, np.ma.MaskedArray) or not isinstance(x, np.ndarray):
        raise TypeError(f"x is a {type(x).__name__}; give a NumPy array (..., n, head_dim)")
    if x.dtype.name not in DTYPES:
        raise TypeError(f"x has dtype {x.dtype}; give one of {', '.join(DTYPES)}")
    if x.ndim < 1:
        raise ValueError("x is a single number; give vectors (..., n, head_dim)")
    _check_head_dim(x.shape[-1])


def _check_turns(x: Array, *turns: Any) -> None:
    """Check that cosines and sines belong to the pairs of x."""
    pairs = (*x.shape[:-1], x.shape[-1] // 2)
    for name, given in zip(("cos", "sin"), turns, strict=True):
        array = np.asarray(given)
        try:
            fits = array.dtype.kind == "f" and np.broadcast_shapes(array.shape, pairs) == pairs
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"{name} is {array.dtype} of shape {array.shape}; give floats that fit the "
                f"pairs of x, {pairs}"
            )


def _check_head_dim(head_dim: Any) -> None:
    if count("head_dim", head_dim, 2) % 2:
        raise ValueError(f"head_dim is {head_dim}; pairs need an even number, 2 or more")
