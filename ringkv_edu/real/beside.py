"""The learner's own ring under a real model, beside a right one.

First the class is tried on the known bugs. When it is right, the model decodes with it and says the
same as with the course's own ring. When it is not, the learner sees the case that fails; and, who
asks for it, what the model says with such a ring.
"""

from __future__ import annotations

import textwrap
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from ..adapters.surface import check_maker, names
from ..model import Config, Decoder
from ..policies import Policy, Sinks
from ..policies.own import Own
from ..problem import Problem
from .chat import Chat
from .load import caches_of, smollm2
from .places import fetched
from .trial import Trial, try_out

__all__ = ["Both", "compare", "own_policies", "side_by_side"]

PROMPT = "Write a short story about a lighthouse keeper and his dog."
WINDOW, SINKS, NEW = 48, 4, 110
WITHOUT_SINKS = (
    "A ring that takes no sinks loses token 0, and then even a right one makes the model repeat "
    "itself."
)


class Both(NamedTuple):
    """What a model said with a right ring and with another one: tokens and words."""

    right: list[int]
    own: list[int]
    right_text: str
    own_text: str

    @property
    def parts(self) -> int | None:
        """The first token that differs, counted from 0; None where all are the same."""
        pairs = zip(self.right, self.own, strict=False)
        differs = [i for i, (a, b) in enumerate(pairs) if a != b]
        shorter = min(len(self.right), len(self.own))
        return differs[0] if differs else None if self.right == self.own else shorter


def side_by_side(
    make: Any,
    window: int = WINDOW,
    sinks: int | None = None,
    prompt: str = PROMPT,
    new: int = NEW,
    anyway: bool = False,
) -> None:
    """Let SmolLM2 answer with a right ring and with rings made by ``make``; print both.

    ``sinks``: 4 for a class that takes them, else none. ``anyway``: also for a ring that fails its
    cases. Until the model has been fetched, a tiny random decoder writes token numbers instead.
    """
    if sinks is None:
        sinks = SINKS if "sinks" in names(make) else 0
    try:
        check_maker(make, sinks, 0)
        trial = try_out(make)
    except (TypeError, ValueError) as error:
        print(f"A model cannot take this class: {error}")
        return
    print("\n".join(trial.lines()))
    if not trial.right and not anyway:
        name = trial.name if trial.name.isidentifier() else "make"
        print(f"What the model says with it shows side_by_side({name}, anyway=True).")
        return
    try:
        _shown(make, window, sinks, prompt, new, trial)
    except Problem:
        raise
    except Exception as error:
        print(f"With your ring the model raised {type(error).__name__}: {error}")


def _shown(make: Any, window: int, sinks: int, prompt: str, new: int, trial: Trial) -> None:
    right, own = own_policies(make, window, sinks)
    print(f"window {window}, {sinks} sinks, at most {new} tokens, the likeliest each time")
    if fetched():
        both = compare(*_smollm2(), right, own, prompt, new)
        print(f"asked: {prompt}")
    else:
        print("SmolLM2 has not been fetched (`ringkv model fetch`): a tiny random decoder instead")
        both = _tiny(right, own, new)
    for title, text in (("a right ring", both.right_text), ("your ring", both.own_text)):
        print(f"\n{title}:")
        print(textwrap.indent("\n".join(_wrapped(text)), "    "))
    print()
    print("\n".join(verdict(both, trial, sinks)))


def verdict(both: Both, trial: Trial, sinks: int) -> list[str]:
    """Say what the two texts show, and what they do not."""
    said = []
    if both.parts is not None:
        said.append(f"They part at token {both.parts + 1} of the answer.")
    elif trial.right:
        said.append("The same tokens: the model decodes with your ring.")
    else:
        said.append("The same tokens here. That is luck: the cases above say where it shows.")
    if both.parts is not None and trial.right:
        said.append(
            "A right ring in another order of sums may part where two tokens are as likely."
        )
    return said + ([] if sinks else [WITHOUT_SINKS])


def own_policies(make: Any, window: int, sinks: int) -> tuple[Policy, Policy]:
    """Give the policy of a right ring and that of a learner's, for the same sizes."""
    return Sinks(window, sinks), Own(make, window, sinks)


def compare(
    model: Decoder, tokenizer: Any, right: Policy, own: Policy, prompt: str, new: int
) -> Both:
    """Let a model answer one question under two policies."""
    chats = [Chat(model, tokenizer, caches_of(model, policy)) for policy in (right, own)]
    texts = ["".join(chat.answer(prompt, new)) for chat in chats]
    return Both(chats[0].ids, chats[1].ids, texts[0], texts[1])


@lru_cache(maxsize=1)
def _smollm2() -> tuple[Decoder, Any]:
    return smollm2()


def _tiny(right: Policy, own: Policy, new: int) -> Both:
    """Let a seeded random decoder write token numbers after a prompt of 60."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model = Decoder(Config(100, 64, 2, heads=4, kv_heads=2, head_dim=16, hidden=64), right)
        for weight in model.parameters():
            weight.data.mul_(1 if weight.ndim == 1 else 8)
    one, other = (_numbers(model, policy, new) for policy in (right, own))
    return Both(one, other, " ".join(map(str, one)), " ".join(map(str, other)))


def _numbers(model: Decoder, policy: Policy, new: int) -> list[int]:
    """Let a decoder write the likeliest tokens after a prompt of 60."""
    caches, ids = caches_of(model, policy), []
    logits = model.step(torch.arange(60)[None] * 7 % 100, caches, last=True)
    for _ in range(new):
        ids.append(int(logits[0, -1].argmax()))
        logits = model.step(torch.tensor([ids[-1:]]), caches, last=True)
    return ids


def _wrapped(text: str) -> list[str]:
    lines = text.split("\n")
    return [part for line in lines for part in textwrap.wrap(line, 92) or [""]]
