"""Lesson 07: one attention layer over a ring, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..given_model import Layer, attended, write
from ..given_numpy import RingArrays
from ..given_rope import turned
from .model import answers

Array = npt.NDArray[Any]
Turn = Callable[[Array, int], Array]
Split = Callable[[Array, int, int], Array]  # (heads * head_dim,), heads, head_dim


def one_after_another(x: Array, heads: int, head_dim: int) -> Array:
    return x.reshape(heads, head_dim)


def not_turned(x: Array, position: int) -> Array:
    return x


def stepped(
    layer: Layer,
    ring: RingArrays,
    x: Array,
    at: Callable[[RingArrays], int] = lambda ring: ring.seen,
    turns: tuple[Turn, Turn, Turn] = (turned, turned, not_turned),
    split: Split = one_after_another,
    join: Callable[[Array], Array] = lambda seen: seen.reshape(-1),
) -> Array:
    """Do the layer's step, with any part of it done otherwise."""
    sizes = ((layer.q, layer.heads), (layer.k, layer.kv_heads), (layer.v, layer.kv_heads))
    parts = [split(weights @ x, heads, layer.head_dim) for weights, heads in sizes]
    q, k, v = (turn(part, at(ring)) for turn, part in zip(turns, parts, strict=True))
    write(ring, k, v)
    return np.asarray(layer.out @ join(attended(ring, q)))


def layer_step(layer: Layer, ring: RingArrays, x: Array) -> Array:
    """Give what an attention layer puts out for its next token; (dim,) each."""
    return stepped(layer, ring, x)


def with_parts(**parts: Any) -> dict[str, Any]:
    """Make a mutant from parts of ``stepped``."""
    return answers(layer_step=lambda layer, ring, x: stepped(layer, ring, x, **parts))


def project(layer: Layer, x: Array, name: str) -> Array:
    return np.asarray((getattr(layer, name) @ x).reshape(-1, layer.head_dim))


def attends_before_writing(layer: Layer, ring: RingArrays, x: Array) -> Array:
    q, k, v = (project(layer, x, name) for name in "qkv")
    q, k = turned(q, ring.seen), turned(k, ring.seen)
    seen = attended(ring, q)
    write(ring, k, v)
    return np.asarray(layer.out @ seen.reshape(-1))


def not_written(layer: Layer, ring: RingArrays, x: Array) -> Array:
    return np.asarray(layer.out @ attended(ring, turned(project(layer, x, "q"), ring.seen)).ravel())


def counted_twice(layer: Layer, ring: RingArrays, x: Array) -> Array:
    out = layer_step(layer, ring, x)
    ring.seen += 1
    return out


def written_twice(layer: Layer, ring: RingArrays, x: Array) -> Array:
    write(ring, turned(project(layer, x, "k"), ring.seen), project(layer, x, "v"))
    return layer_step(layer, ring, x)


def swapped(layer: Layer, ring: RingArrays, x: Array) -> Array:
    q, k, v = (project(layer, x, name) for name in "qkv")
    q, k = turned(q, ring.seen), turned(k, ring.seen)
    write(ring, v, k)
    return np.asarray(layer.out @ attended(ring, q).reshape(-1))


def key_of_the_query(layer: Layer, ring: RingArrays, x: Array) -> Array:
    q = turned(project(layer, x, "q"), ring.seen)
    write(ring, q[: layer.kv_heads], project(layer, x, "v"))
    return np.asarray(layer.out @ attended(ring, q).reshape(-1))


def turned_after_writing(layer: Layer, ring: RingArrays, x: Array) -> Array:
    write(ring, turned(project(layer, x, "k"), ring.seen), project(layer, x, "v"))
    seen = attended(ring, turned(project(layer, x, "q"), ring.seen))
    return np.asarray(layer.out @ seen.reshape(-1))


def not_projected_out(layer: Layer, ring: RingArrays, x: Array) -> Array:
    q, k, v = (project(layer, x, name) for name in "qkv")
    position = ring.seen
    write(ring, turned(k, position), v)
    return attended(ring, turned(q, position)).reshape(-1)


def stream_added(layer: Layer, ring: RingArrays, x: Array) -> Array:
    return x + layer_step(layer, ring, x)


def no_return(layer: Layer, ring: RingArrays, x: Array) -> None:
    layer_step(layer, ring, x)


def scaled_again(layer: Layer, ring: RingArrays, x: Array) -> Array:
    return stepped(
        layer, ring, x, turns=(lambda y, p: turned(y, p) / y.shape[-1] ** 0.5, turned, not_turned)
    )


def turned_before_splitting(layer: Layer, ring: RingArrays, x: Array) -> Array:
    q, k, v = (getattr(layer, name) @ x for name in "qkv")
    q, k = turned(q, ring.seen), turned(k, ring.seen)
    q, k, v = (part.reshape(-1, layer.head_dim) for part in (q, k, v))
    write(ring, k, v)
    return np.asarray(layer.out @ attended(ring, q).reshape(-1))


def each_head_its_position(layer: Layer, ring: RingArrays, x: Array) -> Array:
    def turn(y: Array, position: int) -> Array:
        return turned(y, position + np.arange(len(y)))

    return stepped(layer, ring, x, turns=(turn, turn, not_turned))
