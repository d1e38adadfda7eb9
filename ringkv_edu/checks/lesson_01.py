"""Lesson 01, the plain-Python ring: cost, write, read, attend, edges, empty slots, positions."""

from __future__ import annotations

from .lesson_01_attend import ATTEND
from .lesson_01_memory import BYTES, SHIFT
from .lesson_01_positions import DISTANCE, EDGE, EMPTY
from .lesson_01_reset import RESET
from .lesson_01_visible import VISIBLE
from .lesson_01_write import APPEND, PREDICT

EXERCISES = (BYTES, PREDICT, APPEND, VISIBLE, ATTEND, EDGE, EMPTY, DISTANCE, SHIFT, RESET)
