"""The cheats that earn points from plain nbval earn none here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .submissions import (
    LESSON_00,
    WRONG,
    Book,
    Run,
    answered,
    cell,
    released,
    run,
    text,
    write_all,
)

GRADED = "ex00-last-graded"


def cheat(change: Callable[[Book], object]) -> Callable[[], bytes]:
    def make() -> bytes:
        book = answered(WRONG)
        change(book)
        return text(book)

    return make


def forge_outputs(book: Book) -> None:
    """Run the wrong answer, and store what it prints as the reference."""
    import contextlib
    import io

    out, names = io.StringIO(), {}
    with contextlib.redirect_stdout(out):
        for name in ("00-setup", "ex00-last", GRADED):
            exec("".join(cell(book, name)["source"]), names)
    cell(book, GRADED)["outputs"][0]["text"] = out.getvalue()


def clear_outputs(book: Book) -> None:
    cell(book, GRADED).update(outputs=[], execution_count=None)


def delete(*names: str) -> Callable[[Book], None]:
    def change(book: Book) -> None:
        book["cells"] = [c for c in book["cells"] if c["id"] not in names]

    return change


def tag(*tags: str) -> Callable[[Book], None]:
    return lambda book: [c["metadata"].update(tags=list(tags)) for c in book["cells"]]


def edit_graded(source: str) -> Callable[[Book], None]:
    return lambda book: cell(book, GRADED).update(source=source)


def mark_answer(marker: str) -> Callable[[Book], None]:
    return lambda book: cell(book, "ex00-last").update(source=f"# {marker}\n{WRONG}")


def points_99(book: Book) -> None:
    cell(book, GRADED)["metadata"]["nbgrader"]["points"] = 99


def new_points(book: Book) -> None:
    copied = json.loads(json.dumps(cell(book, GRADED)))
    copied["metadata"]["nbgrader"].update(grade_id="extra", points=50)
    book["cells"].append(copied | {"id": "extra", "source": "print(1)", "outputs": []})


def claim_solution(book: Book) -> None:
    book["metadata"]["ringkv"]["kind"] = "solution"
    forge_outputs(book)


def strip_metadata(book: Book) -> None:
    book["metadata"] = {}
    for each in book["cells"]:
        each["metadata"] = {}


def swap_ids(book: Book) -> None:
    """Make the graded cell a nameless cell, and give its id to one that prints the reference."""
    reference = cell(book, GRADED)["outputs"][0]["text"]
    cell(book, GRADED)["id"] = "zzz"
    book["cells"].append({"cell_type": "code", "id": GRADED, "metadata": {}, "outputs": [],
                          "execution_count": 1, "source": f"print({''.join(reference)!r}, end='')"})  # fmt: skip


def other_kernel(book: Book) -> None:
    book["metadata"]["kernelspec"] = {"name": "always-right", "display_name": "x"}


CHEATS = {
    "forged-outputs": forge_outputs,
    "cleared-outputs": clear_outputs,
    "deleted-graded": delete(GRADED),
    "deleted-check-and-graded": delete(GRADED, "ex00-last-check"),
    "deleted-answer": delete("ex00-last"),
    "tag-skip": tag("nbval-skip"),
    "tag-ignore": tag("nbval-ignore-output"),
    "tag-raises": tag("raises-exception"),
    "tag-both": tag("nbval-skip", "nbval-check-output"),
    "comment-skip": mark_answer("NBVAL_SKIP"),
    "comment-ignore": mark_answer("NBVAL_IGNORE_OUTPUT"),
    "graded-skipped": edit_graded("# NBVAL_SKIP\nprint(1)"),
    "graded-replaced": edit_graded("pass"),
    "graded-as-markdown": lambda book: cell(book, GRADED).update(cell_type="markdown"),
    "points-99": points_99,
    "new-graded-cell": new_points,
    "claims-to-be-the-solution": claim_solution,
    "stripped-metadata": strip_metadata,
    "swapped-ids": swap_ids,
    "other-kernel": other_kernel,
}


@pytest.fixture(scope="module")
def cheats(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("cheats")
    write_all(folder, {name: cheat(change) for name, change in CHEATS.items()})
    return run(folder)


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_earns_nothing(cheats: Run, name: str) -> None:
    earned, part = cheats.points(name)
    assert earned == 0, part
    assert "lesson             0/1" in part  # the total is the release's
    assert cheats.code == 1


def renamed(tmp_path: Path, change: Callable[[Book], object]) -> Run:
    book = answered(WRONG)
    change(book)
    (tmp_path / "my_holiday.ipynb").write_bytes(text(book))
    return run(tmp_path)


def drop_ids(book: Book) -> None:
    for each in book["cells"]:
        each.pop("id")
    book["nbformat_minor"] = 4


def only(kept: str) -> Callable[[Book], None]:
    """Rename and strip until one sign is left by which the file is ours."""

    def change(book: Book) -> None:
        clear_outputs(book)
        about = book["metadata"]["ringkv"]
        strip_metadata(book)
        if kept == "metadata":
            book["metadata"]["ringkv"] = about
        if kept == "one id":
            for place, each in enumerate(book["cells"]):
                each["id"] = each["id"] if each["id"] == "00-next" else f"x{place}"
        else:
            drop_ids(book)

    return change


@pytest.mark.parametrize("kept", ["metadata", "one id", "text"])
def test_renaming_and_stripping_does_not_turn_it_green(tmp_path: Path, kept: str) -> None:
    result = renamed(tmp_path, only(kept))
    assert result.code == 1
    assert "0/1" in result.output
    assert "my_holiday.ipynb" in result.output


def test_a_stripped_and_renamed_right_answer_is_found_by_its_id(tmp_path: Path) -> None:
    book = answered("def last(tokens, window):\n    return tokens[-window:]\n")
    strip_metadata(book)
    (tmp_path / "my_holiday.ipynb").write_bytes(text(book))
    result = run(tmp_path)
    assert result.code == 0
    assert "1/1" in result.output


def test_lax_does_not_switch_comparing_off(tmp_path: Path) -> None:
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(text(answered(WRONG)))
    assert "0/1" in run(tmp_path, "--nbval-lax").output


def test_the_release_itself_cannot_be_the_reference(tmp_path: Path) -> None:
    """A learner who saves into `notebooks/` does not change what answers are compared with."""
    book = released()
    cell(book, "ex00-last")["source"] = WRONG
    forge_outputs(book)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / f"{LESSON_00}.ipynb").write_bytes(text(book))
    assert "0/1" in run(tmp_path).output


def test_a_self_check_holds_the_rules_of_a_sealed_run(tmp_path: Path) -> None:
    """Or a learner would learn of them with the grade."""
    source = "from ringkv_edu.given import write_at_head as append\n"
    (tmp_path / "book.ipynb").write_bytes(
        text(answered(source, "ex02-append", "01_plain_python_ring"))
    )
    assert "ex02-append        0/3    uses the given `write_at_head`" in run(tmp_path).output
