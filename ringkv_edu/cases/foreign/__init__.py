"""Adapters for the ring caches of other projects, to run the cases on what is installed here.

``ringkv cases ringkv_edu.cases.foreign.transformers_sliding:SlidingLayer`` needs transformers and
torch; ``ringkv cases ringkv_edu.cases.foreign.mlx_rotating:RotatingCache`` needs mlx and mlx-lm.
Both caches keep no positions, so each value carries its position in one more lane.
"""
