"""Lesson 09, beyond the ring: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_09_int8 import INT8
from .lesson_09_pages import PAGES
from .lesson_09_predict import PREDICT
from .lesson_09_prefix import PREFIX
from .lesson_09_shared import SHARED
from .lesson_09_table import TABLE
from .lesson_09_tiles import TILES

EXERCISES = (PAGES, SHARED, PREFIX, PREDICT, INT8, TILES, TABLE)
