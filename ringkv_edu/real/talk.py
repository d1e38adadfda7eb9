"""`ringkv model chat`: a talk in a terminal, or one from given prompts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from .budget_chat import BudgetChat
from .chat import Chat, drift, interruptible
from .status import Foot, cost

__all__ = ["Talk", "summary", "turns"]

TRAINED = 8192
HINT = "(Ctrl+C ends an answer, Ctrl+D the talk)"


def turns(prompts: Sequence[str]) -> Iterator[str]:
    """Give what the person says: the prompts given, or lines that are typed or piped in."""
    if prompts:
        yield from prompts
        return
    terminal = sys.stdin.isatty()
    if terminal:
        print(HINT, file=sys.stderr)
    while True:
        try:
            line = input("> ") if terminal else sys.stdin.readline()
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print(f"\n{HINT}", file=sys.stderr)
            continue
        if not terminal and not line:
            return
        if line.strip():
            yield line.strip()


class Talk:
    """One talk, or two beside each other, each with a title; words go to stdout as they come."""

    def __init__(self, chats: dict[str, Chat], new: int, log: str | None) -> None:
        self.chats, self.new, self.log, self.logged = chats, new, log, 0

    def run(self, said: Iterable[str], echo: bool) -> None:
        """Answer each turn; with ``echo`` what was said is printed, too."""
        with ExitStack() as stack:
            foot = stack.enter_context(Foot())
            file = stack.enter_context(Path(self.log).open("w")) if self.log else None
            for text in said:
                if echo:
                    print(f"> {text}")
                with interruptible() as stopped:
                    for title, chat in self.chats.items():
                        self._answer(title, chat, text, stopped, foot, file)

    def _answer(
        self, title: str, chat: Chat, text: str, stopped: Any, foot: Foot, file: TextIO | None
    ) -> None:
        if title:
            print(f"{title}:")
        for piece in chat.answer(text, self.new, stopped):
            print(piece, end="", flush=True)
            foot.show(cost(chat.steps))
            self._note(file)
        print("\n", flush=True)
        self._note(file)

    def _note(self, file: TextIO | None) -> None:
        """Write the steps of the first talk that are not in the log yet."""
        if file:
            steps = next(iter(self.chats.values())).steps
            for step in steps[self.logged :]:
                file.write(json.dumps(step._asdict()) + "\n")
            file.flush()
            self.logged = len(steps)


def summary(chat: Chat) -> list[str]:
    """Say at the end what the talk took: memory, speed, and whether either changed."""
    if not chat.steps:
        return []
    said = [cost(chat.steps)]
    sizes = [step.bytes for step in chat.steps]
    if isinstance(chat, BudgetChat):
        said.append(_cuts(chat))
    grown = "the same throughout" if len(set(sizes)) == 1 else f"from {sizes[0]:,} to {sizes[-1]:,}"
    said.append(f"cache bytes: {grown}")
    if found := drift(chat.steps):
        said.append(f"{found.tokens:,} tokens decoded; slopes are per 1,000 tokens of the talk")
        said.append(f"by the clock a token took {found.clock}; in CPU time {found.cpu}")
    else:
        said.append("too few tokens for a slope (200 decoded ones at least)")
    if chat.seen > TRAINED:
        said.append(
            f"past {TRAINED:,} tokens the first ones are farther away than the model was trained "
            f"for; --policy sinks-cache keeps them near"
        )
    return said


def _cuts(chat: BudgetChat) -> str:
    """Say how often a talk was cut, and how much was read anew for it."""
    if not chat.cut:
        return f"never cut: {chat.held:,} of {chat.budget:,} tokens held"
    again = sum(after for _, after in chat.cut)
    times = "once" if len(chat.cut) == 1 else f"{len(chat.cut)} times"
    return f"cut {times} ({chat.over}); {again:,} tokens were read anew"
