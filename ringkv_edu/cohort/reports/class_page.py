"""The class's page: how it went, what to say in the next lecture, and which files need a look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from ...grading.release import lessons
from ..gradebook import Book, Exercise
from ..people import Learner
from .files import file_name
from .html import Html, bar, code, how, items, join, page, person, section, table, tag
from .table import commonest
from .words import by_lesson, called, notes, points, untouched

__all__ = ["class_page"]

BINS, LONGEST_BAR = 10, 24
MOST_OF_ALL, MOST_OF_EACH = 10, 3


def class_page(book: Book, more: Sequence[str] = ()) -> str:
    """Write the page; ``more`` are lines about the files for Canvas and Moodle."""
    count = _count(len(book.everyone()), "learner")
    head = join([tag("h1", "Class report"), tag("p", count, class_="total")])
    sections = [_glance(book), _distribution(book), _lecture(book), _everyone(book)]
    sections += list(_look(book))
    if more:
        sections.append(section("lms", "Files for Canvas and Moodle", items(*more)))
    return page(book, f"Class report: {count}", head, *sections, how(book))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _present(book: Book) -> list[Learner]:
    """Give everyone who handed in a file that belongs to a lesson."""
    return sorted(book.learners)


def _glance(book: Book) -> Html:
    totals = [book.earned(learner) for learner in _present(book)]
    names = ", ".join(name[:2] for name in book.lessons)
    lines = [f"{_count(len(totals), 'learner')} handed in a notebook of lessons {names}."]
    if totals:
        middle = f"{points(median(totals))} of {book.worth} points"
        lines.append(f"The middle learner has {middle}; {points(min(totals))} to "
                     f"{points(max(totals))} were earned.")  # fmt: skip
    silent = sum(not book.learners.get(one) for one in book.everyone())
    lines += [f"{_count(silent, 'learner')} handed in nothing that belongs to a lesson."] * (
        silent > 0
    )
    return section("glance", "At a glance", items(*lines))


def _distribution(book: Book) -> Html:
    counts = [0] * BINS
    for learner in _present(book):
        part = book.earned(learner) / book.worth if book.worth else 0
        counts[min(int(part * BINS), BINS - 1)] += 1
    most = max(counts)
    rows = []
    for place in reversed(range(BINS)):
        low, high = (points(book.worth * edge / BINS) for edge in (place, place + 1))
        width = max(1, round(LONGEST_BAR * counts[place] / most)) if counts[place] else 0
        until = f"{low} to {high}" if place == BINS - 1 else f"{low} to <{high}"
        rows.append([until, str(counts[place]), _blocks(width)])
    heads = ["Points", "Learners", "Picture"]
    return section(
        "points", "Points", table("How many learners earned how much", heads, rows, [0, 1])
    )


def _blocks(width: int) -> Html:
    return tag("span", "█" * width, class_="bar", aria_hidden="true")


def _lecture(book: Book) -> Html:
    """Show which exercises went badly, and which mistakes were made most."""
    rows = []
    for name in book.lessons:
        results = [found[name] for one in _present(book) if name in (found := by_lesson(book, one))]
        for cell in lessons()[name].graded:
            graded = (e for r in results if not r.problem for e in r.exercises)
            tried = [one for one in graded if one.exercise == cell.exercise]
            if tried:
                rows.append([cell.exercise, name[:2], *_numbers(tried)])
    heads = ["Exercise", "Lesson", "Solved", "Share", "Not begun", "No known mistake"]
    caption = "Exercises, of the notebooks that could be graded"
    told = table(caption, heads, rows, range(2, 6))
    return section("lecture", "For the next lecture", told, *_mistakes(book))


def _mistakes(book: Book) -> Iterator[Html]:
    """List the commonest mistakes of all, and, where there are more, those of each exercise."""
    said = [
        join([tag("strong", f"{count} × {exercise}:"), f" as if {sentence}"])
        for exercise, sentence, count in commonest(book)
    ]
    if said:
        yield tag("h3", "Mistakes, the commonest first")
        yield items(*said[:MOST_OF_ALL])
    if len(said) > MOST_OF_ALL:
        yield tag("h3", "Mistakes by exercise")
        known = book.mistakes()
        order = (cell.exercise for name in book.lessons for cell in lessons()[name].graded)
        yield items(*(_of_exercise(each, known[each]) for each in order if each in known))


def _of_exercise(exercise: str, known: Sequence[tuple[str, str, int]]) -> Html:
    said = [f"{count} × as if {sentence}" for _, sentence, count in known[:MOST_OF_EACH]]
    rest = sum(count for _, _, count in known[MOST_OF_EACH:])
    said += [f"{rest} × another known mistake"] if rest else []
    return join([tag("strong", exercise), items(*said)])


def _numbers(tried: Sequence[Exercise]) -> Iterator[str]:
    solved = sum(one.earned >= one.worth for one in tried)
    blank = sum(untouched(one) for one in tried)
    yield f"{solved} of {len(tried)}"
    yield bar(solved, len(tried))
    yield str(blank)
    yield str(sum(one.earned < one.worth and not one.mistake for one in tried) - blank)


def _everyone(book: Book) -> Html:
    rows = []
    for learner in book.everyone():
        results = by_lesson(book, learner)
        name = called(learner)
        link = tag("a", person(name), href=f"learners/{file_name(learner.id)}.html")
        same = Html() if name == learner.id else tag("span", " ", person(learner.id), class_="soft")
        marks = (points(results[n].earned) if n in results else "-" for n in book.lessons)
        said = "; ".join(notes(book, learner))
        rows.append([join([link, same]), *marks, points(book.earned(learner)), said])
    worths = [f"{name[:2]} (of {lessons()[name].points})" for name in book.lessons]
    heads = ["Learner", *worths, f"Total (of {book.worth})", "Notes"]
    numbers = range(1, len(heads) - 1)
    return section("everyone", "Everyone", table("Points of each learner", heads, rows, [*numbers]))


def _look(book: Book) -> Iterator[Html]:
    """Give what needs a person's look, and nothing for what is well."""
    broken = [
        [person(learner.id), code(one.source), one.problem]
        for learner in _present(book)
        for result in book.learners[learner]
        for one in result.files
        if one.problem or (one.counts and result.problem)
    ]
    if broken:
        heads = ["Learner", "File", "Reason"]
        yield section(
            "broken", "Could not be graded", table("Files that could not be graded", heads, broken)
        )
    strays = [
        [person(learner.id), code(one.source), one.problem]
        for learner, some in sorted(book.strays.items())
        for one in some
    ]
    if strays:
        heads = ["Learner", "File", "Reason"]
        yield section("strays", "Files of no lesson", table("Files of no lesson", heads, strays))
    if book.silent:
        names = (person(called(one)) for one in sorted(book.silent))
        yield section("silent", "Handed in nothing", items(*names))
    if book.unknown:
        yield section("unknown", "Not on the roster", items(*map(person, sorted(book.unknown))))
