"""Lesson 08: what the lines of its cases may use."""

from __future__ import annotations

from ..given_budget import CARD, GB, GEMMA, GIB, KIB, MIB, SEVEN, THIRTEEN, Card, Shape
from .code_case import code_case
from .model import Case

__all__ = ["call_case"]

GIVEN = {
    "CARD": CARD,
    "Card": Card,
    "GB": GB,
    "GEMMA": GEMMA,
    "GIB": GIB,
    "KIB": KIB,
    "MIB": MIB,
    "SEVEN": SEVEN,
    "Shape": Shape,
    "THIRTEEN": THIRTEEN,
}


def call_case(call: str, name: str) -> Case:
    """Make a case from a call whose result is compared; a learner may paste it."""
    return code_case(f"out = {call}", name, lambda space: {"result": space["out"]}, given=GIVEN)
