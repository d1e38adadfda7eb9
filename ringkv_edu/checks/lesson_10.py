"""Lesson 10, case files: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_10_flag import FLAG
from .lesson_10_half import HALF
from .lesson_10_keep import KEEP
from .lesson_10_keys import KEYS
from .lesson_10_pads import PADS
from .lesson_10_pool import POOL
from .lesson_10_predict import PREDICT
from .lesson_10_start import START
from .lesson_10_window import WINDOW

EXERCISES = (WINDOW, START, KEYS, HALF, FLAG, PADS, KEEP, POOL, PREDICT)
