"""Lesson 01, the plain-Python ring: cost, write, read, attend, edges, empty slots, positions."""

from __future__ import annotations

from .lesson_01_attend import ATTEND
from .lesson_01_memory import BYTES, SHIFT
from .lesson_01_positions import DISTANCE, EDGE, EMPTY
from .lesson_01_ring import APPEND, PREDICT, RESET, VISIBLE

EXERCISES = (BYTES, PREDICT, APPEND, VISIBLE, ATTEND, EDGE, EMPTY, DISTANCE, SHIFT, RESET)
