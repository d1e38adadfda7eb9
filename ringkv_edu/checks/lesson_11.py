"""Lesson 11, the budget duel: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_11_bits import BITS
from .lesson_11_duel import DUEL
from .lesson_11_fetch import FETCH
from .lesson_11_predict import PREDICT
from .lesson_11_score import SCORE
from .lesson_11_sinks import SINKS
from .lesson_11_stale import STALE

EXERCISES = (SINKS, PREDICT, SCORE, STALE, BITS, FETCH, DUEL)
