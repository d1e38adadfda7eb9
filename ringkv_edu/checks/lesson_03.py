"""Lesson 03, chunks and rewind: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_03_full import FULL
from .lesson_03_mask import MASK
from .lesson_03_predict import PREDICT
from .lesson_03_rewind import REWIND
from .lesson_03_stays import STAYS
from .lesson_03_step import STEP
from .lesson_03_trim import TRIM

EXERCISES = (STAYS, MASK, STEP, PREDICT, REWIND, FULL, TRIM)
