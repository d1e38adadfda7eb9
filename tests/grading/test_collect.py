"""Whose notebook a file is, in every shape in which a class hands in."""

from __future__ import annotations

import io
import os
import stat
import unicodedata
import zipfile
from pathlib import Path

import pytest

from ringkv_edu.cohort.collect import collect
from ringkv_edu.cohort.people import Learner, Roster, from_download, read_roster
from ringkv_edu.problem import Problem

from .submissions import LESSON_00, LESSON_01, released, text

FILE = f"{LESSON_00}.ipynb"
BOOK = text(released())


def put(path: Path, data: bytes = BOOK) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def packed(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


def whose(*paths: Path, roster: Roster | None = None) -> list[tuple[str, str]]:
    return [(one.learner.id, one.file) for one in collect(paths, roster)]


@pytest.mark.parametrize(
    ("name", "user", "file", "again", "late"),
    [
        ("leeann_123_4567_01.ipynb", "canvas-123", "01.ipynb", 0, False),
        ("leeann_LATE_123_4567_my_work-2.ipynb", "canvas-123", "my_work.ipynb", 2, True),
        ("élan_9_8_a_b_c.ipynb", "canvas-9", "a_b_c.ipynb", 0, False),
        ("Ann Lee_789_assignsubmission_file_", "moodle-789", "", 0, False),
        ("Ann Lee_789_assignsubmission_file", "moodle-789", "", 0, False),
        ("Ann_Marie Lee_789_assignsubmission_file_01.ipynb", "moodle-789", "01.ipynb", 0, False),
    ],
)
def test_names_that_canvas_and_moodle_give(
    name: str, user: str, file: str, again: int, late: bool
) -> None:
    found = from_download(name)
    assert found is not None
    assert (found.learner.id, found.file, found.again, found.late) == (user, file, again, late)


@pytest.mark.parametrize("name", ["01_plain_python_ring.ipynb", "ann.ipynb", "my_2024_notes.ipynb"])
def test_other_names_are_no_downloads(name: str) -> None:
    assert from_download(name) is None


def test_a_folder_for_each_learner(tmp_path: Path) -> None:
    put(tmp_path / "ann" / FILE)
    put(tmp_path / "bob" / "week 1" / f"{LESSON_01}.ipynb")
    put(tmp_path / "bob" / ".ipynb_checkpoints" / FILE)
    put(tmp_path / "bob" / f"{LESSON_01}.kept-1.ipynb")
    put(tmp_path / "bob" / "notes.txt", b"hello")
    assert whose(tmp_path) == [("ann", FILE), ("bob", f"{LESSON_01}.ipynb")]


def test_a_file_for_each_learner(tmp_path: Path) -> None:
    put(tmp_path / f"ann_{FILE}")
    put(tmp_path / f"{LESSON_00}-bob.ipynb")
    put(tmp_path / "carl.ipynb")
    assert [name for name, _ in whose(tmp_path)] == ["ann", "bob", "carl"]


def test_a_notebook_alone_is_its_folders(tmp_path: Path) -> None:
    put(tmp_path / "ann" / FILE)
    assert whose(tmp_path / "ann" / FILE) == [("ann", FILE)]
    assert whose(tmp_path / "ann") == [("ann", FILE)]


def test_canvas_zip(tmp_path: Path) -> None:
    put(tmp_path / "submissions.zip", packed({
        f"leeann_123_11_{FILE}": BOOK,
        f"leeann_LATE_123_12_{LESSON_00}-1.ipynb": BOOK,
        f"leebob_124_13_{FILE}": BOOK,
        f"__MACOSX/._leeann_123_11_{FILE}": b"x",
    }))  # fmt: skip
    found = collect([tmp_path / "submissions.zip"])
    assert [(one.learner.id, one.late) for one in found] == [
        ("canvas-123", False), ("canvas-123", True), ("canvas-124", False),
    ]  # fmt: skip
    assert found[0].order < found[1].order  # the second again supersedes the first


def test_moodle_zip_with_a_zip_that_a_learner_handed_in(tmp_path: Path) -> None:
    inner = packed({f"work/{FILE}": BOOK, f"Bob Lee_790_assignsubmission_file_/{FILE}": BOOK})
    put(tmp_path / "all.zip", packed({
        f"Ann Lee_789_assignsubmission_file_/{FILE}": BOOK,
        "Ann Lee_789_assignsubmission_file_/mine.zip": inner,
        f"Bob Lee_790_assignsubmission_file_/{FILE}": BOOK,
    }))  # fmt: skip
    assert [name for name, _ in whose(tmp_path / "all.zip")] == 3 * ["moodle-789"] + ["moodle-790"]


def test_what_a_learner_names_stays_theirs(tmp_path: Path) -> None:
    put(tmp_path / "ann" / f"leebob_124_13_{FILE}")
    put(tmp_path / "ann" / "Bob Lee_790_assignsubmission_file_" / FILE)
    put(tmp_path / "ann" / "bob" / FILE)
    assert {name for name, _ in whose(tmp_path)} == {"ann"}


def test_an_nbgrader_course(tmp_path: Path) -> None:
    put(tmp_path / "submitted" / "ann" / LESSON_00 / FILE)
    put(tmp_path / "source" / LESSON_00 / FILE)
    assert whose(tmp_path) == [("ann", FILE)]


def test_accents_are_the_same_however_they_are_encoded(tmp_path: Path) -> None:
    for form in ("NFC", "NFD"):
        put(tmp_path / unicodedata.normalize(form, "André") / f"{form}_{FILE}")
    assert {name for name, _ in whose(tmp_path)} == {unicodedata.normalize("NFC", "André")}


def test_links_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "in" / "ann" / "other.ipynb")
    (tmp_path / "in" / "bob").mkdir()
    (tmp_path / "in" / "bob" / FILE).symlink_to(tmp_path / "in" / "ann" / "other.ipynb")
    (bob,) = [one for one in collect([tmp_path / "in"]) if one.learner.id == "bob"]
    assert (bob.data, "it is a link" in bob.problem) == (b"", True)
    entry = zipfile.ZipInfo(f"ann/{FILE}")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    put(tmp_path / "links.zip", packed({}))
    with zipfile.ZipFile(tmp_path / "links.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    (one,) = collect([tmp_path / "links.zip"])
    assert "it is a link" in one.problem


def test_paths_that_lead_out_of_a_zip_lead_nowhere(tmp_path: Path) -> None:
    put(tmp_path / "tricks.zip", packed({f"../../ann/{FILE}": BOOK, f"/bob/{FILE}": BOOK}))
    assert [name for name, _ in whose(tmp_path / "tricks.zip")] == ["ann", "bob"]


def test_a_file_that_is_too_large_or_a_pipe_is_named(tmp_path: Path) -> None:
    put(tmp_path / "ann" / FILE, b" " * 20_000_001)
    (tmp_path / "bob").mkdir()
    os.mkfifo(tmp_path / "bob" / FILE)
    reasons = {one.learner.id: one.problem for one in collect([tmp_path])}
    assert "larger than 20 MB" in reasons["ann"]
    assert reasons["bob"] == "it is no file"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: p / "nowhere", "does not exist"),
        (lambda p: put(p / "notes.txt") or p / "notes.txt", "neither a folder"),
        (lambda p: put(p / "bad.zip", b"no zip") or p / "bad.zip", "cannot be unpacked"),
    ],
)
def test_what_cannot_be_taken_is_named(tmp_path: Path, make: object, words: str) -> None:
    with pytest.raises(Problem, match=words):
        collect([make(tmp_path)])  # type: ignore[operator]


