"""A cache of rings, as `forward` and `generate` of the transformers library use it."""

from __future__ import annotations

from typing import Any

import torch

from ..inputs import count
from .hf_layers import FullLayer, RingLayer
from .hf_masks import Call, Offset, blank, install, plain_rule
from .hf_release import RELEASE, TESTED, cache_utils

__all__ = ["RingCache"]

Tensor = torch.Tensor


class RingCache(cache_utils.Cache):  # type: ignore[misc]
    """A cache of `RingLayer` and `FullLayer`, one for each layer of a model; see `ring_cache`.

    It holds the texts of one batch. `reset` makes it ready for another, of any size.
    """

    def __init__(self, layers: list[RingLayer | FullLayer]) -> None:
        super().__init__(layers=layers)
        install()
        self._call: Call | None = None
        self._config: int | None = None  # whose text this is
        self._padding: Tensor | None = None  # (batch, columns) bool, of the last call that had one

    @property
    def rings(self) -> list[Any]:
        """Each layer's ring (a list, where each row has its own); None for full attention."""
        stores = [getattr(layer, "store", None) for layer in self.layers]
        return [None if store is None else store.ring for store in stores]

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values."""
        return sum(layer.nbytes for layer in self.layers)

    # One forward: a mask is asked for, then each layer hands over its keys.

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        """Give how many columns there are and where they begin: a number that knows its cache."""
        length, first = super().get_mask_sizes(query_length, layer_idx)
        offset = Offset(first)
        offset.cache = self
        return length, offset

    def opened(self, dtype: torch.dtype, asked: dict[str, Any]) -> Tensor | None:
        """Begin a forward: answer the library's wish for a mask.

        ``asked`` are the arguments of its mask function. None stands for "all columns, causal".
        """
        if asked.get("use_vmap") or not plain_rule(asked["mask_function"]):
            raise ValueError(
                "this model asks for a mask that is neither causal nor a sliding window "
                "(tokens that see later ones, for one); a ring cannot serve it"
            )
        call = self._new_call(asked)
        if self._call is not None and self._call.waits_like(call):
            call.masks = self._call.masks  # another kind of layer asks, in the same forward
        self._call = call
        skip = dtype == torch.bool and asked.get("allow_is_causal_skip", True)
        if skip and not _better_masked(call, asked) and self._needs_none(call):
            return None
        return blank(call, dtype, asked["device"])

    def _new_call(self, asked: dict[str, Any]) -> Call:
        start, tokens, batch = int(asked["q_offset"]), asked["q_length"], asked["batch_size"]
        self._own(asked.get("config"))
        if tokens < 1:
            raise ValueError(
                f"no new token came: this cache already holds {start} tokens of a text. reset() it "
                f"for another, or give the whole text so far and what follows"
            )
        padding = asked["attention_mask"]
        if padding is None:
            return Call(start, tokens, batch, None, None)
        if padding.ndim != 2 or len(padding) != batch or padding.shape[1] < start + tokens:
            raise ValueError(
                f"attention_mask has shape {tuple(padding.shape)}; {start} columns came before and "
                f"{tokens} come now, so give ({batch}, {start + tokens})"
            )
        padding = self._padding = padding[:, : start + tokens].bool()
        real = padding[:, start:]
        if _may_look(real, tokens) and bool(real.all()):
            real = None
        return Call(start, tokens, batch, real, padding)

    def _own(self, config: Any) -> None:
        """Refuse the text of a second model: its keys mean something else."""
        if self.get_seq_length() == 0:
            self._config = id(config)
        elif self._config != id(config):
            raise ValueError("this cache holds the text of another model; make one for each")

    def _needs_none(self, call: Call) -> bool:
        """Say whether the host knows that every layer's columns are all visible, causally."""
        if call.real is not None or (call.tokens > 1 and call.start):
            return False
        for layer in self.layers:
            if isinstance(layer, RingLayer):
                if layer.store is None:
                    fresh = layer.make is None and call.tokens <= layer.window + layer.sinks
                    if not fresh:
                        return False
                elif not layer.store.bare(call.start, call.tokens):
                    return False
            elif call.padding is not None and not (
                _may_look(call.padding, call.tokens) and bool(call.padding.all())
            ):
                return False
        return True

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Store a layer's new tokens; give the keys and values that they attend to."""
        layer, call = self.layers[layer_idx], self._call
        new = (len(key_states), key_states.shape[2])
        if call is None or new != (call.batch, call.tokens) or layer.get_seq_length() != call.start:
            raise ValueError(
                f"layer {layer_idx} brings {new[1]} tokens of {new[0]} rows, and this cache was "
                f"asked for no mask for them. It makes the masks itself: give the model a 2-D "
                f'attention_mask or none, and attn_implementation "sdpa" or "eager" (transformers '
                f"{RELEASE}; tested on {', '.join(TESTED)})"
            )
        call.begun, before = True, getattr(layer, "store", None)
        keys, values = layer.update(key_states, value_states, call)
        if getattr(layer, "store", None) is not before:
            self._check_apart()
        return keys, values

    def _check_apart(self) -> None:
        """Refuse one ring for two layers or rows."""
        stores = [layer.store for layer in self.layers if isinstance(layer, RingLayer)]
        rings = [ring for store in stores if store is not None for ring in store.rings]
        if len({id(ring) for ring in rings}) < len(rings):
            raise ValueError("make gave the same ring twice; it must make a new one each time")

    # Between forwards.

    def reset(self) -> None:
        """Forget every token; another batch, or another model of these sizes, may follow."""
        super().reset()
        self._call = self._config = self._padding = None

    def crop(self, tokens_to_remove: int) -> None:
        """Take back the newest columns: a number below 0, as the library gives it.

        Raises ``RewindError``, and changes nothing, where a ring no longer holds what the shorter
        text needs; ``slack`` makes room.
        """
        back, length = -count("tokens_to_remove", tokens_to_remove, -(2**62)), self.get_seq_length()
        if not 0 <= back <= length:
            raise ValueError(
                f"crop({tokens_to_remove}): give 0 or a number below it, to {-length} at most"
            )
        if back == 0:
            return
        n = self._real_among_last(back)
        rings = [layer for layer in self.layers if isinstance(layer, RingLayer)]
        for layer in rings:
            layer.check_take_back(n)
        for layer in rings:
            layer.take_back(n, back)
        for layer in self.layers:
            if isinstance(layer, FullLayer):
                layer.crop(tokens_to_remove)
        if self._padding is not None:
            self._padding = self._padding[:, : length - back]
        self._call = None

    def _real_among_last(self, columns: int) -> int | Tensor:
        if self._padding is None:
            return columns
        first = self.get_seq_length() - columns
        return columns - (~self._padding[:, first : first + columns]).sum(1)

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Put a copy of row ``beam_idx[i]`` at place i."""
        super().reorder_cache(beam_idx)
        self._take_rows(beam_idx)

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep some rows: their numbers, or a mask of bool."""
        rows = torch.as_tensor(indices)
        rows = rows.nonzero()[:, 0] if rows.dtype == torch.bool else rows
        super().batch_select_indices(rows)
        self._take_rows(rows)

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Put each row ``repeats`` times, one copy after the other."""
        super().batch_repeat_interleave(repeats)
        if self._padding is not None:
            self._padding = self._padding.repeat_interleave(repeats, dim=0)

    def _take_rows(self, rows: Tensor) -> None:
        self._call = None
        if self._padding is not None:
            self._padding = self._padding[rows.to(self._padding.device)]


def _better_masked(call: Call, asked: dict[str, Any]) -> bool:
    """Say whether the library is faster with a mask than without.

    For one query on a CPU it then reads grouped heads as they are, and repeats them if there is
    none: 1.7 to 2.5 times slower, measured with 8 heads for 32 and 256 to 4096 slots.
    """
    config = asked.get("config")
    heads = [getattr(config, f"num_{name}_heads", 0) for name in ("attention", "key_value")]
    return call.tokens == 1 and heads[0] != heads[1] and torch.device(asked["device"]).type == "cpu"


def _may_look(x: Tensor, tokens: int) -> bool:
    """Say whether values may be read: never where a decode step would wait for the device."""
    return not torch.compiler.is_compiling() and (tokens > 1 or x.device.type == "cpu")
