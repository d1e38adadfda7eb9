"""Files for Canvas and Moodle: exports with all their quirks are filled, and nothing else is touched."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from ringkv_edu.cli import main
from ringkv_edu.cohort.gradebook import Book
from ringkv_edu.cohort.people import Learner
from ringkv_edu.cohort.reports import Systems, canvas, moodle, write_all
from ringkv_edu.cohort.reports.lms import name_key, number
from ringkv_edu.problem import Problem

from .books import FIRST, LESSONS, SCRIPT, UNSEALED, blank, book, result, wrong

# As Canvas exports it: a line for manual posting, one for points, scores that are read only.
CANVAS = '''\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,Lesson 00 (901),Ring (902),Current Score,Final Score
,,,,,,,Manual Posting,,
    Points Possible,,,,,,5.00,25.00,(read only),(read only)
"Lee, Ann",11,S1,ann@example.org,A and B,likes tea,3,,60,10
"Lee, Bob",12,bob,b12,A,,,7,,
"O""Neill, Zoë",13,S3,z13,A,,,,,
"=""=1+1""",14,S4,x14,A,,,,,
"Twin, Tim",15,S5,t15,A,,,1,,
"Twin, Tim",16,S6,t16,A,,,2,,
"Gone, Gil",17,S7,g17,A,,,EX,,
"Quiet, Quinn",18,S8,q18,A,,,4,,
"Student, Test",99,,test,A,,,,,
'''
MOODLE = """\
Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),Last modified (grade),Feedback comments
Participant 789,Bob Lee,,b@example.org,Submitted for grading - ,,25.00,Yes,"Monday, 1 June 2026, 9:00 AM",-,
Participant 790,"Lee, Ann",ann,x@example.org,Submitted for grading - ,3.00,25.00,Yes,-,-,old
Participant 791,Zoë O'Neill,,Zoe@Example.org,No submission,,25.00,Yes,-,-,
Participant 792,Carl Lee,carl,,Submitted for grading - ,1.00,25.00,No,-,-,locked
Participant 793,Quinn Quiet,q,,No submission,2.00,25.00,Yes,-,-,kept
"""  # fmt: skip


def learners(**more: object) -> Book:
    """One for each way in which a line can be found."""
    return book({
        Learner("by-canvas", "Somebody Else", "11"): (result(), result(LESSONS[1])),
        Learner("bob", "Robert", moodle="789"): (result(lost={"ex00-last": wrong("ex00-last")}),),
        Learner("zoe", 'zoë  O"neill', email="zoe@example.org"): (result(),),
        Learner("tim", "Tim Twin"): (result(),),
        Learner("gil", "Gil Gone"): (result(),),
        Learner("ann", "ann", email="nobody"): (result(), result(LESSONS[1], blank(LESSONS[1]))),
        Learner("carl", "carl"): (result(),),
    }, **more)  # fmt: skip


def put(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "export.csv"
    path.write_bytes(text.encode(encoding))
    return path


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_a_canvas_export_is_filled_and_cut_to_what_is_needed(tmp_path: Path) -> None:
    gradebook = canvas.read_gradebook(put(tmp_path, CANVAS), "Ring")
    filled = canvas.fill(learners(), gradebook)
    got = table(filled.text)
    assert got[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Ring (902)"]
    want = [row[:5] + row[7:8] for row in table(CANVAS)]
    for place, points in {3: "25", 4: "0.25", 5: "1"}.items():
        want[place][5] = points
    assert got == want  # everything else stands as it was exported, in the same order
    assert {one.id for one in filled.unmatched} == {"tim", "ann", "carl"}
    assert "canvas.csv: left as it was, excused: Gone, Gil" in filled.lines
    assert "canvas.csv: left as it was, nothing handed in: Quiet, Quinn" in filled.lines
    assert not any("Student, Test" in line for line in filled.lines)


@pytest.mark.parametrize("name", ["Ring (902)", "ring", "902", " Ring "])
def test_an_assignment_is_found_by_its_name_or_number(name: str, tmp_path: Path) -> None:
    assert canvas.read_gradebook(put(tmp_path, CANVAS), name).column == "Ring (902)"


def test_bom_semicolons_and_decimal_commas_are_read(tmp_path: Path) -> None:
    text = CANVAS.replace("25.00", "100;00").replace(",", ";").replace("100;00", "100,00")
    gradebook = canvas.read_gradebook(put(tmp_path, text, "utf-8-sig"), "902")
    filled = canvas.fill(learners(), gradebook)
    assert "canvas.csv: scaled from 25 to the assignment's 100 points" in filled.lines
    assert [row[5] for row in table(filled.text)[3:5]] == ["100", "1"]


def test_first_and_last_names_may_stand_apart(tmp_path: Path) -> None:
    text = "LastName,FirstName,ID,SIS Login ID,Section,Ring (902)\nTwin,Tim,,,A,\n"
    filled = canvas.fill(learners(), canvas.read_gradebook(put(tmp_path, text), ""))
    assert table(filled.text)[1] == ["Twin", "Tim", "", "", "A", "1"]


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [("", "", "is empty"), ("\n\n", "", "is empty"), ("name,points\nann,3\n", "", "Canvas exports Student, ID"),
     (CANVAS, "Lecture", "it has: Lesson 00 (901); Ring (902)"), (CANVAS, "", "no one assignment"),
     (CANVAS.replace("Lesson 00", "Ring"), "Ring", "several assignments")],
)  # fmt: skip
def test_what_is_no_gradebook_is_refused_with_a_reason(
    text: str, name: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(Problem) as error:
        canvas.read_gradebook(put(tmp_path, text), name)
    assert said in str(error.value)


def test_text_in_another_encoding_is_refused_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="not UTF-8"):
        canvas.read_gradebook(put(tmp_path, CANVAS, "latin-1"), "Ring")
    assert canvas.read_gradebook(put(tmp_path, CANVAS, "utf-16"), "Ring").column == "Ring (902)"


def test_an_unsealed_canvas_file_has_a_column_that_canvas_passes_over(tmp_path: Path) -> None:
    gradebook = canvas.read_gradebook(put(tmp_path, CANVAS), "Ring")
    got = table(canvas.fill(learners(sealed=False, seal=UNSEALED), gradebook).text)
    assert [row[-1] for row in got[:4]] == ["NOT SEALED", "", "(read only)", UNSEALED]


def test_without_an_export_a_canvas_file_is_made_from_what_is_known() -> None:
    got = table(canvas.plain(learners(), "Ring").text)
    assert got[:2] == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Ring"],
        ["    Points Possible", "", "", "", "", "25"],
    ]
    assert ["Robert", "", "bob", "bob", "", "0.25"] in got
    only = table(canvas.plain(book({Learner("canvas-77", "dana", "77"): (result(),)}), "").text)
    assert only[2] == ["dana", "77", "", "", "", "1"]


def test_a_moodle_worksheet_is_filled_and_nothing_else_is_touched(tmp_path: Path) -> None:
    filled = moodle.fill(learners(), moodle.read_worksheet(put(tmp_path, MOODLE)))
    got, want = table(filled.text), table(MOODLE)
    for place, points in {1: "0.25", 2: "1", 3: "1"}.items():
        want[place][5] = points
        assert got[place][10].startswith(f"{points} of 25 points.")
        want[place][10] = got[place][10]
    assert got == want
    assert "ex00-last 0.25/1: line 1: reference '[38, 78] window 1 -&gt; [78]'" in got[1][10]
    assert f"as if {FIRST}." in got[1][10]
    assert {one.id for one in filled.unmatched} == {"by-canvas", "tim", "gil"}
    assert "moodle.csv: left as it was, its grade is locked: Carl Lee" in filled.lines
    assert "moodle.csv: left as it was, nothing handed in: Quinn Quiet" in filled.lines


def test_a_worksheet_that_a_spreadsheet_saved_is_read_and_written_with_commas(
    tmp_path: Path,
) -> None:
    rows = table(MOODLE)
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=";").writerows(rows)
    path = put(tmp_path, out.getvalue().replace("25.00", "10,00"), "utf-8-sig")
    filled = moodle.fill(learners(), moodle.read_worksheet(path))
    assert "moodle.csv: scaled from 25 to the grade's 10 points" in filled.lines
    assert filled.text.startswith("Identifier,Full name,ID number,")
    assert [row[5] for row in table(filled.text)[1:4]] == ["0.1", "0.4", "0.4"]


def test_columns_may_be_missing_but_those_that_moodle_needs(tmp_path: Path) -> None:
    text = "Identifier,Grade,Last modified (grade)\nParticipant 789,,-\n"
    sheet = moodle.read_worksheet(put(tmp_path, text))
    assert table(moodle.fill(learners(), sheet).text)[1] == ["Participant 789", "0.25", "-"]
    got = table(moodle.fill(learners(sealed=False, seal=UNSEALED), sheet).text)
    assert [row[-1] for row in got] == ["NOT SEALED", UNSEALED]
    with pytest.raises(Problem, match=r"no column Grade, Last modified \(grade\).*English"):
        moodle.read_worksheet(put(tmp_path, "Identifier,Bewertung\nTeilnehmer/in 789,\n"))
    with pytest.raises(Problem, match="a scale"):
        moodle.read_worksheet(put(tmp_path, MOODLE.replace("25.00", "Pass; Fail")))


def test_feedback_is_short_and_cannot_be_read_as_a_tag() -> None:
    raised = {"ex00-last": wrong("ex00-last", cause=f"raises KeyError: {SCRIPT!r}", mistake="")}
    ann = Learner("ann")
    one = book({ann: (result(lost=raised), result(LESSONS[1], blank(LESSONS[1])))})
    said = moodle.short(one, ann)
    assert "<" not in said
    assert "&lt;script&gt;" in said
    assert said.endswith("Not solved yet: " + ", ".join(blank(LESSONS[1])) + ".")
    assert len(said) < 1600


def test_without_a_worksheet_a_file_for_moodles_gradebook_is_made() -> None:
    got = table(moodle.plain(learners()).text)
    assert got[0] == ["Identifier", "ID number", "Full name", "Email address", "Grade", "Feedback"]
    assert next(row for row in got if row[1] == "bob")[:5] == [
        "Participant 789",
        "bob",
        "Robert",
        "",
        "0.25",
    ]


def test_who_has_no_line_is_named_in_the_terminal_and_on_the_class_page(tmp_path: Path) -> None:
    gradebook = canvas.read_gradebook(put(tmp_path, CANVAS), "Ring")
    sheet = moodle.read_worksheet(put(tmp_path, MOODLE))
    said = write_all(learners(), tmp_path / "out", Systems(gradebook, "Ring", sheet))
    page = (tmp_path / "out" / "class.html").read_text(encoding="utf-8")
    for line in ("canvas.csv: no line there for tim", "moodle.csv: no line there for gil",
                 "canvas.csv: Ring (902): 4 filled"):  # fmt: skip
        assert line in said
        assert line in page


def test_names_and_numbers_are_compared_however_they_are_written() -> None:
    assert name_key("Lee,  Ann") == name_key("Ann Lee") == "Ann Lee"
    assert [number(text) for text in ("25", " 25.50 ", "25,5", "", "Pass", "-1")] == [
        25,
        25.5,
        25.5,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("option", ["--canvas-gradebook", "--moodle-worksheet"])
def test_a_file_that_cannot_be_filled_is_refused_before_anything_is_graded(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    given = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--allow-unsealed"]
    assert main([*given, option, str(put(tmp_path, "a,b\n1,2\n"))]) == 2
    assert "export.csv has " in capsys.readouterr().err
    assert main([*given, option, str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
