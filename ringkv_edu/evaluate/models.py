"""The models that the commands can compare policies on."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ..problem import Problem
from .contender import Contender, contenders, full_of
from .names import policies_of
from .tasks import Asked, own_text

__all__ = ["MODELS", "Setting", "setting"]

MODELS = ("tiny", "random", "smollm2")
RECALL_SEED, RECALL_TEXTS = 1000, 200
RANDOM = "full,window:64,sinks:60+4,sinks-cache:60+4,pooled:44+4+16x8"
REAL = "full,window:256,sinks:252+4,sinks-cache:252+4,pooled:220+4+32x16"


class Setting(NamedTuple):
    """What is compared, on what, and one sentence that says what the model is."""

    who: list[Contender]
    text: torch.Tensor | None
    tasks: Sequence[Asked]
    prompt: torch.Tensor
    says: str


def setting(name: str, policies: str | None, file: str | None, tokens: int) -> Setting:
    """Give what a command compares; raises ``Problem`` for what does not go together."""
    if name not in MODELS:
        raise Problem(f"no model is called {name!r}; give one of {', '.join(MODELS)}")
    if file and name != "smollm2":
        raise Problem(f"--text is for smollm2, which reads text; {name} has a language of its own")
    return {"tiny": _tiny, "random": _random, "smollm2": _real}[name](policies, file, tokens)


def _random(policies: str | None, file: str | None, tokens: int) -> Setting:
    from ..monitor.troubles import random_model

    model = random_model()
    chosen = policies_of(policies or RANDOM)
    says = "a decoder with random weights, on a text of its own: seed 0"
    text = own_text(full_of(model), tokens)
    return Setting(contenders(model, chosen), text, (), text, says)


def _tiny(policies: str | None, file: str | None, tokens: int) -> Setting:
    """Compare the decoders trained on the recall task, each with the policy it was trained with."""
    training = import_module("ringkv_edu.training")
    recall = import_module("ringkv_edu.recall")
    names = list(training.NAMED)
    if policies:
        wanted = [part.strip() for part in policies.split(",") if part.strip()]
        if unknown := [name for name in wanted if name not in names]:
            raise Problem(
                f"no tiny decoder was trained as {', '.join(unknown)}; there are {', '.join(names)}"
            )
        names = wanted
    try:
        who = [Contender(name, training.load(name)) for name in names]
    except ValueError as error:
        raise Problem(str(error)) from None
    task = recall_task(recall.draw(RECALL_TEXTS, RECALL_SEED), recall.CHANCE)
    prompt = task.tokens.reshape(1, -1)[:, :tokens]
    says = (
        f"decoders trained on the recall task, each with its own policy; {RECALL_TEXTS} texts, "
        f"seed {RECALL_SEED}"
    )
    return Setting(who, None, [task], prompt, says)


def recall_task(texts: Any, chance: float) -> Asked:
    """Give drawn texts of ``ringkv_edu.recall`` as a task."""
    tokens = torch.as_tensor(texts.tokens)
    answers = torch.full_like(tokens, -1)
    given = torch.as_tensor(texts.answers)
    answers[:, tokens.shape[1] - given.shape[1] :] = given
    return Asked("recall", tokens, answers, chance)


def _real(policies: str | None, file: str | None, tokens: int) -> Setting:
    chosen = policies_of(policies or REAL)
    if not file:
        raise Problem("smollm2 needs --text FILE: a text of a few thousand words")
    path = Path(file)
    if not path.is_file():
        raise Problem(f"{file} is no file; give a text")
    try:
        words = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Problem(f"{file} is no UTF-8 text ({error.reason}); give a text file") from None
    model, tokenizer = import_module("ringkv_edu.real.load").smollm2()
    ids = tokenizer.encode(words, add_special_tokens=False).ids[:tokens]
    if len(ids) < 2:
        raise Problem(f"{file} has {len(ids)} tokens; give a longer text")
    says, text = f"SmolLM2-135M-Instruct on {path.name}", torch.tensor([ids])
    return Setting(contenders(model, chosen), text, (), text, says)
