"""The layers of a `RingCache`: each hands over keys and values together with the mask for them."""

from __future__ import annotations

from typing import Any

import torch

from ..torch_ring import TorchRing
from ..visibility import sees
from .any_ring import made_by
from .hf_masks import Call
from .hf_release import cache_utils
from .stores import Native, Store

__all__ = ["FullLayer", "RingLayer"]

Tensor = torch.Tensor


class RingLayer(cache_utils.CacheLayerMixin):  # type: ignore[misc]
    """One layer's ring: made when the first keys come, since they tell its batch and heads."""

    is_sliding, is_compileable = True, False

    def __init__(self, window: int, sinks: int = 0, slack: int = 0, make: Any = None) -> None:
        super().__init__()
        self.window, self.sinks, self.slack, self.make = window, sinks, slack, make
        self.is_croppable = slack > 0
        self.length = 0  # columns that came, padding included: the library counts so
        self.store: Store | None = None

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Make the ring for keys (batch, kv_heads, n, head_dim)."""
        if key_states.shape != value_states.shape:
            raise ValueError(
                f"keys have shape {tuple(key_states.shape)} and values "
                f"{tuple(value_states.shape)}; a ring stores vectors of one length"
            )
        sizes = self.window, self.sinks, self.slack
        if self.make is None:
            self.store = Native(_ring_for(key_states, *sizes))
        else:
            self.store = made_by(self.make, key_states, *sizes)
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, call: Call, **_: Any
    ) -> tuple[Tensor, Tensor]:
        """Store the new tokens; give the keys and values that they attend to, and show the mask."""
        value_states = value_states.to(key_states.dtype)  # autocast turns keys in float32
        store = self._store_for(key_states, value_states)
        if call.tokens == 1:
            known = call.real is None and store.bare(call.start, 1)
            store.append(key_states, value_states, call.real)
            self.keys, self.values, held = store.held()
            if known:
                call.show_all(held.shape[1], held.device)
            elif call.masks:
                call.show(store.newest(held)[:, None])
            keys, values = self.keys, self.values
        else:
            old_keys, old_values, held = store.held()
            new = call.positions(store.seen)
            keys = torch.cat([old_keys, key_states], dim=2)
            values = torch.cat([old_values, value_states], dim=2)
            if call.masks:
                held = torch.cat([held, new], dim=1)
                call.show(sees(new[:, :, None], held[:, None], self.window, self.sinks))
            store.append(key_states, value_states, call.real)
            self.keys, self.values, _held = store.held()
        self.length += call.tokens
        return keys, values

    def _store_for(self, key_states: Tensor, value_states: Tensor) -> Store:
        if self.store is not None and not self.store.fits(key_states):
            if self.length:
                raise ValueError(
                    f"keys of shape {tuple(key_states.shape)}, {key_states.dtype}, came to a cache "
                    f"that holds the text of another batch or model; reset() it, or make one anew"
                )
            self.store = None
        if self.store is None:
            self.lazy_initialization(key_states, value_states)
        assert self.store is not None
        return self.store

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Give the columns as the library counts them; the mask is made for the slots."""
        return self.length + query_length, 0

    def get_seq_length(self) -> int:
        """Give how many columns came: the next token's position in a text without padding."""
        return self.length

    def get_max_length(self) -> int:
        """Give -1: a text may have any length."""
        return -1

    def reset(self) -> None:
        """Forget every token; the storage stays where it is."""
        self.length = 0
        if self.store is not None:
            self.store.reset()

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Put a copy of row ``beam_idx[i]`` at place i."""
        if self.store is not None:
            self.store.reorder(beam_idx.to(self.store.seen.device))

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep some rows."""
        if self.store is not None:
            self.store.select(indices.to(self.store.seen.device))
            self.keys, self.values, _ = self.store.held()

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Put each row ``repeats`` times, one copy after the other."""
        if self.store is not None:
            rows = torch.arange(len(self.store.seen), device=self.store.seen.device)
            self.batch_select_indices(rows.repeat_interleave(repeats))

    def check_take_back(self, n: int | Tensor) -> None:
        """Raise when the newest n real tokens of a row cannot be taken back."""
        if self.store is not None:
            self.store.check_rewind(n)

    def take_back(self, n: int | Tensor, columns: int) -> None:
        """Take back ``columns`` columns, n of them real: an int or (batch,)."""
        if self.store is not None:
            self.store.rewind(n)
        self.length -= columns

    def crop(self, tokens_to_remove: int) -> None:
        """Refuse: how many of the columns are padding is known to the cache alone."""
        raise NotImplementedError("call crop of the RingCache that this layer belongs to")

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values."""
        if self.store is None:
            return 0
        return sum(int(x.nbytes) for ring in self.store.rings for x in (ring.keys, ring.values))


class FullLayer(cache_utils.DynamicLayer):  # type: ignore[misc]
    """A layer of full attention: the library's own, which makes its mask like the rings do."""

    def update(
        self, key_states: Tensor, value_states: Tensor, call: Call, **_: Any
    ) -> tuple[Tensor, Tensor]:
        """Store the new tokens; give all keys and values, and show the mask."""
        if call.masks:
            call.show(call.causal(key_states.device))
        keys, values = super().update(key_states, value_states)
        return keys, values

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values."""
        return sum(x.nbytes for x in (self.keys, self.values) if x is not None)


def _ring_for(k: Tensor, window: int, sinks: int, slack: int) -> TorchRing:
    batch, kv_heads, _, head_dim = k.shape
    return TorchRing(window, batch, kv_heads, head_dim, sinks, slack, k.dtype, k.device)
