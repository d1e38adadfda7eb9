"""What settles the rows of article A: small runs of the rings, the mask and the rotation."""

from __future__ import annotations

import numpy as np

from ..budget import Plan
from ..budget_presets import MODELS
from ..numpy_ring import NumpyRing
from ..pure import NaiveKVBuffer, RingKVBuffer, attend
from ..rope import ntk_base, rotate
from ..visibility import oracle_attention, visibility_mask, visible
from .row import Facts, Value
from .small import Array, attention, gap, index_mask, longformer_mask, normal

BASE = 10000.0
W, D = 8, 8
TOKENS = 21  # no multiple of W: at one, a slot taken for a position is right by luck


def edge() -> Facts:
    """A1: compare both printed rules with the mask, for 40 tokens and 9 windows."""

    def seen(token: int, window: int) -> list[int]:
        return [p + 1 for p in range(token + window) if visible(token - 1, p, window)]

    pairs = [(t, w) for t in range(1, 41) for w in range(1, 10)]
    before = sum(seen(t, w) == list(range(max(1, t - w), t)) for t, w in pairs)
    itself = sum(seen(t, w) == list(range(max(1, t - w + 1), t + 1)) for t, w in pairs)
    return {
        "token 5 with W = 4 sees": " ".join(map(str, seen(5, 4))),
        "cases where t-W to t-1 is the mask": before,
        "cases where t-W+1 to t is the mask": itself,
        "cases": len(pairs),
    }


def table_of_ten() -> Facts:
    """A2: run the decode demo."""
    ring, used = RingKVBuffer(4), []
    for position in range(10):
        ring.append([1.0], [1.0], position)
        used.append(len(ring))
    last = ring.visible()
    return {
        "used slots": " ".join(map(str, used)),
        "last positions": " ".join(str(e.position) for e in last),
        "last write numbers": " ".join(str(e.insert_seq) for e in last),
    }


def nothing_moves() -> Facts:
    """A3: note in which slot each token lies, after each of six writes."""
    ring, moves = RingKVBuffer(4), 0
    home: dict[int, int] = {}
    for position in range(6):
        ring.append([float(position)], [1.0], position)
        for entry in ring.visible():
            moves += home.setdefault(entry.position, entry.physical_slot) != entry.physical_slot
            moves += entry.key != [float(entry.position)]
    return {"moves": moves, "slot of token 3": home[2], "slot of token 5": home[4]}


def touched() -> Facts:
    """A4: count the slots that a write changes, and the values that change what is read."""
    facts: dict[str, Value] = {}
    for window in (8, 32):
        ring = RingKVBuffer(window)
        for position in range(3 * window):
            ring.append([position % 5 - 2.0], [float(position)], position)
        before = list(ring.positions)
        ring.append([1.0], [0.0], 3 * window)
        facts[f"slots that a write touches, W = {window}"] = sum(
            a != b for a, b in zip(before, ring.positions, strict=True)
        )
        facts[f"values that a read depends on, W = {window}"] = _read(ring)
    return facts


def _read(ring: RingKVBuffer) -> int:
    out, needed = attend([1.0], ring), 0
    for lane in ring.values:
        assert lane is not None
        kept, lane[0] = lane[0], lane[0] + 1e3
        needed += attend([1.0], ring) != out
        lane[0] = kept
    return needed


def growth() -> Facts:
    """A5: bytes at 8,192 tokens over bytes at 1,024, with everything kept and with a ring."""
    plan = Plan(MODELS["llama-2-7b"])
    ring = plan.with_window(1024)
    return {
        "times as large, everything kept": plan.cache_bytes(8192) / plan.cache_bytes(1024),
        "times as large, W = 1,024": ring.cache_bytes(8192) / ring.cache_bytes(1024),
    }


def _chunk() -> tuple[NumpyRing, Array, Array]:
    """Give a ring that three queries can still ask, their vectors, and what they must get."""
    q, k, v = normal(6, 3, 1, TOKENS, D)
    ring = NumpyRing(W, 1, D, slack=2, dtype=np.float64)
    ring.append(k, v)
    return ring, q[0, -3:], oracle_attention(q, k, v, W, first=TOKENS - 3)[0]


def order() -> Facts:
    """A6: shuffle the slots of a full ring; then let three queries ask a ring as it lies."""
    q, k, v = normal(5, 3, 1, TOKENS, D)
    full = NumpyRing(W, 1, D, dtype=np.float64)
    full.append(k, v)
    shuffle = np.random.default_rng(1).permutation(W)
    one = attention(q[0, -1:], full.keys[0, shuffle], full.values[0, shuffle])
    ring, queries, right = _chunk()
    keys, values, time = ring.keys[0], ring.values[0], np.argsort(ring.positions)
    by_index = index_mask(3, ring.slots, W - 1, 0)
    seen = visibility_mask(np.arange(TOKENS - 3, TOKENS), ring.positions, W)
    return {
        "one query, slots shuffled": gap(one, full.attend(q[:, -1])),
        "three queries, slot order, mask by index": gap(
            attention(queries, keys, values, by_index), right
        ),
        "three queries, order of time, mask by index": gap(
            attention(queries, keys[time], values[time], by_index), right
        ),
        "three queries, slot order, mask by position": gap(
            attention(queries, keys, values, seen), right
        ),
    }


