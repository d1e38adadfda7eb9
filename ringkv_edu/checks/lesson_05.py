"""Lesson 05, the torch ring: its exercises in the order of the lesson. Needs torch."""

from __future__ import annotations

from .lesson_05_leak import LEAK
from .lesson_05_lengths import LENGTHS
from .lesson_05_mask import MASK
from .lesson_05_predict import PREDICT
from .lesson_05_replay import REPLAY
from .lesson_05_reset import RESET
from .lesson_05_step import STEP
from .lesson_05_write import WRITE

EXERCISES = (WRITE, MASK, PREDICT, LENGTHS, RESET, LEAK, STEP, REPLAY)
