"""The sliding-window cache layer of the transformers library.

Read against transformers 5.24. The layer keeps ``window - 1`` tokens between steps and gives back
those and the new ones; the mask is the library's own function over the layer's own mask sizes, as
a model's forward makes it.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .tagged import tagged, untagged

__all__ = ["RecordingSlidingLayer", "SlidingLayer"]

Array = npt.NDArray[Any]


class SlidingLayer:
    """``DynamicSlidingWindowLayer`` behind the suite's five methods; ``rewind`` is its ``crop``."""

    offers = ()
    records = False

    def __init__(self, window: int, kv_heads: int, head_dim: int) -> None:
        self.window, self.head_dim = window, head_dim
        self.reset()

    def reset(self) -> None:
        """Begin again with the layer's own ``reset``."""
        from transformers.cache_utils import DynamicSlidingWindowLayer

        if hasattr(self, "layer"):
            self.layer.reset()
            return
        self.layer: Any = DynamicSlidingWindowLayer(self.window)
        if self.records:
            self.layer.activate_past_recording()

    def append(self, k: Array, v: Array) -> None:
        """Update the layer and leave what it gives back."""
        self._update(k, v)

    def step(self, q: Array, k: Array, v: Array) -> Array:
        """Update the layer, then attend with the library's mask."""
        import torch
        from torch.nn.functional import scaled_dot_product_attention
        from transformers.masking_utils import sliding_window_causal_mask_function

        n = q.shape[1]
        length, offset = self.layer.get_mask_sizes(n)
        seen = self.layer.get_seq_length()
        queries = torch.arange(seen, seen + n)[:, None]
        mask = sliding_window_causal_mask_function(self.window)(
            0, 0, queries, offset + torch.arange(length)[None]
        )
        keys, values = self._update(k, v)
        query = torch.from_numpy(tagged(q))
        scale = self.head_dim**-0.5
        out = scaled_dot_product_attention(
            query, keys, values, attn_mask=mask, scale=scale, enable_gqa=True
        )
        return untagged(out)

    def positions(self) -> list[int]:
        """Read the positions off the values that the layer holds."""
        if not self.layer.is_initialized or self.layer.values.numel() == 0:
            return []
        return [round(p) for p in self.layer.values[0, 0, :, -1].tolist()]

    def rewind(self, n: int) -> None:
        """Crop the newest n tokens off."""
        if n:
            self.layer.crop(-n)

    def _update(self, k: Array, v: Array) -> Any:
        import torch

        first = self.layer.get_seq_length()
        return self.layer.update(torch.from_numpy(tagged(k)), torch.from_numpy(tagged(v, first)))


class RecordingSlidingLayer(SlidingLayer):
    """The same layer as assisted decoding uses it: it keeps the past until the next ``crop``."""

    records = True
