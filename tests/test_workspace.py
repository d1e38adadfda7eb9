from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringkv_edu import workspace
from ringkv_edu.grading import release
from ringkv_edu.grading.release import lessons, released_text
from ringkv_edu.workspace import WorkspaceError, fill, lesson_name, reset, update

LESSON = "01_plain_python_ring"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill(tmp_path / "work")
    return tmp_path / "work"


def book_at(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def save(path: Path, book: dict) -> None:
    path.write_text(json.dumps(book), encoding="utf-8")


def solve(path: Path, **sources: str) -> None:
    book = book_at(path)
    for cell in book["cells"]:
        if cell["id"] in sources:
            cell["source"] = sources[cell["id"]]
    save(path, book)


def source(path: Path, name: str) -> str:
    return "".join(next(c for c in book_at(path)["cells"] if c["id"] == name)["source"])


def test_start_copies_every_lesson_as_released(folder: Path) -> None:
    assert {p.stem for p in folder.glob("*.ipynb")} == set(lessons())
    assert (folder / f"{LESSON}.ipynb").read_text(encoding="utf-8") == released_text(LESSON)


def test_start_never_writes_over_work(folder: Path) -> None:
    path = folder / f"{LESSON}.ipynb"
    path.write_text("my work")
    (folder / "00_start_here.ipynb").unlink()
    new, kept = fill(folder)
    assert [p.stem for p in new] == ["00_start_here"]
    assert [p.stem for p in kept] == [name for name in lessons() if name != "00_start_here"]
    assert path.read_text() == "my work"


def test_start_in_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("")
    with pytest.raises(WorkspaceError, match="is a file"):
        fill(tmp_path / "work")


@pytest.mark.parametrize("text", ["1", "01", LESSON, f"work/{LESSON}.ipynb"])
def test_lesson_names(text: str) -> None:
    assert lesson_name(text) == LESSON


@pytest.mark.parametrize("text", ["", "ring", "0x1", "1.5"])
def test_an_unknown_lesson_lists_those_there_are(text: str) -> None:
    with pytest.raises(WorkspaceError, match="there are 00_start_here, 01_plain_python_ring"):
        lesson_name(text)


def test_reset_keeps_every_old_file(folder: Path) -> None:
    path = folder / f"{LESSON}.ipynb"
    for number in (1, 2):
        path.write_text(f"work {number}")
        kept = reset(folder, LESSON)
        assert kept is not None
        assert kept.name == f"{LESSON}.kept-{number}.ipynb"
        assert kept.read_text() == f"work {number}"
        assert path.read_text(encoding="utf-8") == released_text(LESSON)


def test_update_of_the_same_release_changes_nothing(folder: Path) -> None:
    solve(folder / f"{LESSON}.ipynb", **{"ex05-edge": "mine = 1"})
    assert update(folder) == [f"{name}: up to date" for name in lessons()]
    assert source(folder / f"{LESSON}.ipynb", "ex05-edge") == "mine = 1"


@pytest.fixture
def older(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's copy of an older release: other stubs, other prose, one cell that is gone."""
    path = folder / f"{LESSON}.ipynb"
    book = book_at(path)
    book["metadata"]["ringkv"]["release"] = "0" * 12
    for cell in book["cells"]:
        if cell["id"] == "ex05-edge":
            cell["source"] = "def sees(q, k, w):\n    return 0 <= q - k < w"
        if cell["id"] == "ex06-empty":
            cell["source"] = "old stub"
            cell["metadata"]["ringkv"]["stub"] = release.digest("old stub")
        if cell["id"] == "01-start":
            cell["source"] = "old prose"
    place = next(i for i, cell in enumerate(book["cells"]) if cell["id"] == "ex05-edge")
    mine = {"cell_type": "code", "id": "3f2a99b1", "metadata": {}, "source": "helper = 1",
            "outputs": [], "execution_count": 7}  # fmt: skip
    notes = {"cell_type": "markdown", "id": "77aa00cc", "metadata": {}, "source": "my notes"}
    gone = {"cell_type": "code", "id": "01-gone", "metadata": {"ringkv": {"role": "given"}},
            "source": "x", "outputs": [], "execution_count": None}  # fmt: skip
    book["cells"][place + 1 : place + 1] = [mine, notes, gone]
    save(path, book)
    return path


def test_update_carries_answers_and_own_cells(older: Path) -> None:
    before = older.read_bytes()
    lines = update(older.parent)
    assert lines[1] == (
        f"{LESSON}: updated, 1 answers and 2 cells of your own carried over; "
        f"other changes of yours are in the old file: {LESSON}.kept-1.ipynb"
    )
    assert older.with_name(f"{LESSON}.kept-1.ipynb").read_bytes() == before
    ids = [cell["id"] for cell in book_at(older)["cells"]]
    place = ids.index("ex05-edge")
    assert ids[place : place + 4] == ["ex05-edge", "3f2a99b1", "77aa00cc", "ex05-edge-check"]
    assert "01-gone" not in ids
    assert "return 0 <= q - k < w" in source(older, "ex05-edge")
    assert source(older, "ex06-empty") == lessons()[LESSON].answers()["ex06-empty"]
    assert source(older, "01-start") != "old prose"
    assert update(older.parent)[1] == f"{LESSON}: up to date"


def test_update_puts_a_deleted_answer_cell_back(folder: Path) -> None:
    path = folder / f"{LESSON}.ipynb"
    solve(path, **{"ex02-append": "mine = 2"})
    book = book_at(path)
    book["cells"] = [c for c in book["cells"] if c["id"] != "ex05-edge"]
    save(path, book)
    assert "updated, 1 answers and 0 cells" in update(folder)[1]
    assert source(path, "ex05-edge") == lessons()[LESSON].answers()["ex05-edge"]
    assert source(path, "ex02-append") == "mine = 2"


def test_update_loses_nothing_odd(older: Path) -> None:
    book = book_at(older)
    copied = dict(next(c for c in book["cells"] if c["id"] == "ex05-edge"), id="0a1b2c3d-44")
    book["cells"] += [
        {"cell_type": "raw", "id": "raw 1", "metadata": {}, "source": "raw text"},
        {"cell_type": "markdown", "id": "note", "metadata": None, "source": "![x](attachment:x.png)",
         "attachments": {"x.png": {"image/png": "AAAA"}}},
        copied | {"source": "second attempt"},
        {"id": "typeless", "source": "no type"},
        {"cell_type": "code", "id": "lone", "metadata": {"ringkv": 5}, "source": "s = '\ud800'"},
    ]  # fmt: skip
    save(older, book)
    assert "updated, 1 answers and 7 cells" in update(older.parent)[1]
    cells = book_at(older)["cells"]
    texts = ["".join(c["source"]) for c in cells]
    assert {"raw text", "second attempt", "no type", "s = '\ud800'", "my notes"} <= set(texts)
    assert any(c.get("attachments") == {"x.png": {"image/png": "AAAA"}} for c in cells)
    assert len({c["id"] for c in cells}) == len(cells)


def test_update_leaves_a_file_it_cannot_read(folder: Path) -> None:
    path = folder / f"{LESSON}.ipynb"
    path.write_text("<<<<<<< HEAD\n{}")
    assert "left as it is: the file has git merge-conflict markers" in update(folder)[1]
    assert path.read_text() == "<<<<<<< HEAD\n{}"


def test_update_outside_a_course_folder(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no course folder"):
        workspace.update(tmp_path)
