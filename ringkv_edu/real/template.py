"""The words around what people and model say: the model's own chat template, piece by piece.

A ring goes on from turn to turn, so only what is new is ever made into tokens. Put together, the
pieces are what the template makes of the whole talk (a test compares them).

Source: the template that the model's own file carries.
"""

from __future__ import annotations

__all__ = ["END", "SYSTEM", "after_answer", "opening", "turn"]

START, END = "<|im_start|>", "<|im_end|>"
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


def opening(system: str = SYSTEM) -> str:
    """Give what a talk begins with."""
    return f"{START}system\n{system}{END}\n"


def turn(text: str) -> str:
    """Give one turn of the person, and the words that make the model answer."""
    return f"{START}user\n{text}{END}\n{START}assistant\n"


def after_answer() -> str:
    """Give what follows an answer, which ends before its ``END``."""
    return f"{END}\n"
