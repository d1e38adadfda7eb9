"""JUnit XML, which CI servers show: a suite for each learner and lesson, a case for each exercise.

The elements are those of the schema in the JUnit 5 repository ("JUnit Platform Reporting"). There
are no times: the same results give the same file.
"""

from __future__ import annotations

from xml.etree import ElementTree

from ..gradebook import Book, Exercise, Result
from ..people import Learner
from .files import cleaned
from .words import by_lesson, points

__all__ = ["junit"]


def junit(book: Book) -> str:
    """Write the results; an exercise fails where points were lost."""
    root = ElementTree.Element("testsuites", name=cleaned(f"ringkv grade; {book.sealing}"))
    for learner in book.everyone():
        for result in by_lesson(book, learner).values():
            root.append(_suite(learner, result, book.sealing))
    for name in ("tests", "failures"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _suite(learner: Learner, result: Result, sealed: str) -> ElementTree.Element:
    lost = [one for one in result.exercises if one.earned < one.worth]
    suite = ElementTree.Element(
        "testsuite",
        name=cleaned(f"{learner.id} {result.lesson}"),
        tests=str(len(result.exercises)),
        failures=str(len(lost)),
    )
    facts = {
        "learner": learner.id, "lesson": result.lesson, "seed": str(result.seed),
        "points": points(result.earned), "worth": str(result.worth),
        "problem": result.problem, "sealing": sealed,
    }  # fmt: skip
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", name=name, value=cleaned(value))
    suite.extend(_case(learner, result, one) for one in result.exercises)
    return suite


def _case(learner: Learner, result: Result, one: Exercise) -> ElementTree.Element:
    where = cleaned(f"{learner.id}.{result.lesson}")
    case = ElementTree.Element("testcase", classname=where, name=one.exercise)
    if one.earned < one.worth:
        failure = ElementTree.SubElement(case, "failure", type="points")
        failure.set("message", cleaned(one.cause))
        lines = [f"{points(one.earned)} of {one.worth} points", one.cause]
        lines += [f"as if {one.sentence}"] if one.sentence else []
        lines += [f"{one.right} of {one.lines} lines right"] if one.lines else []
        failure.text = cleaned("\n".join(lines))
    return case
