"""Lesson 05: cases on tensors, and what its answers may not do on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from ..given_spy import Recording, Spy
from ..given_torch import RingRows, drawn, filled_rows, newest_sees, put
from ..graded import draw
from .code_case import CASE, code_case
from .compare import kind, plain
from .model import Answer, Case

__all__ = [
    "ANEW",
    "GIVEN",
    "HOST",
    "NUMBERS",
    "form_of",
    "kept_case",
    "mask_rows",
    "reads_case",
    "torch_case",
]

GIVEN = {
    "Recording": Recording,
    "RingRows": RingRows,
    "Spy": Spy,
    "draw": draw,
    "drawn": drawn,
    "filled_rows": filled_rows,
    "newest_sees": newest_sees,
    "put": put,
    "torch": torch,
}
HOST = (
    "the host reads a number of the device (.item(), int(), .tolist(), `if`, print, or one number "
    "of a tensor as an index): on a GPU it waits there for everything asked before"
)
ANEW = (
    "a tensor is replaced by a new one, as `x = x + 1` does: whoever holds the old one, a recorded "
    "step among them, goes on with that. Write into it: x += 1, x[...] = y, x.copy_(y)"
)
NUMBERS = (
    "the mask is made of numbers, 1 and 0: torch's attention adds such a mask to the scores. A "
    "comparison gives True and False, and so does .bool()"
)
MEMORY = ("keys", "values", "positions", "seen")
Look = Callable[[dict[str, Any]], Mapping[str, Any]]


def torch_case(line: str, name: str, look: Look, may_change: tuple[int, ...] = ()) -> Case:
    """Make a case from a line that a learner may paste, in a notebook with this lesson's setup."""
    case = code_case(line, name, look, may_change, GIVEN)

    def run(answer: Answer) -> Mapping[str, Any]:
        with _one_thread():
            return case.run(answer)

    return Case(line, run)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep torch from sharing out work on a few numbers: the threads' waiting takes far longer."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def reads_case(call: str, name: str) -> Case:
    """Make a case that asks one thing alone of a call: does the host read from the device?

    Alone, so that a wrong answer that also reads is still told which mistake it is.
    """
    line = f"with Spy() as spy: {call}"
    code = compile(line, CASE, "exec")

    def run(answer: Answer) -> Mapping[str, Any]:
        space = {**GIVEN, name: getattr(answer, name)}
        exec(code, space)
        return {"numbers read by the host": "some" if space["spy"].reads else "none"}

    return Case(line, run)


def kept_case(line: str, name: str) -> Case:
    """Make a case that asks one thing alone: are the tensors of ``rows`` still the same ones?

    The line has made ``rows`` and ``before``, the tensors in ``MEMORY``, as a list.
    """

    def look(space: dict[str, Any]) -> Mapping[str, Any]:
        now = [getattr(space["rows"], field) for field in MEMORY]
        same = all(a is b for a, b in zip(now, space["before"], strict=True))
        return {"tensors replaced by new ones": "none" if same else "some"}

    return torch_case(line, name, look, may_change=(0,))


def mask_rows(result: Any, shape: list[int], row: str) -> dict[str, Any]:
    """Give a mask as the columns that each row sees, or what is wrong with its form."""
    form = form_of(result)
    if form != f"shape {shape}":
        return {"result": form}
    seen = {
        f"{row} {number} sees": [column for column, yes in enumerate(one) if yes == 1]
        for number, one in enumerate(plain(result))
    }
    entries = "True and False" if result.dtype == torch.bool else "numbers"
    return {"result": form, **seen, "entries": entries}


def form_of(result: Any) -> str | None:
    """Give a tensor's shape in words, or what stands in its place."""
    if result is None:
        return None
    if isinstance(result, torch.Tensor):
        return f"shape {list(result.shape)}"
    return f"{kind(plain(result))}, not a tensor"
