"""Reports of made-up results: nothing is run in them, nothing gets lost, twice the same bytes."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringkv_edu.cohort.gradebook import Book, Exercise
from ringkv_edu.cohort.people import Learner
from ringkv_edu.cohort.reports import write_all
from ringkv_edu.cohort.reports.csvs import safe
from ringkv_edu.cohort.reports.files import cleaned, file_name, write
from ringkv_edu.cohort.reports.schema import check, schema
from ringkv_edu.cohort.reports.words import points, seen, share
from ringkv_edu.grading.release import lessons
from ringkv_edu.problem import Problem

from .books import (
    CAUSE,
    FIRST,
    LESSONS,
    ODD,
    SCRIPT,
    UNSEALED,
    Page,
    book,
    classroom,
    result,
    wrong,
)

FILES = ["canvas.csv", "class.html", "exercises.csv", "grades.csv", "grades.json", "junit.xml",
         "moodle.csv", "nbgrader.csv"]  # fmt: skip


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    write_all(classroom(), folder)
    return folder


def written(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def pages(folder: Path) -> dict[str, Page]:
    return {
        name: Page(text.decode("utf-8"))
        for name, text in written(folder).items()
        if name.endswith(".html")
    }


def test_these_files_are_written_and_no_others(reports: Path) -> None:
    everyone = classroom().everyone()
    names = {f"learners/{file_name(one.id)}.html" for one in everyone}
    assert len(names) == len(everyone)
    assert set(written(reports)) == {*FILES, *names}


def test_the_same_results_give_the_same_bytes_in_whatever_order_they_come(
    reports: Path, tmp_path: Path
) -> None:
    whole = classroom()
    turned = replace(whole, learners=dict(reversed(whole.learners.items())))
    assert turned == whole
    write_all(turned, tmp_path)
    assert written(tmp_path) == written(reports)


def test_an_unsealed_run_says_so_in_every_file_and_a_sealed_one_in_none(
    reports: Path, tmp_path: Path
) -> None:
    said = write_all(classroom(sealed=False, seal=UNSEALED), tmp_path)
    assert said[-1] == UNSEALED
    assert [name for name, data in written(tmp_path).items() if b"NOT SEALED" not in data] == []
    assert [name for name, data in written(reports).items() if b"NOT SEALED" in data] == []


def test_words_that_do_not_say_it_are_given_the_warning() -> None:
    assert classroom(sealed=False, seal="no seal").sealing == "NOT SEALED: no seal"
    assert (
        classroom(sealed=False, seal="no seal").to_dict()["seal"]["words"] == "NOT SEALED: no seal"
    )


def test_pages_of_learners_who_are_not_in_these_results_go(tmp_path: Path) -> None:
    write_all(classroom(), tmp_path)
    (tmp_path / "learners" / "mine.txt").write_text("kept")
    write_all(book({Learner("ann"): (result(),)}), tmp_path)
    assert sorted(path.name for path in (tmp_path / "learners").iterdir()) == [
        "ann.html",
        "mine.txt",
    ]


def test_a_class_of_nobody_can_be_reported(tmp_path: Path) -> None:
    write_all(book({}), tmp_path)
    assert sorted(written(tmp_path)) == FILES


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.txt", "old")

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space"):
            write(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "old"
    write(tmp_path / "a.txt", "new\ud800")
    assert written(tmp_path) == {"a.txt": b"new?"}


# Names of files.


def test_odd_ids_get_names_that_any_file_system_holds_apart() -> None:
    names = [file_name(id) for id in ODD]
    assert len({name.casefold() for name in names}) == len(ODD)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,59}", name) for name in names)
    assert file_name("ann") == "ann"
    assert file_name("con") != "con"
    taken = file_name("Ann")
    assert file_name(taken) != taken  # an id that looks like a changed one is changed, too


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_two_ids_share_a_name(one: str, other: str) -> None:
    assert (file_name(one).casefold() == file_name(other).casefold()) == (one == other)


# CSV.


def test_a_table_for_spreadsheets_has_everyone_in_it_and_runs_nothing(reports: Path) -> None:
    assert (reports / "grades.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    everyone = classroom().everyone()
    found = rows(reports / "grades.csv")
    assert [row["id"] for row in found] == [safe(cleaned(one.id)) for one in everyone]
    assert [row["name"] for row in found] == [safe(cleaned(one.name)) for one in everyone]
    for name in ("grades.csv", "exercises.csv", "canvas.csv", "moodle.csv", "nbgrader.csv"):
        with (reports / name).open(encoding="utf-8-sig", newline="") as file:
            for cell in (cell for row in csv.reader(file) for cell in row):
                assert not cell.lstrip(" ").startswith(
                    ("=", "+", "-", "@", "\t", "\r", "\n", "＝")
                ), cell


def test_points_are_numbers_and_an_absent_lesson_is_an_empty_cell(reports: Path) -> None:
    found = {row["id"]: row for row in rows(reports / "grades.csv")}
    bob = found["bob"]
    assert (bob[LESSONS[0]], bob[LESSONS[1]], bob["total"], bob["worth"]) == (
        "0.25",
        "0",
        "0.25",
        "25",
    )
    assert (found["eve"][LESSONS[0]], found["eve"]["total"]) == ("", "0")
    assert found["eve"]["notes"] == "handed in nothing"
    assert found["dana"]["notes"] == "not on the roster"


def test_each_exercise_has_a_line_with_its_cause_and_mistake(reports: Path) -> None:
    found = [row for row in rows(reports / "exercises.csv") if row["id"] == "bob"]
    assert len(found) == 10
    first = found[0]
    assert (first["exercise"], first["points"], first["cause"]) == ("ex00-last", "0.25", CAUSE)
    assert (first["mistake"], first["sentence"], first["late"]) == ("first", FIRST, "late")
    assert next(row for row in found if row["exercise"] == "ex02-append")["hints"] == "2"


def test_nbgraders_table_has_its_columns(reports: Path) -> None:
    found = rows(reports / "nbgrader.csv")
    assert list(found[0]) == (
        "assignment duedate timestamp student_id last_name first_name email raw_score "
        "late_submission_penalty score max_score".split()
    )
    bob = next(row for row in found if row["student_id"] == "bob")
    assert (bob["assignment"], bob["last_name"], bob["first_name"]) == (LESSONS[0], "Lee", "Bob")
    assert (bob["raw_score"], bob["score"], bob["max_score"]) == ("0.25", "0.25", "1.0")


# Pages.


def test_nothing_of_a_learner_becomes_markup(reports: Path) -> None:
    for name, page in pages(reports).items():
        assert not {tag for tag, _ in page.tags} & {
            "script",
            "img",
            "iframe",
            "object",
            "b",
            "link",
        }, name
        assert not [
            a for _, given in page.tags for a in given if a.startswith("on") or a == "src"
        ], name
    evil = pages(reports)[f"learners/{file_name(SCRIPT)}.html"]
    assert SCRIPT in evil.text
    assert SCRIPT.split("/")[-1] + ".ipynb" in pages(reports)["learners/bob.html"].text


def test_pages_need_no_network(reports: Path) -> None:
    for name, page in pages(reports).items():
        links = [given.get("href") or "" for _, given in page.tags if "href" in given]
        assert all(re.fullmatch(r"learners/[a-z0-9_-]+\.html", link) for link in links), name
        assert "url(" not in page.text
    targets = {given["href"] for given in pages(reports)["class.html"].named("a")}
    assert targets == {name for name in pages(reports) if name.startswith("learners/")}


def test_pages_have_landmarks_headings_and_headed_tables(reports: Path) -> None:
    for name, page in pages(reports).items():
        assert page.named("html") == [{"lang": "en"}]
        assert [len(page.named(tag)) for tag in ("main", "header", "h1", "title")] == [
            1,
            1,
            1,
            1,
        ], name
        assert all(cell["scope"] in ("col", "row") for cell in page.named("th"))
        assert len(page.named("caption")) == len(page.named("table"))
        ids = [given["id"] for _, given in page.tags if "id" in given]
        assert len(ids) == len(set(ids))


def test_a_learners_page_says_what_cost_points_and_how_to_see_it_again(reports: Path) -> None:
    text = pages(reports)["learners/bob.html"].text
    for words in (
        "0.25 of 25 points", "[38, 78] window 1 -> [78]", "[38, 78] window 1 -> [38]", f"As if {FIRST}.",
        "5 of 8 lines right", "superseded by a later one, late", "Hint taken: 2 of 3", "no proof of anything",
        "Public checks: 1 of 1.", "Public checks: 9 of 9.", "with another seed", "4711", "SEED = 4711",
        "ringkv grade FILE --out appeal --lessons 00 --key KEY", "9f86d081884c", "Sealed by Linux namespaces",
    ):  # fmt: skip
        assert words in text, words
    assert "/home/teacher" not in text


@pytest.mark.parametrize(
    ("kind", "words"), [("learner", "--seeds learner"), ("submission", "to the byte")]
)
def test_an_appeal_needs_the_same_kind_of_seed(kind: str, words: str, tmp_path: Path) -> None:
    write_all(classroom(seeds=kind), tmp_path)
    assert words in pages(tmp_path)["learners/ann.html"].text


def test_a_file_that_cannot_be_graded_has_its_reason_on_both_pages(reports: Path) -> None:
    for name in ("learners/carl.html", "class.html"):
        text = pages(reports)[name].text
        assert "its JSON is broken (line 1)" in text
        assert "none of this course's notebooks" in text
    assert "SEED = 0" not in pages(reports)["learners/carl.html"].text


def test_the_class_page_is_for_the_next_lecture(reports: Path) -> None:
    text = pages(reports)["class.html"].text
    total = len(classroom().everyone())
    for words in (
        f"{total} learners", f"2 × ex00-last: as if {FIRST}", "Eve Lee", "Not on the rosterdana",
        "22.5 to 25", "0 to <2.5", "/home/teacher/in/x.ipynb",
    ):  # fmt: skip
        assert words in text, words
    bars = {len(bar) for bar in re.findall("█+", text.split("For the next lecture")[0])}
    assert max(bars) == 24


def test_in_a_large_class_each_exercise_has_its_own_mistakes(tmp_path: Path) -> None:
    people = {}
    for number in range(12):
        lost = {
            cell.exercise: Exercise(
                cell.exercise, cell.points, 0, CAUSE, 0, 8, f"m{kind}", f"mistake {kind} is made"
            )
            for kind, cell in enumerate(lessons()[LESSONS[1]].graded)
            if (number + kind) % 3
        }
        lost["ex01-bytes"] = Exercise(
            "ex01-bytes", 2, 0, CAUSE, 0, 8, f"b{number // 2}", f"bytes {number // 2}"
        )
        people[Learner(f"s{number}")] = (result(LESSONS[1], lost),)
    write_all(book(people), tmp_path)
    text = pages(tmp_path)["class.html"].text
    _, commonest, by_exercise = re.split("Mistakes, the commonest first|Mistakes by exercise", text)
    assert len(re.findall(" × ", commonest)) == 10
    assert (
        "ex01-bytes2 × as if bytes 02 × as if bytes 12 × as if bytes 26 × another known mistake"
        in by_exercise
    )
    assert "ex08-shift8 × as if mistake 7 is made" in by_exercise


def test_a_difference_is_taken_apart_even_where_it_quotes_itself() -> None:
    assert seen(CAUSE) == ("line 1", "[38, 78] window 1 -> [78]", "[38, 78] window 1 -> [38]")
    want, got = "a, yours 'b', yours \"c", "d, yours e"
    assert seen(f"line 12: reference {want!r}, yours {got!r}") == ("line 12", want, got)
    assert seen("raises KeyError: 'line 1: reference'") is None
    assert seen("line 1: reference broken, yours 'x'") is None


# JUnit, the schema, the terminal.


def test_junit_can_be_parsed_and_counts_every_exercise(reports: Path) -> None:
    root = ElementTree.parse(reports / "junit.xml").getroot()
    cases = root.findall("testsuite/testcase")
    failures = root.findall("testsuite/testcase/failure")
    assert (root.get("tests"), root.get("failures")) == (str(len(cases)), str(len(failures)))
    suite = next(one for one in root if one.get("name") == f"bob {LESSONS[0]}")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == CAUSE
    assert f"as if {FIRST}" in (failure.text or "")
    assert {p.get("name"): p.get("value") for p in suite.iter("property")}["points"] == "0.25"
    assert not re.search(rb"\btime(stamp)?=", (reports / "junit.xml").read_bytes())


@pytest.mark.parametrize("make", [classroom, lambda: book({}), lambda: classroom(sealed=False)])
def test_grades_follow_the_published_schema(make: object) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema())
    grades = make().to_dict()  # type: ignore[operator]
    assert grades["$schema"] == schema()["$id"]
    check(json.loads(json.dumps(grades)))


@pytest.mark.parametrize(
    ("path", "value"),
    [(("version",), 2), (("extra",), 1), (("seal", "sealed"), False), (("seeds", "kind"), "none"),
     (("learners", 0, "earned"), -1), (("learners", 0, "id"), None)],
)  # fmt: skip
def test_the_schema_refuses_what_grades_never_are(
    path: tuple[str | int, ...], value: object
) -> None:
    grades = json.loads(json.dumps(classroom().to_dict()))
    place = grades
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(Problem, match="schema"):
        check(grades)


def test_the_terminal_shows_points_notes_mistakes_and_the_seal(tmp_path: Path) -> None:
    people: Book = book({
        Learner("ann"): (result(), result(LESSONS[1])),
        Learner("李明"): (result(lost={"ex00-last": wrong("ex00-last")}),),
        Learner("two\nlines"): (result(),),
    }, silent=(Learner("eve"),))  # fmt: skip
    lines = write_all(people, tmp_path)
    assert lines[:5] == [
        "learner        00     01    total  notes",
        "ann           1/1  24/24    25/25",
        "eve             -      -     0/25  handed in nothing",
        "two lines     1/1      -     1/25",
        "李明       0.25/1      -  0.25/25",
    ]
    assert f"  1 × ex00-last: as if {FIRST}" in lines
    assert lines[-1] == people.seal


def test_points_and_shares_are_never_shown_larger_than_they_are() -> None:
    assert [points(x) for x in (0, 1.0, 0.25, 18.5, 1234.56, 100)] == [
        "0",
        "1",
        "0.25",
        "18.5",
        "1234.56",
        "100",
    ]
    assert share(23.99, 24) == "99\u2009%"
    assert share(0, 0) == "0\u2009%"
