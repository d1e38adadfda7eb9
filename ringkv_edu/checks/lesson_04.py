"""Lesson 04, positions and RoPE: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_04_base import BASE
from .lesson_04_length import LENGTH
from .lesson_04_predict import PREDICT
from .lesson_04_read import READ
from .lesson_04_relative import RELATIVE
from .lesson_04_three import THREE
from .lesson_04_turn import TURN
from .lesson_04_write import WRITE

EXERCISES = (TURN, RELATIVE, PREDICT, READ, WRITE, THREE, BASE, LENGTH)
