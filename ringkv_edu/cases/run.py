"""Runs cases against a cache and says, for each, whether the bug is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from . import chunks, memory, positions, state, taking_back, window
from .adapter import ABILITIES, Subject
from .case import Case
from .twin import Differs, NotAsked

__all__ = ["CASES", "FAILS", "HOLDS", "NOT_ASKED", "Case", "Result", "run"]

HOLDS, FAILS, NOT_ASKED = "holds", "FAILS", "not asked"
MODULES = (window, chunks, positions, taking_back, state, memory)
CASES: tuple[Case, ...] = tuple(case for module in MODULES for case in module.CASES)


@dataclass(frozen=True)
class Result:
    """One case asked of one cache. ``detail`` says what was seen, or why it was not asked."""

    case: Case
    verdict: str
    detail: str = ""


def run(subject: Subject, cases: Iterable[Case] = CASES) -> Iterator[Result]:
    """Ask a cache every case, one fresh cache for each."""
    for case in cases:
        lacking = [ABILITIES[name] for name in ABILITIES if name in case.needs - subject.offers]
        if lacking:
            yield Result(case, NOT_ASKED, " and ".join(lacking))
            continue
        try:
            with np.errstate(all="ignore"):
                case.ask(subject)
        except Differs as difference:
            yield Result(case, FAILS, str(difference))
        except NotAsked as reason:
            yield Result(case, NOT_ASKED, str(reason))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, too: one cache must not end the others' cases
            words = " ".join(str(error).split())[:200]
            yield Result(case, FAILS, f"raised {type(error).__name__}: {words}")
        else:
            yield Result(case, HOLDS)
