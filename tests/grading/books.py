"""Results written by hand, so that reports can be tested without a kernel."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from html.parser import HTMLParser

from ringkv_edu.cohort.gradebook import Book, Entry, Exercise, Result
from ringkv_edu.cohort.people import Learner
from ringkv_edu.grading.release import lessons

LESSONS = ("00_start_here", "01_plain_python_ring")
SEALED = "sealed by Linux namespaces: own files, no network, own user"
UNSEALED = "NOT SEALED: the answers could read and write what the grader can"
FIRST = "the first tokens are kept in place of the last"
CAUSE = "line 1: reference '[38, 78] window 1 -> [78]', yours '[38, 78] window 1 -> [38]'"
SCRIPT = "</td><script>alert(1)</script><img src=x onerror=alert(2)>"

# Names and ids as people, spreadsheets and attackers write them.
ODD = (
    "Lee, Ann", 'Ann "Ring" Lee', "O'Neill", "Zoë Ångström", "李明", "two\nlines", "tab\tbed",
    '=HYPERLINK("http://example.org","x")', "+1", "-1", "@SUM(A1)", "\ttab", "\rreturn", "＝1+1",
    "\u202eekil siht\u202c", "a\u200fb", SCRIPT, "<b>", "&amp;", "..", ".", "a/b", "a\\b", "CON",
    "-rf", "x" * 300, "Ann", "ann", "ANN", "", "null\x00byte", "bell\x07", "half\ud800", "🙂",
)  # fmt: skip


def entry(name: str, counts: bool = True, late: bool = False, problem: str = "") -> Entry:
    digest = hashlib.sha256(name.encode("utf-8", errors="replace")).hexdigest()
    return Entry(f"/home/teacher/in/{name}", digest, late, counts, problem)


def result(
    lesson: str = LESSONS[0], lost: dict[str, Exercise] | None = None, **more: object
) -> Result:
    """A lesson with all points, but for the exercises that are given."""
    rows = tuple(
        (lost or {}).get(
            cell.exercise, Exercise(cell.exercise, cell.points, cell.points, "", 8, 8, "", "")
        )
        for cell in lessons()[lesson].graded
    )
    whole = Result(lesson, 4711, rows, {}, (entry(f"{lesson}.ipynb"),))
    return replace(whole, **more)  # type: ignore[arg-type]


def wrong(
    exercise: str, worth: int = 1, cause: str = CAUSE, mistake: str = "first", earned: float = 0.25
) -> Exercise:
    return Exercise(exercise, worth, earned, cause, 5, 8, mistake, FIRST if mistake else "")


def blank(lesson: str, cause: str = "not solved yet") -> dict[str, Exercise]:
    return {
        c.exercise: Exercise(c.exercise, c.points, 0, cause, 0, 0, "", "")
        for c in lessons()[lesson].graded
    }


def book(learners: dict[Learner, tuple[Result, ...]], **more: object) -> Book:
    whole = Book(SEALED, True, "9f86d081884c", "run", LESSONS, learners)
    return replace(whole, **more)  # type: ignore[arg-type]


def classroom(**more: object) -> Book:
    """One of everything: right, wrong, late, superseded, unreadable, stray, silent, unknown, odd."""
    last = wrong("ex00-last")
    raised = wrong("ex03-visible", 3, f"raises KeyError: {SCRIPT!r}", "", 0)
    files = (entry("old.ipynb", counts=False, late=True), entry(f"{SCRIPT}.ipynb", late=True))
    broken = "the file is not a notebook: its JSON is broken (line 1)"
    people = {
        Learner("ann", "Ann Lee", "11", "", "ann@example.org"): (result(), result(LESSONS[1])),
        Learner("bob", "Bob Lee", "12", "789", "bob@example.org"): (
            result(lost={"ex00-last": last}, files=files),
            result(LESSONS[1], blank(LESSONS[1]), hints={"ex02-append": 2}),
        ),
        Learner("carl", "Carl Lee"): (
            result(LESSONS[1], blank(LESSONS[1], "the file cannot be graded"), seed=0, problem=broken,
                   files=(entry("x.ipynb", problem=broken),)),
        ),
        Learner("dana", "Dana Lee"): (result(lost={"ex00-last": last}), result(LESSONS[1], {"ex03-visible": raised})),
    }  # fmt: skip
    people |= {
        Learner(name, name, email=f"{name}@example.org"): (result(),)
        for name in ODD
        if name not in ("ann",)
    }
    stray = entry("notes.ipynb", counts=False, problem="it is none of this course's notebooks")
    facts = {"strays": {Learner("carl", "Carl Lee"): (stray,)}, "unknown": ("dana",)}
    return book(people, **facts | {"silent": (Learner("eve", "Eve Lee"),)} | more)


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]
