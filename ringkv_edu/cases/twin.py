"""A cache, and beside it everything it was ever given: what it shows is compared with that."""

from __future__ import annotations

from traceback import extract_tb
from typing import Any

import numpy as np
import numpy.typing as npt

from ..rope import rotate
from ..visibility import oracle_attention, visibility_mask
from .adapter import Subject

__all__ = ["TOLERANCE", "Differs", "NotAsked", "Twin"]

Array = npt.NDArray[Any]
TOLERANCE = 2e-5  # float32, values up to 2
CRASHES = (NameError, AttributeError)  # a rewind that raises these does not refuse: it is broken


class Differs(AssertionError):
    """The cache does not do what the rule says; the text says what was seen and expected."""


class NotAsked(Exception):
    """The case does not fit this cache after all; the text says why."""


class Twin:
    """Runs one cache and its history side by side.

    The value of the token at position ``p`` is 1 in lane ``p % head_dim`` (times 1 + its head), so
    each output says which positions were seen, and with which weight. Arrays that were handed to
    the cache are overwritten afterwards: a cache that kept them by reference shows it.
    """

    def __init__(
        self,
        subject: Subject,
        window: int,
        sinks: int = 0,
        slack: int = 0,
        kv_heads: int = 2,
        group: int = 2,
        head_dim: int = 32,
    ) -> None:
        self.subject = subject
        self.kv_heads, self.group, self.head_dim = kv_heads, group, head_dim
        self.refusal: Exception | None = None
        self.earlier: tuple[Array, Array] | None = None
        self.window, self.sinks, self.slack = window, sinks, slack
        self.sizes = {
            "window": window,
            "kv_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "sinks": sinks,
            "slack": slack,
        }
        extra = "".join(f", {n} {self.sizes[n]}" for n in ("sinks", "slack") if self.sizes[n])
        self.where = f"window {window}{extra}"
        self.cache = subject.make(self.sizes)
        self.rng = np.random.default_rng([window, sinks, slack])
        heads = (self.kv_heads * self.group, self.kv_heads, self.kv_heads)
        self.q, self.k, self.v = (np.zeros((n, 0, self.head_dim)) for n in heads)

    @property
    def seen(self) -> int:
        """How many tokens the text has."""
        return int(self.k.shape[1])

    @property
    def held(self) -> list[int]:
        """The positions that the cache says it holds, sorted."""
        return sorted(self.subject.positions(self.cache))

    def draw(self, n: int) -> tuple[Array, Array, Array]:
        """Draw n more tokens, as float32, and add them to the history."""
        q, k = (
            self.rng.normal(size=(heads, n, self.head_dim)).astype(np.float32)
            for heads in (self.kv_heads * self.group, self.kv_heads)
        )
        v = self.values(n)
        self._keep(q, k, v)
        return q, k, v

    def values(self, n: int) -> Array:
        """Give the values of the next n tokens."""
        lanes = np.arange(self.seen, self.seen + n) % self.head_dim
        heads = np.arange(1, self.kv_heads + 1, dtype=np.float32)
        return np.eye(self.head_dim, dtype=np.float32)[lanes] * heads[:, None, None]

    def append(self, n: int = 1) -> None:
        """Append n tokens without asking for attention."""
        self.give("append", *self.draw(n)[1:])

    def step(self, n: int = 1) -> Array:
        """Step n tokens and compare every output row with the oracle."""
        start = self.seen
        raw = np.asarray(self.give("step", *self.draw(n)))
        self.earlier = raw, raw.copy()
        self.compare(raw, start)
        return raw.copy()

    def attend(self) -> None:
        """Ask once more what the newest position sees."""
        if "attend" in self.subject.offers and self.seen:
            q = self.q[:, -1].astype(np.float32)
            self.compare(np.asarray(self._call("attend", q))[:, None], self.seen - 1)

    def differs(self, words: str) -> Differs:
        """Say what was seen, and with which sizes."""
        return Differs(f"{self.where}: {words}")

    def rewind(self, n: int) -> bool:
        """Take n tokens back; False when that was refused, which must change nothing."""
        before = self.held
        try:
            self.cache.rewind(n)
        except NotImplementedError:
            raise NotAsked("it cannot take tokens back") from None
        except CRASHES as error:
            raise self.differs(f"rewind({n}) raised {type(error).__name__}: {error}") from error
        except Exception as error:
            self.refusal = error
            if self.held != before:
                raise self.differs(
                    f"a refused rewind({n}) left {_list(self.held)}; before: {_list(before)}"
                ) from None
            self.attend()
            return False
        length = self.seen - n
        self.q, self.k, self.v = (x[:, :length] for x in (self.q, self.k, self.v))
        return True

    def reset(self) -> None:
        """Forget everything."""
        self._call("reset")
        self.q, self.k, self.v = (x[:, :0] for x in (self.q, self.k, self.v))

    def restore(self) -> None:
        """Go on with a saved and loaded copy."""
        self.cache = self.subject.copy(self.cache)

    def compare(self, out: Array, start: int) -> None:
        """Compare outputs (heads, n, lanes) of the queries from ``start`` on with the oracle."""
        n = out.shape[1] if out.ndim == 3 else -1
        expected = self.expected(start)
        if out.shape != expected.shape:
            raise self.differs(f"the output has shape {out.shape}, expected {expected.shape}")
        apart = np.abs(np.where(np.isfinite(out), out, np.inf) - expected)
        apart[(expected == 0) & (out != 0)] = np.inf  # what is not seen has a weight of exactly 0
        worst = apart.max(axis=(0, 2), initial=0)
        bad = np.flatnonzero(worst > TOLERANCE)
        if not bad.size:
            return
        row = int(bad[0])
        how = f"row {row} of a chunk of {n}, position" if n > 1 else "the query at position"
        if not np.isfinite(out[:, row]).all():
            raise self.differs(f"{how} {start + row}: the output is not finite")
        saw, right = self._seen(out[:, row]), self._right(start + row)
        if saw == right:
            raise self.differs(
                f"{how} {start + row}: right keys, wrong weights (by {worst[row]:.2g})"
            )
        raise self.differs(f"{how} {start + row}: saw {_list(saw)}; expected {_list(right)}")

    def expected(self, start: int) -> Array:
        """Give what the queries from ``start`` on must see, from the whole history."""
        q, k = self.q, self.k
        if "rotates" in self.subject.offers:
            q, k = (rotate(x, np.arange(self.seen)) for x in (q, k))
        return oracle_attention(q, k, self.v, self.window, self.sinks, first=start)

    def expect_needed(self) -> None:
        """Check that what the next query needs is held, each position once, and none taken back.

        The next query needs the sinks and the last ``window - 1`` positions.
        """
        held = self.held
        said = f"after {self.seen} tokens it holds {_list(held)}"
        first = max(0, self.seen - self.window + 1)
        needed = {*range(min(self.sinks, self.seen)), *range(first, self.seen)}
        if len(set(held)) < len(held):
            raise self.differs(f"{said}: one of them twice")
        if not needed <= set(held):
            raise self.differs(f"{said}; {_list(sorted(needed - set(held)))} is lost")
        if held and held[-1] >= self.seen:
            raise self.differs(f"{said}; the newest should be {self.seen - 1}")

    def expect_bounded(self) -> None:
        """Check also that no more is held than sinks, window and slack have room for."""
        self.expect_needed()
        held, room = self.held, self.sinks + self.window + self.slack
        if len(held) > room:
            said = f"after {self.seen} tokens it holds {_list(held)}"
            raise self.differs(f"{said}: {len(held)} positions, and room is for {room}")

    def give(self, method: str, *given: Array) -> Any:
        """Hand over copies, look whether they were changed, and then change them ourselves."""
        copies = [x.copy() for x in given]
        out = self._call(method, *copies)
        if any((mine != theirs).any() for mine, theirs in zip(given, copies, strict=True)):
            raise self.differs(f"{method} changed the arrays that it was given")
        if self.earlier is not None and (self.earlier[0] != self.earlier[1]).any():
            raise self.differs(f"{method} changed the output of the step before")
        for theirs in copies:
            theirs.fill(np.nan)
        return out

    def _call(self, method: str, *given: Array) -> Any:
        before = self.held
        n = given[-1].shape[1] if len(given) > 1 else 0
        what = f"{method} of {n} after {self.seen - n} tokens" if n else method
        try:
            return getattr(self.cache, method)(*given)
        except NotImplementedError:
            raise NotAsked(f"it has no {method}()") from None
        except Exception as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())[:160]
            may = n > 1 or "rotates" in self.subject.offers  # a long chunk, the end of a table
            if may and _refuses(error) and self.held == before:
                raise NotAsked(f"it refuses, as it may, {what} ({words})") from error
            raise self.differs(f"{what} raised {words}") from error

    def _right(self, position: int) -> list[int]:
        places = np.arange(self.seen)
        mask = visibility_mask([position], places, self.window, self.sinks)[0]
        return [int(p) for p in places[mask]]

    def _seen(self, out: Array) -> list[int]:
        """Read off an output row (heads, lanes) which positions took part, the newest of a lane."""
        newest = {position % self.head_dim: position for position in range(self.seen)}
        lanes = np.flatnonzero((out != 0).any(axis=0)).tolist()
        return sorted(newest[lane] for lane in lanes if lane in newest)

    def _keep(self, q: Array, k: Array, v: Array) -> None:
        pairs = zip((self.q, self.k, self.v), (q, k, v), strict=True)
        self.q, self.k, self.v = (np.concatenate(pair, axis=1) for pair in pairs)


def _refuses(error: Exception) -> bool:
    """Tell a ValueError that was raised on purpose from one that NumPy ran into."""
    return isinstance(error, ValueError) and any(
        (frame.line or "").startswith("raise") for frame in extract_tb(error.__traceback__)[-1:]
    )


def _list(positions: list[int]) -> str:
    return " ".join(map(str, positions)) or "nothing"
