"""A talk in a full cache of limited length: what does not fit is cut, or summed up, and read anew.

The other way to go on with a fixed number of tokens, beside a window that slides. Nothing is
approximate here, and nothing is free: after each cut what is kept is prefilled again, and what is
cut, or left out of the summary, is gone.

Source: S12, S18, S30.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..model import Decoder
from ..policies import Policy
from ..problem import Problem
from .chat import Chat
from .load import caches_of
from .sentences import first_sentences, last_sentences
from .template import SYSTEM, opening, turn

__all__ = ["BudgetChat", "talk_of"]

BUDGET = 1024
ASKED = "Sum up our talk so far in a few short sentences."
BEFORE = "\nThe talk so far: "
CLOSING = 3  # tokens after an answer, and one for words that join otherwise


@dataclass
class BudgetChat(Chat):
    """A talk that never holds more than ``budget`` tokens.

    ``over``: "truncate" keeps the last whole sentences that fit half of the budget, "summarise"
    lets the model write a few sentences of at most a quarter. ``fresh()`` gives empty caches;
    ``cut`` notes for each cut how many tokens were held before it and are held after it.
    """

    budget: int = BUDGET
    over: str = "truncate"
    fresh: Callable[[], list[Any]] = list
    told: str = ""  # the talk as text, since the last cut
    held: int = 0
    cut: list[tuple[int, int]] = field(default_factory=list)

    def answer(
        self, text: str, new: int, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[str]:
        """See ``Chat.answer``; cut first if the turn and its answer may not fit."""
        said = turn(text) if self.held else opening() + turn(text)
        need = self._count(said) + new + CLOSING + self._reserve()
        if self.held and self.held + need > self.budget:
            self._cut(self.budget - need)
        if self.held + need > self.budget:
            raise Problem(
                f"a budget of {self.budget} tokens is too small for this turn, an answer of {new} "
                f"and what is kept: give a larger --budget, or a smaller --new"
            )
        self.told += f" {text} "
        for piece in super().answer(text, new, stopped):
            self.told += piece
            yield piece

    def _cut(self, room: int) -> None:
        """Begin again with what is to be kept, in at most ``room`` tokens with all around it."""
        before, kept = self.held, self._kept(room)
        self.caches, self.held, self.told = self.fresh(), 0, kept
        around = opening(SYSTEM + BEFORE + kept.strip()) if kept else opening()
        self._fed(self._tokens(around))
        self.cut.append((before, self.held))

    def _reserve(self) -> int:
        """Give the tokens that must stay free for the model's summary."""
        summed = self.over == "summarise"
        return self._count(turn(ASKED)) + self.budget // 4 + CLOSING if summed else 0

    def _kept(self, room: int) -> str:
        spare = room - self._count(opening(SYSTEM + BEFORE)) - CLOSING
        if self.over == "truncate":
            return last_sentences(self.told.strip(), min(spare, self.budget // 2), self._count)
        summed = "".join(super().answer(ASKED, self.budget // 4))
        return first_sentences(summed.strip(), min(spare, self.budget // 4), self._count)

    def _fed(self, ids: Any) -> Any:
        self.held += len(ids)
        return super()._fed(ids)

    def _count(self, text: str) -> int:
        return len(self._tokens(text))


def talk_of(
    decoder: Decoder, tokenizer: Any, policy: Policy, how: tuple[float, int],
    over: str | None = None, budget: int | None = None,
) -> Chat:  # fmt: skip
    """Begin a talk that goes on in its caches, or one that is cut where ``over`` says how.

    ``how``: temperature and seed.
    """
    caches = caches_of(decoder, policy)
    if not over:
        return Chat(decoder, tokenizer, caches, *how)
    chat = BudgetChat(decoder, tokenizer, caches, *how)
    chat.budget, chat.over = BUDGET if budget is None else budget, over
    chat.fresh = lambda: caches_of(decoder, policy)
    return chat
