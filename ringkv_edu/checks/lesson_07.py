"""Lesson 07, a model on your ring: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_07_bytes import BYTES
from .lesson_07_keep import KEEP
from .lesson_07_layer import LAYER
from .lesson_07_perplexity import PERPLEXITY
from .lesson_07_predict import PREDICT
from .lesson_07_ranks import RANKS
from .lesson_07_reach import REACH
from .lesson_07_ring import RING
from .lesson_07_times import TIMES

EXERCISES = (LAYER, REACH, BYTES, PERPLEXITY, PREDICT, RING, TIMES, KEEP, RANKS)
