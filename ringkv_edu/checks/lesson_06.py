"""Lesson 06, prefix summaries: its exercises in the order of the lesson."""

from __future__ import annotations

from .lesson_06_attend import ATTEND
from .lesson_06_centre import CENTRE
from .lesson_06_fold import FOLD
from .lesson_06_freeze import FREEZE
from .lesson_06_law import LAW
from .lesson_06_predict import PREDICT
from .lesson_06_sink import SINK
from .lesson_06_trigger import TRIGGER
from .lesson_06_twice import TWICE

EXERCISES = (TRIGGER, TWICE, LAW, FOLD, PREDICT, ATTEND, CENTRE, SINK, FREEZE)
