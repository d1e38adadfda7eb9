"""Lesson 01, the plain-Python ring: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_01_attend import ATTEND
from .lesson_01_bytes import BYTES
from .lesson_01_distance import DISTANCE
from .lesson_01_edge import EDGE
from .lesson_01_empty import EMPTY
from .lesson_01_reset import RESET
from .lesson_01_shift import SHIFT
from .lesson_01_visible import VISIBLE
from .lesson_01_write import APPEND, PREDICT

EXERCISES = (BYTES, PREDICT, APPEND, VISIBLE, ATTEND, EDGE, EMPTY, DISTANCE, SHIFT, RESET)
