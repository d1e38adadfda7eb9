"""Watches a model decode: a log of every step, curves of it, and what is wrong with a run."""

from .curves import draw_curves
from .log import Log, read_log
from .triage import Diagnosis, diagnose
from .watch import Monitor, record

__all__ = ["Diagnosis", "Log", "Monitor", "diagnose", "draw_curves", "read_log", "record"]
