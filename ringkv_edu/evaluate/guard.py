"""Watches a policy that is being rolled out: quality, memory, and who gets it.

A model's surprise at its own greedy words says nothing of its quality: one that repeats itself is
never surprised. So a guard is told the surprise at tokens that somebody else has written (a
regression set, a user's turn), or the difference to a run that keeps everything.

Source: S38.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from .contender import Contender, full_of
from .quality import losses

__all__ = ["Creep", "Guard", "Rollout", "passes"]

Tensor = torch.Tensor


class Guard:
    """Trips when the mean of the last ``span`` tokens' excess surprise is over ``margin`` nats.

    ``expected`` is what surprise is compared with where no reference runs along; ``calibrated``
    takes it from a regression set. Once tripped it stays tripped.
    """

    def __init__(self, margin: float = 0.25, span: int = 64, expected: float | None = None) -> None:
        if not margin > 0 or span < 1:
            raise ValueError(
                f"margin is {margin} and span {span}; give a margin of more than 0 nats, and 1 "
                f"token or more"
            )
        self.margin, self.span, self.expected = margin, span, expected
        self.last: deque[float] = deque(maxlen=span)
        self.at: float | None = None  # the excess at which it tripped

    @classmethod
    def calibrated(
        cls, full: Contender, texts: Sequence[Tensor], margin: float = 0.25, span: int = 64
    ) -> Guard:
        """Make a guard that ``full`` itself, with everything kept, would not trip on ``texts``.

        Texts have easy and hard places. So what is expected is no mean of a whole text but the
        largest that ``full`` has in any ``span`` tokens of ``texts``, (1, n) each.
        """
        each = [losses(full, text)[0] for text in texts]
        means = [nll.unfold(0, span, 1).mean(1) for nll in each if len(nll) >= span]
        if not means:
            raise ValueError(f"no text has {span} predicted tokens; give longer ones, or less span")
        return cls(margin, span, float(torch.cat(means).max()))

    @property
    def tripped(self) -> bool:
        """Whether it has tripped."""
        return self.at is not None

    @property
    def excess(self) -> float | None:
        """The mean excess of the last ``span`` tokens; None until there were so many."""
        return sum(self.last) / self.span if len(self.last) == self.span else None

    def note(self, nll: float, reference: float | None = None) -> bool:
        """Note a token's surprise, and a reference's at the same token; say whether it tripped.

        Raises ``ValueError`` when there is neither a reference nor ``expected``.
        """
        base = self.expected if reference is None else reference
        if base is None:
            raise ValueError(
                "the guard has nothing to compare with: give it `expected`, the mean surprise of a "
                "run with everything kept, or a reference at every token"
            )
        more = nll - base
        self.last.append(more if more == more else float("inf"))  # NaN is as bad as can be
        excess = self.excess
        if self.at is None and excess is not None and excess > self.margin:
            self.at = excess
        return self.tripped


class Creep:
    """An alarm for memory that creeps: a cache that should be constant and still grows.

    ``note`` it the bytes after every step. At every ``every``-th step from ``after`` on they are
    compared with those before; ``rises`` rises without a pause are an alarm. ``allowed`` bytes a
    token do not count, for what is known to grow, such as an index of token ids.
    """

    def __init__(self, after: int, every: int = 32, rises: int = 3, allowed: float = 0.0) -> None:
        if after < 0 or every < 1 or rises < 1:
            raise ValueError(f"after {after}, every {every}, rises {rises}: give 0, 1, 1 or more")
        self.after, self.every, self.rises, self.allowed = after, every, rises, allowed
        self.steps, self.row, self.last, self.before = 0, 0, -1, 0
        self.alarm: str | None = None

    def note(self, seen: int, nbytes: int) -> str | None:
        """Note the bytes of all caches after ``seen`` tokens; give the alarm, once there is one."""
        self.steps += 1
        if seen < self.after or (self.steps - 1) % self.every:
            return self.alarm
        if self.last >= 0:
            grown = nbytes - self.last - self.allowed * (seen - self.before)
            self.row = self.row + 1 if grown > 0 else 0
            if self.row >= self.rises and self.alarm is None:
                rate = (nbytes - self.last) / max(1, seen - self.before)
                self.alarm = (
                    f"memory creeps: {nbytes:,} bytes after {seen} tokens, {rate:.0f} more with "
                    f"each token, {self.row} looks in a row; {self.after} tokens should have "
                    f"filled it"
                )
        self.last, self.before = nbytes, seen
        return self.alarm


@dataclass
class Rollout:
    """Which requests get the new policy: first none but a regression set, then a growing share.

    A request is chosen by its number and ``seed`` alone, so the same request always gets the same
    answer while the share stands. ``report`` what came of each: after ``enough`` good ones the next
    share, after a single bad one none.
    """

    shares: Sequence[float] = (0.05, 0.25, 1.0)
    enough: int = 20
    seed: int = 0
    stage: int = -1
    good: int = 0
    stopped: str | None = None

    @property
    def share(self) -> float:
        """The share of requests that get the policy now."""
        return 0.0 if self.stopped or self.stage < 0 else self.shares[self.stage]

    def begin(self, passed: bool) -> None:
        """Open the first share when the regression set was ``passed``; else stop."""
        if passed:
            self.stage = max(self.stage, 0)
        else:
            self.stopped = "the regression set was not passed"

    def chosen(self, request: int) -> bool:
        """Say whether a request gets the policy."""
        return random.Random(f"{self.seed}:{request}").random() < self.share

    def report(self, request: int, tripped: bool) -> None:
        """Say what came of a request that got the policy."""
        if tripped:
            self.stopped = f"the guard tripped in request {request}"
            return
        self.good += 1
        if self.good >= self.enough and self.stage + 1 < len(self.shares):
            self.stage, self.good = self.stage + 1, 0


def passes(one: Contender, texts: Sequence[Tensor], margin: float) -> tuple[bool, float]:
    """Say whether a contender passes a regression set: its mean excess surprise, and the verdict.

    ``texts`` are tokens (1, n) each; what everything kept makes of them is the measure.
    """
    if not texts:
        raise ValueError("the regression set is empty; give one text or more")
    full = full_of(one.model)
    own, base = ([losses(who, text) for text in texts] for who in (one, full))
    excess = float((torch.cat(own, 1) - torch.cat(base, 1)).mean())
    return excess <= margin, excess
