"""Lesson 08, the memory budget: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_08_cache import CACHE
from .lesson_08_fits import FITS
from .lesson_08_floor import FLOOR
from .lesson_08_gain_mistakes import GAIN
from .lesson_08_hybrid import HYBRID
from .lesson_08_predict import PREDICT
from .lesson_08_prefill import PREFILL

EXERCISES = (CACHE, FITS, FLOOR, PREDICT, GAIN, PREFILL, HYBRID)
