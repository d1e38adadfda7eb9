"""What every released notebook has to be, whatever lessons come."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import nbformat
import pytest

from ringkv_edu.grading.release import lessons

ROOT = Path(__file__).resolve().parents[1]
BOOKS = sorted([*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("solutions/*.ipynb")])
PICTURE = re.compile(r"!\[([^\]]*)\]")

each_book = pytest.mark.parametrize("path", BOOKS, ids=lambda p: f"{p.parent.name}/{p.stem}")


@each_book
def test_it_is_a_valid_notebook(path: Path) -> None:
    book = nbformat.read(path, 4)
    nbformat.validate(book)
    ids = [cell.id for cell in book.cells]
    assert len(set(ids)) == len(ids)
    assert "widgets" not in book.metadata
    assert path.stat().st_size <= 200_000


@each_book
def test_nbgrader_reads_its_metadata(path: Path) -> None:
    keys = {"grade", "grade_id", "locked", "schema_version", "solution", "task"}
    for cell in nbformat.read(path, 4).cells:
        grader = cell.metadata.get("nbgrader")
        if grader:
            assert set(grader) - {"points"} == keys
            assert grader["schema_version"] == 3
            assert ("points" in grader) == grader["grade"]
            assert not (grader["grade"] and grader["solution"])


@each_book
def test_pictures_have_words(path: Path) -> None:
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "markdown":
            assert all(len(alt) > 40 for alt in PICTURE.findall(cell.source))
            assert len(PICTURE.findall(cell.source)) == len(cell.get("attachments", {}))


def test_the_package_carries_what_notebooks_holds() -> None:
    for name in lessons():
        packaged = ROOT / "ringkv_edu" / "release" / f"{name}.ipynb"
        assert packaged.read_bytes() == (ROOT / "notebooks" / f"{name}.ipynb").read_bytes()


def test_learner_notebooks_hold_no_answers() -> None:
    for path in ROOT.glob("notebooks/*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert "BEGIN SOLUTION" not in text
        assert "### STUB" not in text
        solution = json.loads((ROOT / "solutions" / path.name).read_text(encoding="utf-8"))
        answers = {
            c["id"]: c for c in solution["cells"] if c["id"] in lessons()[path.stem].answers()
        }
        learner = {cell["id"]: cell for cell in json.loads(text)["cells"]}
        assert all(learner[name]["source"] != cell["source"] for name, cell in answers.items())


def test_no_lesson_saves_over_the_work_of_another() -> None:
    """`my_ringkv.py` is one file: a name kept by two lessons would hold the later one's work alone."""
    keeps: dict[str, str] = {}
    for name, lesson in lessons().items():
        for cell in lesson.book["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] != "code" or "save_work(" not in source:
                continue
            calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
            for call in calls:
                if getattr(call.func, "id", "") == "save_work":
                    for kept in map(ast.literal_eval, call.args):
                        assert keeps.setdefault(kept, name) == name, (
                            f"{kept}: {keeps[kept]}, {name}"
                        )
    assert {"MyRing", "MyModelRing"} <= set(keeps)


def test_the_decode_table_of_the_first_document() -> None:
    book = nbformat.read(ROOT / "notebooks" / "01_plain_python_ring.ipynb", 4)
    text = next(c for c in book.cells if c.id == "ex02-append-graded").outputs[0].text.splitlines()
    assert text[0] == "window 4"
    assert text[10].endswith("4 in use; positions 6 7 8 9 writes 6 7 8 9")
    used = [int(re.search(r"(\d+) in use", line)[1]) for line in text[1:11]]
    assert used == [1, 2, 3, 4, 4, 4, 4, 4, 4, 4]
