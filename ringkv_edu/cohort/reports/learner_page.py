"""One learner's page: what was earned, what cost points, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..gradebook import Book, Entry, Exercise, Result
from ..people import Learner
from .html import Html, bar, code, how, join, page, person, section, table, tag
from .words import by_lesson, called, points, seen

__all__ = ["learner_page"]

DIGITS = 12
CHECKS = (
    "Public checks: {n} of {n}. The cells that you can run yourself are all that is graded, with "
    "another seed."
)
HINTS = (
    "Hints are shown as the notebook records them: calls of hint that stand in it. They are no "
    "proof of anything, and cost nothing."
)
WHERE = {
    "run": "",
    "learner": " The file must lie in a folder that has the learner's id as its name.",
    "submission": " The seed is the file's own, so the file must be the same to the byte.",
}


def learner_page(book: Book, learner: Learner) -> str:
    """Write a page for a learner to keep."""
    earned = f"{points(book.earned(learner))} of {book.worth} points"
    name = called(learner)
    head = join([
        tag("h1", person(name)),
        tag("p", earned, class_="total"),
        tag("p", join(_about(learner)), class_="soft"),
    ])  # fmt: skip
    results = by_lesson(book, learner)
    sections = [_overview(book, results), *map(_lesson, results.values())]
    sections += [_files(book, learner)] if results or learner in book.strays else []
    sections += (
        [_again(book, seeded)] if (seeded := [r for r in results.values() if r.seed]) else []
    )
    return page(book, f"{name}: {earned}", head, *sections, how(book))


def _about(learner: Learner) -> Iterator[str]:
    yield "Learner "
    yield person(learner.id)
    if learner.email:
        yield ", "
        yield person(learner.email)


def _overview(book: Book, results: Mapping[str, Result]) -> Html:
    rows = []
    for name in book.lessons:
        if name not in results:
            rows.append([name, "-", "", "not handed in"])
            continue
        one = results[name]
        late = any(file.late and file.counts for file in one.files)
        state = "could not be graded" if one.problem else "late" if late else "handed in"
        part = bar(one.earned, one.worth)
        rows.append([name, f"{points(one.earned)} of {one.worth}", part, state])
    heads = ["Lesson", "Points", "Share", "Handed in"]
    return section("lessons", "Points by lesson", table("Points by lesson", heads, rows, [1, 2]))


def _lesson(result: Result) -> Html:
    title = f"{result.lesson}: {points(result.earned)} of {result.worth} points"
    if result.problem:
        said = tag("p", "The file could not be graded: ", result.problem, class_="lost")
        return section(result.lesson, title, said)
    rows = [
        [one.exercise, f"{points(one.earned)} of {one.worth}", _details(one, result)]
        for one in result.exercises
    ]
    heads = ["Exercise", "Points", "What cost points"]
    parts = [table(f"Exercises of {result.lesson}", heads, rows, [1])]
    parts.append(tag("p", CHECKS.format(n=len(result.exercises)), class_="soft"))
    parts += [tag("p", HINTS, class_="soft")] if result.hints else []
    return section(result.lesson, title, *parts)


def _details(one: Exercise, result: Result) -> Html:
    parts: list[str] = []
    if one.earned < one.worth:
        parts.append(_cause(one.cause))
        if one.sentence:
            parts.append(tag("p", tag("strong", "As if "), one.sentence, "."))
        if one.lines:
            parts.append(tag("p", f"{one.right} of {one.lines} lines right", class_="soft"))
    level = result.hints.get(one.exercise, 0)
    parts += [tag("p", f"Hint taken: {level} of 3", class_="soft")] if level else []
    return join(parts) if parts else tag("p", "Every line is right.", class_="soft")


def _cause(cause: str) -> Html:
    parts = seen(cause)
    if parts is None:
        return tag("p", cause, class_="lost")
    line, want, got = parts
    return tag(
        "dl",
        tag("dt", f"{line}, expected"), tag("dd", code(want)),
        tag("dt", f"{line}, seen"), tag("dd", code(got)),
    )  # fmt: skip


def _files(book: Book, learner: Learner) -> Html:
    rows = [
        [code(_base(one)), result.lesson[:2], join(_state(one)), code(one.digest[:DIGITS])]
        for result in by_lesson(book, learner).values()
        for one in result.files
    ]
    rows += [
        [code(_base(one)), "none", f"does not count: {one.problem}", code(one.digest[:DIGITS])]
        for one in book.strays.get(learner, ())
    ]
    heads = ["File", "Lesson", "State", "SHA-256 begins"]
    return section("files", "Files handed in", table("Files handed in", heads, rows))


def _state(one: Entry) -> Iterator[str]:
    yield "counts" if one.counts else "superseded by a later one"
    if one.late:
        yield ", late"
    if one.problem:
        yield f": {one.problem}"


def _base(one: Entry) -> str:
    """Give a file's own name: where it lay on the instructor's machine is nobody else's."""
    return one.source.rsplit("/", 1)[-1]


def _again(book: Book, results: Sequence[Result]) -> Html:
    option = "" if book.seeds == "run" else f" --seeds {book.seeds}"
    lesson, seed = results[0].lesson[:2], f"SEED = {results[0].seed}"
    command = f"ringkv grade FILE --out appeal --lessons {lesson} --key KEY{option}"
    rows = [[result.lesson, code(str(result.seed))] for result in results]
    return section(
        "again", "To see it again",
        table("Seeds", ["Lesson", "Seed"], rows),
        tag("p", "To print the same lines yourself, copy a graded cell into a new cell below your "
            "answer, write ", code(seed), " in the place of ", code("SEED = 0"), " and run it."),
        tag("p", "To grade a file again with the same seed, an instructor runs ", code(command),
            " with the key from key.json, which lies beside the results.", WHERE[book.seeds]),
    )  # fmt: skip
