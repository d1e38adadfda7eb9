"""What leaves the window leaves its token id behind; exact keys and values are made anew on demand.

An id takes 2 bytes (4 when the vocabulary is larger than int16 reaches), keys and values of a layer
``2 * kv_heads * head_dim`` numbers. But a key of layer L depends on more than its own token: layer
1 needs that token alone, and each layer with a window W between carries in W - 1 tokens more, so
exact keys of ONE token cost (L - 1) (W - 1) + 1 tokens through the layers below. Below a layer that
keeps anything but a plain window there is no such bound: the whole text up to the token runs again.
``cost`` says it, and a cache counts it.

Which tokens a query demands must be known before they are made. The index: each evicted token's key
as it would be if the layers below had added nothing to its embedding. That takes one token each, no
memory, and at layer 1 it is exact. Of all evicted tokens the ``chosen`` that score highest against
any query head of a group are recomputed for its key/value head.

Source: S34; the growing reach of stacked windows in Mistral 7B (arXiv 2310.06825), S43.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..inputs import count
from ..torch_bounds import without_gradients
from ..torch_joint import Part, joint_attention
from ..torch_ring import TorchRing
from .base import Policy, Shape, causal
from .window import Window

__all__ = ["Recompute", "RecomputeCache", "cost"]

Tensor = torch.Tensor


def cost(layer: int, windows: Sequence[int | None], position: int) -> int:
    """Say how many tokens exact keys and values of one position cost.

    ``layer`` counts from 1; ``windows`` has a number for each layer, at least for those below, None
    for a layer that keeps more than a window. A token at the start of a text has fewer before it.

    >>> cost(1, [16, 16], 50), cost(2, [16, 16], 50), cost(2, [None, 16], 50)
    (1, 16, 51)
    """
    at = count("layer", layer, 1)
    if at - 1 > len(windows):
        raise ValueError(
            f"layer is {at} and there are {len(windows)} windows; give one for each layer below it"
        )
    before = count("position", position, 0) + 1
    reach = 1
    for below in windows[: at - 1]:
        reach += before if below is None else count("window", below, 1) - 1
    return min(before, reach)


@dataclass(frozen=True)
class Recompute(Policy):
    """Keep a window and all token ids; see ``chosen`` evicted tokens again, exactly."""

    window: int
    chosen: int = 4
    name = "recompute"
    reads_tokens = True

    def __post_init__(self) -> None:
        for name in ("window", "chosen"):
            count(name, getattr(self, name), 1)

    def whole(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        shape: Shape,
        learned: Any = None,
        sink: Tensor | None = None,
        index: Tensor | None = None,
    ) -> Tensor:
        """See ``Policy.whole``; ``index`` (as ``k``) are the keys to choose by, ``k`` if None."""
        n, at = k.shape[2], torch.arange(k.shape[2], device=k.device)
        left = at[:, None] - at >= self.window
        best, found = self.choose(q, k if index is None else index, left)
        chosen = torch.zeros(*found.shape[:3], n, dtype=torch.bool, device=k.device)
        chosen = chosen.scatter(3, best, found).repeat_interleave(shape.heads // shape.kv_heads, 1)
        part = Part(k, v, chosen | causal(n, self.window, 0, k.device)[:, None])
        return joint_attention(q, [part], shape.scale, sink)[0]

    @torch.no_grad()
    def choose(self, q: Tensor, index: Tensor, left: Tensor) -> tuple[Tensor, Tensor]:
        """Choose evicted tokens for each query: which, and whether there is one.

        ``q`` (batch, heads, n, head_dim), ``index`` (batch, kv_heads, m, head_dim), ``left`` (n, m)
        bool: what has left a query's window. Both results (batch, kv_heads, n, up to chosen).
        """
        groups = torch.unflatten(q, 1, (index.shape[1], -1))
        scores = (groups @ index[:, :, None].mT).amax(2).masked_fill(~left, -torch.inf)
        best = scores.topk(min(self.chosen, scores.shape[-1]), -1)
        return best.indices, best.values > -torch.inf

    def cache(
        self, shape: Shape, batch: int, like: Tensor, learned: Any = None, sink: Any = None
    ) -> RecomputeCache:
        """See ``Policy.cache``; a decoder tells it of itself, and the tokens before each step."""
        return RecomputeCache(self, shape, batch, like, sink)


class RecomputeCache:
    """A ring, and the ids of all tokens so far; rows are of one length.

    ``recomputed`` counts the tokens that ran through the layers below once more, ``scanned`` the
    keys that were made to choose by, of all rows together.
    """

    reads_tokens = True

    def __init__(self, how: Recompute, shape: Shape, batch: int, like: Tensor, sink: Any) -> None:
        sizes = (batch, shape.kv_heads, shape.head_dim)
        self.ring = TorchRing(how.window, *sizes, dtype=like.dtype, device=like.device)
        self.how, self.shape, self.sink = how, shape, sink
        self.model: Any = None
        self.coming: Tensor | None = None
        self.ids = torch.zeros(batch, 0, dtype=torch.int16, device=like.device)
        self.recomputed = self.scanned = 0

    keys = property(lambda self: self.ring.keys)
    seen = property(lambda self: self.ring.seen)

    @property
    def nbytes(self) -> int:
        """Bytes of the ring's keys and values and of the token ids."""
        return self.ring.nbytes + self.ids.nbytes

    def belongs_to(self, model: Any, layer: int) -> None:
        """Take the decoder that can make keys and values anew, and which of its layers this is."""
        self.model, self.layer = model, layer
        below = [block.attention.policy for block in model.blocks[:layer]]
        self.windows = [policy.window if type(policy) is Window else None for policy in below]
        if model.config.vocab > torch.iinfo(self.ids.dtype).max + 1:
            self.ids = self.ids.to(torch.int32)

    def read(self, tokens: Tensor) -> None:
        """Take the ids of the tokens (batch, n) that the next step brings."""
        self.coming = tokens.to(self.ids)

    def reset(self) -> None:
        """Forget everything, the counts too."""
        self.ring.reset()
        self.ids, self.coming = self.ids[:, :0], None
        self.recomputed = self.scanned = 0

    @without_gradients
    def step(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store n tokens a row; give what each of their queries sees."""
        start, n = self.ids.shape[1], k.shape[2]
        if self.model is None or self.coming is None or self.coming.shape[1] != n:
            told = "none" if self.coming is None else self.coming.shape[1]
            raise ValueError(
                f"{n} tokens came and this cache was told the ids of {told}; use it through a "
                f"decoder's caches() and step(), which tell it the tokens"
            )
        self.ids, self.coming = torch.cat([self.ids, self.coming], 1), None
        evicted = max(0, start + n - self.how.window)
        index = self._index(evicted) if evicted else k[:, :, :0]
        each = zip(*(torch.split(x, 1, 2) for x in (q, k, v)), strict=True)
        out = [self._one(q1, k1, v1, index, start + i) for i, (q1, k1, v1) in enumerate(each)]
        return torch.cat(out, 2)

    def _one(self, q: Tensor, k: Tensor, v: Tensor, index: Tensor, position: int) -> Tensor:
        ring = self.ring
        ring.append(k, v)
        held = ring.positions[:, None] >= 0  # without slack a full ring is the window
        parts = [Part(ring.keys, ring.values, held, at=ring.positions)]
        if position >= ring.window:
            at = torch.arange(index.shape[2], device=q.device)
            left = at[None] <= position - ring.window
            best, found = self.how.choose(q, index, left)
            keys, values = self._exact(best.squeeze(2), found.squeeze(2))
            seen = found.repeat_interleave(self.shape.heads // self.shape.kv_heads, 1)
            parts.append(Part(keys, values, seen, at=best.squeeze(2)))
        return joint_attention(q, parts, self.shape.scale, self.sink)[0]

    def _index(self, evicted: int) -> Tensor:
        """Make the keys of the first tokens as if there were no layers below."""
        tokens = self.ids[:, :evicted].long()
        self.scanned += tokens.numel()
        x, block = self.model.embed(tokens), self.model.blocks[self.layer]
        turns = self._turns(torch.arange(tokens.shape[1]), x)
        keys: Tensor = block.attention.key_values(block.norm1(x), turns)[0]
        return keys

    def _exact(self, chosen: Tensor, found: Tensor) -> tuple[Tensor, Tensor]:
        """Make keys and values of the chosen positions (batch, kv_heads, chosen) anew.

        A position that several key/value heads of a row have chosen is run once.
        """
        length, (batch, kv_heads, _) = self.ids.shape[1], chosen.shape
        row, head = (torch.arange(n, device=chosen.device) for n in (batch, kv_heads))
        places = chosen + length * row[:, None, None]
        wanted, where = torch.unique(places[found], return_inverse=True)
        made = self._run(wanted // length, wanted % length)
        heads = head[:, None].expand_as(found)[found]
        room = made[0].new_zeros(2, *chosen.shape, made[0].shape[-1])
        for x, some in zip(made, room, strict=True):
            some[found] = x[where, heads]
        return room[0], room[1]

    def _run(self, rows: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Give keys and values (m, kv_heads, head_dim) of m tokens from their ids alone."""
        model, most = self.model, cost(self.layer + 1, self.windows, 2**40)
        needed = (positions + 1).clamp(max=most)
        self.recomputed += int(needed.sum())
        steps = torch.arange(int(needed.max()), device=positions.device)
        at = (positions + 1 - needed)[:, None] + steps  # what lies behind a token it never sees
        x = first = model.embed(self.ids[rows[:, None], at.clamp(max=self.ids.shape[1] - 1)].long())
        turns = self._turns(at, x)
        for block in model.blocks[: self.layer]:
            x = block(x, turns, first=first)
        block = model.blocks[self.layer]
        x = x[torch.arange(len(rows), device=rows.device), needed - 1][:, None]
        turns = self._turns(positions[:, None], x)
        keys, values = block.attention.key_values(block.norm1(x), turns)
        return keys.squeeze(2), values.squeeze(2)

    def _turns(self, positions: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
        from ..model import turns_at  # which imports the policies

        return turns_at(positions, self.model.config, like)
