"""Decodes with one policy, watches the quality, and falls back to keeping everything.

What a policy has dropped cannot be taken from its cache. So the ids of all tokens are kept (8 bytes
each, which ``nbytes`` counts), and to fall back means to read the whole text again: as many tokens
of prefill as have been seen. ``Fallback`` says what it cost. With ``shadow`` a cache that keeps
everything runs along from the start; then falling back costs nothing at that moment, and everything
before: twice the work, and the memory that was to be saved. That is for canaries.

Source: S38.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import torch

from .contender import CHUNK, Contender, full_of, pieces, total_bytes
from .guard import Guard

__all__ = ["Fallback", "Switch"]

Tensor = torch.Tensor


class Fallback(NamedTuple):
    """When everything was kept again, why, and what that took."""

    seen: int  # tokens when it happened
    excess: float  # nats over what was expected, at which the guard tripped
    tokens_again: int  # that went through the model once more
    seconds: float
    bytes_before: int
    bytes_after: int


class Switch:
    """One text of one row, decoded by ``one`` until its guard trips, by ``fallback`` from then on.

    ``fallback`` is the same model with everything kept, unless another contender is given.
    """

    def __init__(
        self,
        one: Contender,
        guard: Guard,
        fallback: Contender | None = None,
        shadow: bool = False,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.one, self.guard, self.clock = one, guard, clock
        self.fallback = fallback or full_of(one.model)
        self.now, self.caches = one, one.caches()
        self.shadow = self.fallback.caches() if shadow else None
        self.tokens = torch.zeros(1, 0, dtype=torch.int64)
        self.fell: Fallback | None = None
        self._logs: tuple[Tensor | None, Tensor | None] = (None, None)

    @property
    def seen(self) -> int:
        """Tokens so far."""
        return self.tokens.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes of all that is kept: caches, the shadow's too, and token ids."""
        shadow = total_bytes(self.shadow) if self.shadow is not None else 0
        return total_bytes(self.caches) + shadow + self.tokens.nbytes

    @torch.no_grad()
    def step(self, tokens: Tensor, given: bool = True) -> Tensor:
        """Take the next tokens (1, n); give their logits (1, n, vocab).

        ``given``: somebody else wrote them, so the guard may judge by them. A model's own words
        are judged only where a shadow reads along. If the guard trips, the logits are those of
        the fallback already.
        """
        if tokens.ndim != 2 or tokens.shape[0] != 1 or tokens.shape[1] < 1:
            raise ValueError(f"tokens have shape {tuple(tokens.shape)}; give one row, (1, n)")
        logits = self.now.model.step(tokens, self.caches)
        beside = None if self.shadow is None else self._beside(tokens)
        if self.fell is None and (given or beside is not None):
            self._judge(tokens, logits, beside)
        self.tokens = torch.cat([self.tokens, tokens], 1)
        if self.fell is None and self.guard.tripped:
            return self._fall_back(tokens.shape[1], beside)
        self._logs = _last(logits), _last(beside)
        return logits

    def _beside(self, tokens: Tensor) -> Tensor:
        assert self.shadow is not None
        return self.fallback.model.step(tokens, self.shadow)

    def _judge(self, tokens: Tensor, logits: Tensor, beside: Tensor | None) -> None:
        own = _surprise(self._logs[0], logits, tokens)
        base = [None] * len(own) if beside is None else _surprise(self._logs[1], beside, tokens)
        for nll, reference in zip(own, base, strict=True):
            self.guard.note(nll, reference)

    def _fall_back(self, n: int, beside: Tensor | None) -> Tensor:
        """Go over to the fallback; give its logits of the last ``n`` tokens."""
        before, start = self.nbytes, self.clock()
        again = 0 if self.shadow is not None else self.seen
        if self.shadow is not None:
            assert beside is not None
            self.caches, logits = self.shadow, beside
        else:
            self.caches, logits = self._read_again(n)
        self.shadow, self.now = None, self.fallback
        seconds, excess = self.clock() - start, self.guard.at
        assert excess is not None
        self.fell = Fallback(self.seen, excess, again, seconds, before, self.nbytes)
        return logits

    def _read_again(self, n: int) -> tuple[list[Any], Tensor]:
        caches = self.fallback.caches()
        head, tail = self.tokens[:, : self.seen - n], self.tokens[:, self.seen - n :]
        for part in pieces(head, CHUNK) if head.shape[1] else ():
            self.fallback.model.step(part, caches, last=True)
        return caches, self.fallback.model.step(tail, caches)


def _last(logits: Tensor | None) -> Tensor | None:
    return None if logits is None else logits[:, -1:]


def _surprise(before: Tensor | None, logits: Tensor, tokens: Tensor) -> list[float]:
    """Give the surprise at each token; the text's first token surprises nobody."""
    ahead = logits[:, :-1] if before is None else torch.cat([before, logits[:, :-1]], 1)
    wanted = tokens[:, tokens.shape[1] - ahead.shape[1] :]
    logs = ahead.double().log_softmax(-1)
    out: list[float] = (-logs.gather(-1, wanted[..., None])[0, :, 0]).tolist()
    return out
