"""A row of the source audit: what an article prints, what is right, and how the two are compared.

A row states figures as texts, as the course states them: "17.18" promises two decimals, "<1e-12" a
bound, "~140" two significant digits. ``check`` computes them with the package's own functions and
compares at that precision; it compares what the article prints in the same way, so that a verdict
is no opinion either: a row that says "right" fails when a printed figure does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "ARTICLES",
    "KINDS",
    "Fact",
    "Facts",
    "Finding",
    "Row",
    "Value",
    "agrees",
    "check",
    "shown",
]

Value = int | float | str
Facts = Mapping[str, Value]
FIELD = re.compile(r"\{([^}]*)\}")

ARTICLES = {
    "A": "the ring cache in decode",
    "B": "the context window as a hard budget",
    "C": "the hardware-level bottleneck",
    "D": "prefix sliding",
}

KINDS = {
    "right": "all", "understated": "all",
    "half right": "some", "conditional": "some",
    "wrong": "not all", "too strong": "not all", "incomplete": "not all",
    "unverified": "none",
}  # fmt: skip
"""Kinds of verdict, and how many of the printed figures hold: "none" says that there are none."""


@dataclass(frozen=True)
class Row:
    """One statement of an article, the computation that settles it, and what the course states.

    ``right`` and ``why`` name computed facts in braces. ``verdict`` is one of ``KINDS``, with its
    shade behind a colon. ``figures`` gives each fact as this course states it, in a pair with what
    the article prints or implies, if it does. ``how`` is the formula or the experiment, ``taught``
    the places where lessons take it up.
    """

    id: str
    printed: str
    right: str
    verdict: str
    why: str
    how: str
    taught: tuple[str, ...]
    compute: Callable[[], Facts]
    figures: Mapping[str, str | tuple[str, str]]

    @property
    def article(self) -> str:
        """The letter of the article."""
        return self.id[0]

    @property
    def kind(self) -> str:
        """The kind of verdict, without its shade."""
        return self.verdict.partition(":")[0]


@dataclass(frozen=True)
class Fact:
    """A computed value, as the course states it, and as the article prints it, if it does."""

    name: str
    value: Value
    stated: str
    printed: str | None = None

    @property
    def text(self) -> str:
        """The computed value at the precision of what is stated."""
        return shown(self.value, self.stated)


@dataclass(frozen=True)
class Finding:
    """What a row's computation gave. ``problems`` is empty when everything agrees."""

    row: Row
    right: str
    why: str
    facts: tuple[Fact, ...]
    problems: tuple[str, ...]


def agrees(value: Value, stated: str) -> bool:
    """Say whether a value is what a text states, at the precision of the text."""
    if isinstance(value, str):
        return value == stated
    if stated[0] == "<":
        return value < float(stated[1:])
    if stated[0] == ">":
        return value > float(stated[1:])
    return shown(value, stated) == stated


def shown(value: Value, stated: str) -> str:
    """Write a value as precisely as a text states it."""
    if isinstance(value, str):
        return value
    if stated[0] in "<>":
        return stated if agrees(value, stated) else f"{value:.3g}"
    if stated[0] == "~":
        digits = len(stated[1:].replace(",", "").replace(".", "").strip("0"))
        return f"~{float(f'{value:.{digits - 1}e}'):,g}"
    decimals = len(stated.partition(".")[2])
    return f"{value:,.{decimals}f}"


def spelled(stated: str) -> str:
    """Write out the signs of bounds and of rounded figures."""
    words = {"<": "below ", ">": "above ", "~": "about "}
    return words.get(stated[:1], stated[:1]) + stated[1:]


def check(row: Row) -> Finding:
    """Compute a row, and compare what came out with what is stated and with the verdict."""
    values, facts = row.compute(), []
    problems = [f"{name} is computed and not stated" for name in values if name not in row.figures]
    for name, figure in row.figures.items():
        stated, printed = (figure, None) if isinstance(figure, str) else figure
        if name not in values:
            problems.append(f"{name} is stated and not computed")
            continue
        facts.append(Fact(name, values[name], stated, printed))
        if not agrees(values[name], stated):
            problems.append(f"{name} is {facts[-1].text}; stated is {stated}")
    texts = {fact.name: fact.text for fact in facts}
    right, why = (FIELD.sub(lambda found: texts.get(found[1], "?"), text)
                  for text in (row.right, row.why))  # fmt: skip
    lost = [name for name in FIELD.findall(row.right + row.why) if name not in texts]
    problems += [f"{name} is named and not computed" for name in lost]
    problems += _verdict_problems(row, facts)
    return Finding(row, right, why, tuple(facts), tuple(problems))


def _verdict_problems(row: Row, facts: Sequence[Fact]) -> list[str]:
    """Ask whether the verdict follows from the printed figures."""
    if row.kind not in KINDS:
        return [f"no verdict is called {row.kind!r}"]
    held = [agrees(f.value, f.printed) for f in facts if f.printed is not None]
    follows = {
        "all": bool(held) and all(held),
        "some": any(held) and not all(held),
        "not all": not all(held),
        "none": not held,
    }
    if follows[KINDS[row.kind]]:
        return []
    said = ", ".join(f"{f.name} is {shown(f.value, f.printed)}, printed {f.printed}"
                     for f in facts if f.printed is not None)  # fmt: skip
    return [f"the verdict {row.kind!r} does not follow: {said or 'nothing is printed'}"]
