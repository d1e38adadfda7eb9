"""Lesson 02, the NumPy ring: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_02_attend import ATTEND
from .lesson_02_early import EARLY
from .lesson_02_groups import GROUPS
from .lesson_02_mask import MASK
from .lesson_02_order import ORDER
from .lesson_02_predict import PREDICT
from .lesson_02_storage import STORAGE
from .lesson_02_write import WRITE

EXERCISES = (STORAGE, WRITE, ATTEND, PREDICT, ORDER, MASK, GROUPS, EARLY)
