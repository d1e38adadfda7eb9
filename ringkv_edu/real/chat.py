"""A talk of many turns over one set of caches: nothing that was said is ever fed again.

What each layer keeps is its policy's business. A ring of fixed size takes the same bytes after the
first token and after the hundred-thousandth, and a token takes the same time.

Source: S12, S13, S36.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter, process_time
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import torch

from ..model import Decoder
from .template import END, after_answer, opening, turn

__all__ = ["Chat", "Drift", "Line", "Step", "drift", "interruptible"]

CHUNK = 64  # tokens of a prompt that are fed at once: an answer can be stopped between two


class Step(NamedTuple):
    """One call of the model: how many tokens it was given, and what holds afterwards."""

    seen: int  # tokens so far, of the whole talk
    bytes: int  # of all layers' caches
    seconds: float
    tokens: int
    cpu: float  # seconds of all threads' computing: waiting for others is not in it


@dataclass
class Chat:
    """A talk with a model: ``answer`` gives the pieces of an answer as they come.

    ``temperature`` 0: always the likeliest token; else drawn, by ``seed``.
    """

    model: Decoder
    tokenizer: Any
    caches: list[Any]
    temperature: float = 0.0
    seed: int = 0
    seen: int = 0
    steps: list[Step] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)  # of the last answer

    def __post_init__(self) -> None:
        self.end = self.tokenizer.token_to_id(END)
        self.rng = torch.Generator().manual_seed(self.seed)

    @property
    def nbytes(self) -> int:
        """Bytes that the caches of all layers keep now."""
        return sum(int(cache.nbytes) for cache in self.caches)

    def answer(
        self, text: str, new: int, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[str]:
        """Answer one turn with at most ``new`` tokens; give the words as they come.

        ``stopped()`` true ends the answer between two tokens; the talk can go on.
        """
        from tokenizers.decoders import DecodeStream

        stream, self.ids = DecodeStream(skip_special_tokens=True), []
        said = turn(text) if self.seen else opening() + turn(text)
        logits = self._fed(self._tokens(said))
        while len(self.ids) < new and not stopped():
            token = self._chosen(logits)
            if token == self.end:
                break
            self.ids.append(token)
            if piece := stream.step(self.tokenizer, token):
                yield piece
            logits = self._fed([token])
        self._fed(self._tokens(after_answer()))

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _fed(self, ids: Sequence[int]) -> torch.Tensor:
        """Feed tokens, note what it took, and give the logits after the last one."""
        for at in range(0, len(ids), CHUNK):
            some = torch.tensor([ids[at : at + CHUNK]])
            start, cpu = perf_counter(), process_time()
            logits = self.model.step(some, self.caches, last=True)[0, -1]
            took = perf_counter() - start, process_time() - cpu
            self.seen += some.shape[1]
            self.steps.append(Step(self.seen, self.nbytes, took[0], some.shape[1], took[1]))
        return logits

    def _chosen(self, logits: torch.Tensor) -> int:
        if not self.temperature:
            return int(logits.argmax())
        odds = torch.softmax(logits / self.temperature, -1)
        return int(torch.multinomial(odds, 1, generator=self.rng))


class Line(NamedTuple):
    """A median in milliseconds, and how much more it is per 1,000 tokens of a talk."""

    median_ms: float
    slope_ms: float

    def __str__(self) -> str:
        percent = 100 * self.slope_ms / self.median_ms if self.median_ms else 0.0
        return f"{self.median_ms:.1f} ms, slope {self.slope_ms:+.2f} ms ({percent:+.1f} %)"


class Drift(NamedTuple):
    """How the time of a decoded token changes as a talk grows, by the clock and in CPU time."""

    tokens: int
    clock: Line
    cpu: Line


def drift(steps: Sequence[Step], width: int = 50) -> Drift | None:
    """Fit lines to the time of single tokens: medians of ``width`` of them each, least squares.

    The clock also shows what else the machine does. None for fewer than four groups of ``width``:
    a slope would say nothing.
    """
    single = [step for step in steps if step.tokens == 1]
    groups = [single[at : at + width] for at in range(0, len(single) - width + 1, width)]
    if len(groups) < 4:
        return None
    at = np.array([float(np.mean([step.seen for step in group])) for group in groups])

    def line(of: Callable[[Step], float]) -> Line:
        ms = [1e3 * float(np.median([of(step) for step in group])) for group in groups]
        slope = float(np.polyfit(at / 1000, ms, 1)[0])
        return Line(1e3 * float(np.median([of(step) for step in single])), slope)

    return Drift(len(single), line(lambda step: step.seconds), line(lambda step: step.cpu))


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl+C be asked for instead of raised; the second one is raised.

    So the model is never left between two layers. Outside the main thread nothing is changed.
    """
    asked: list[int] = []

    def noted(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        if len(asked) > 1:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, noted)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)