def test_a_roster_finds_people_by_each_of_their_ids(tmp_path: Path) -> None:
    put(tmp_path / "class.csv", '\ufeffSIS User ID,Name,Email,canvas_id,Identifier\n'
        's1,"Lee, Ann",a@x,123,Participant 789\ns2,Bob Lee,b@x,124,\n'.encode())  # fmt: skip
    roster = read_roster(tmp_path / "class.csv")
    ann, bob = roster.learners
    assert ann == Learner("s1", "Lee, Ann", "123", "789", "a@x")
    assert roster.find(Learner("canvas-123", "leeann", canvas="123")) == ann
    assert roster.find(Learner("moodle-789", "Ann", moodle="789")) == ann
    assert roster.find(Learner("Bob Lee", "Bob Lee")) == bob
    assert roster.find(Learner("s2", "s2")) == bob
    assert roster.find(Learner("eve", "eve")) is None


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("", "is empty"),
        ("name,email\nAnn,a@x\n", "one of id, learner"),
        ("id,name\ns1,Ann\ns1,Bob\n", "'s1' stands there twice"),
        ("id,name\n,Ann\n", "one is empty"),
    ],
)
def test_a_roster_that_cannot_be_used_is_named(tmp_path: Path, rows: str, words: str) -> None:
    put(tmp_path / "class.csv", rows.encode())
    with pytest.raises(Problem, match=words):
        read_roster(tmp_path / "class.csv")


def test_two_people_of_one_name_are_not_guessed_at() -> None:
    roster = Roster((Learner("s1", "Ann"), Learner("s2", "Ann")))
    assert roster.find(Learner("Ann", "Ann")) is None


def broken(data: bytes) -> bytes:
    """The same zip file, with other bytes where its first entry's data lie."""
    return data[:200] + bytes(60) + data[260:]


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in.zip", bytes(150_000_000))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("no zip", lambda: b"no zip", "cannot be unpacked"),
        ("cut short", lambda: packed({FILE: BOOK})[:-30], "cannot be unpacked"),
        ("damaged", lambda: broken(packed({FILE: BOOK})), "cannot be unpacked"),
        ("no zip inside", lambda: packed({"in.zip": b"no zip"}), "cannot be unpacked"),
        ("damaged inside", lambda: packed({"in.zip": broken(packed({FILE: BOOK}))}), "unpacked"),
        ("a bomb", bomb, "unpacks to more than 100,000,000 bytes"),
        ("many files", lambda: packed({f"{n}.ipynb": b"" for n in range(20_001)}), "20,000 files"),
    ],
)
def test_what_one_learner_hands_in_stops_nobody_elses(
    tmp_path: Path, name: str, make: object, words: str
) -> None:
    put(tmp_path / "in" / "ann" / "work.zip", make())  # type: ignore[operator]
    put(tmp_path / "in" / "bob" / FILE)
    ann, bob = collect([tmp_path / "in"])
    assert (ann.learner.id, bob.learner.id) == ("ann", "bob")
    assert words in ann.problem
    assert (bob.data, bob.problem) == (BOOK, "")


def test_zip_files_that_are_links_or_have_no_end_are_named(tmp_path: Path) -> None:
    put(tmp_path / "bob" / "work.zip", packed({FILE: BOOK}))
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "link.zip").symlink_to(tmp_path / "bob" / "work.zip")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "ann" / "pipe.zip")
    found = {one.source.rsplit("/", 1)[-1]: one.problem for one in collect([tmp_path])}
    assert found["link.zip"].startswith("it is a link")
    assert found.get("pipe.zip", "it is no file") == "it is no file"
    assert found[FILE] == ""


def test_folders_without_end_are_left(tmp_path: Path) -> None:
    put(tmp_path / "bob" / FILE)
    put(tmp_path.joinpath("ann", *["d"] * 900, FILE))
    assert whose(tmp_path) == [("bob", FILE)]