def entries() -> Facts:
    """A7: append 10,000 tokens to both buffers."""
    ring, naive = RingKVBuffer(1024), NaiveKVBuffer()
    for position in range(10_000):
        ring.append([1.0], [1.0], position)
        naive.append([1.0], [1.0], position)
    return {"entries, everything kept": len(naive), "entries, W = 1,024": len(ring)}


def when_to_turn() -> Facts:
    """A8: turn keys once when they are written, or at every read; then break each condition."""
    q, k, v = normal(7, 3, 1, TOKENS, D)
    where, newest = np.arange(TOKENS), TOKENS - 1
    at_write = NumpyRing(W, 1, D, dtype=np.float64)
    plain = NumpyRing(W, 1, D, dtype=np.float64)
    at_write.append(rotate(k[:, :-1], where[:-1]), v[:, :-1])
    plain.append(k[:, :-1], v[:, :-1])
    new = rotate(k[:, -1:], [newest])  # the last step: what each way has to turn
    at_write.append(new, v[:, -1:])
    plain.append(k[:, -1:], v[:, -1:])
    query = rotate(q[:, -1], newest)
    turned = rotate(plain.keys, plain.positions)
    read = attention(query, turned[0], plain.values[0])
    other = rotate(q[:, -1], newest, ntk_base(BASE, 4, D))
    sinks = NumpyRing(W, 1, D, sinks=2, dtype=np.float64)
    sinks.append(k, v)
    rank = np.argsort(np.argsort(sinks.positions))
    by_rank = rotate(q[:, -1], sinks.slots - 1)
    wanted = attention(by_rank, rotate(sinks.keys[0], rank), sinks.values[0])
    stale = attention(by_rank, rotate(sinks.keys[0], sinks.positions), sinks.values[0])
    return {
        "turned at write against turned at read": gap(at_write.attend(query), read),
        "keys turned a step, at write": new.shape[1],
        "keys turned a step, at read": turned.shape[1],
        "after a change of the base": gap(at_write.attend(other), read),
        "ranks for the query, keys turned to positions": gap(stale, wanted),
    }


def empty_slots() -> Facts:
    """A9: one token in four slots, its positions begun with 0 and with -1."""
    zeros, right = np.zeros(4, np.int64), np.full(4, -1)
    zeros[0] = right[0] = 0
    score, keys = 0.3, np.zeros((4, 1))
    keys[0] = score
    passes = {name: visibility_mask([0], held, 4) for name, held in (("z", zeros), ("r", right))}
    on_empty = np.array([[0.0], [1.0], [1.0], [1.0]])
    leaked = attention(np.ones((1, 1)), keys, on_empty, passes["z"])[0, 0]
    return {
        "keys that pass, positions begun with 0": int(passes["z"].sum()),
        "keys that pass, positions begun with -1": int(passes["r"].sum()),
        "attention on empty slots beside a key of score 0.3, %": 100 * float(leaked),
    }


def settings() -> Facts:
    """A10: try every window size on a wrapped ring, as it lies and in order of time."""
    ring, _, _ = _chunk()
    queries = np.arange(TOKENS - 3, TOKENS)
    sizes = range(-1, ring.slots + 1)
    tried = [index_mask(3, ring.slots, left, right) for left in sizes for right in sizes]

    def fits(positions: Array) -> int:
        wanted = visibility_mask(queries, positions, W)
        return sum(bool((mask == wanted).all()) for mask in tried)

    return {
        "settings tried": len(tried),
        "settings that give the mask, slot order": fits(ring.positions),
        "settings that give the mask, order of time": fits(np.sort(ring.positions)),
    }


def global_layers() -> Facts:
    """A11: count global layers of three patterns, and global tokens of Longformer's."""
    mask = longformer_mask(64, 8, 2)
    layers = [mask] * 12  # the same in every layer
    everything = [int(layer.all(axis=1).sum()) for layer in layers]
    return {
        "global layers, Longformer's pattern": sum(tokens == 64 for tokens in everything),
        "global tokens in each of its layers, of 64": max(everything),
        "global layers, Gemma 3 4B": _global_of("gemma-3-4b"),
        "global layers, gpt-oss 20B": _global_of("gpt-oss-20b"),
    }


def _global_of(name: str) -> str:
    windows = MODELS[name].windows
    return f"{windows.count(None)} of {len(windows)}"


def reach() -> Facts:
    """A12: change token 0 and look how far it is felt, layer by layer; W = 4."""
    start = normal(12, 16, D)
    changed = start.copy()
    changed[0] += 1
    weights = normal(13, 3, 3, D, D) / D**0.5
    facts: dict[str, Value] = {}
    for layer, three in enumerate(weights, 1):
        start, changed = (x + _layer(x, three, 4) for x in (start, changed))
        felt = np.flatnonzero((start != changed).any(axis=1))
        facts[f"last position that token 0 reaches, layer {layer}"] = int(felt[-1])
    one, window = 0, MODELS["mistral-7b"].windows[0] or 0
    while visible(one + 1, 0, window):
        one += 1
    facts["tokens back through all layers of Mistral 7B"] = one * MODELS["mistral-7b"].layers
    return facts


def _layer(x: Array, weights: Array, window: int) -> Array:
    q, k, v = (x @ w for w in weights)
    out: Array = oracle_attention(q[None], k[None], v[None], window)[0]
    return out
