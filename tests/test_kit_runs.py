"""What the kit's pages tell one to type is typed here, and prints what they say."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from ringkv_edu.cli import _parser, main

PAGES = ("workshop", "quiz", "cheat_sheet", "conventions", "unplugged", "teaching_plans",
         "instructor_guide", "glossary")  # fmt: skip
COMMAND = re.compile(r"^(ringkv [^\n]+)$|`(ringkv [^`]+)`", re.MULTILINE)


def text_of(root: Path, name: str) -> str:
    return (root / "course" / f"{name}.md").read_text(encoding="utf-8")


def test_the_workshops_snippets_print_what_is_written_below_them(root: Path) -> None:
    pytest.importorskip("torch")
    found = doctest.testfile(str(root / "course/workshop.md"), module_relative=False)
    assert found.attempted >= 25
    assert found.failed == 0
    text = text_of(root, "workshop")
    assert len(re.findall(r"^## \d\. ", text, re.MULTILINE)) == 5
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:6]:
        assert "from ringkv_edu import" in part


QUESTION = re.compile(r"^### (\d+)\. (.+)$", re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


def numbers(text: str) -> set[float]:
    return {float(number.replace(",", "")) for number in NUMBER.findall(text)}


def test_the_quizs_answers_are_computed(root: Path) -> None:
    pytest.importorskip("torch")
    path = root / "course/quiz.md"
    found = doctest.testfile(str(path), module_relative=False)
    assert found.attempted >= 60
    assert found.failed == 0
    questions = QUESTION.split(path.read_text(encoding="utf-8"))[1:]
    assert [int(number) for number in questions[::3]] == list(range(1, 31))
    for title, body in zip(questions[1::3], questions[2::3], strict=True):
        asked, _, answer = body.partition("<details><summary>Answer</summary>")
        assert asked.rstrip().endswith("?"), title
        bold = re.findall(r"^\*\*(.+?)\*\* ", answer.strip(), re.DOTALL)[0]
        examples = doctest.DocTestParser().get_examples(body)
        printed = " ".join(example.want for example in examples)
        assert numbers(bold), title
        assert numbers(bold) <= numbers(printed), title


def test_the_quiz_asks_about_every_lesson(root: Path) -> None:
    parts = re.split(r"^## Lesson (\d\d): ", text_of(root, "quiz"), flags=re.MULTILINE)[1:]
    many = {number: len(QUESTION.findall(body)) for number, body in zip(parts[::2], parts[1::2])}
    assert many == {"00": 2} | {f"0{n}": 4 for n in range(1, 8)}


def commands(root: Path) -> list[tuple[str, str]]:
    found = []
    for name in PAGES:
        if (root / "course" / f"{name}.md").exists():
            text = text_of(root, name).replace(" \\\n", " ")
            found += [(name, "".join(match)) for match in COMMAND.findall(text)]
    return found


def test_every_command_is_one_that_the_course_has(root: Path) -> None:
    given = commands(root)
    assert len(given) >= 10
    for name, command in given:
        words = shlex.split(command.partition("  #")[0], comments=True)[1:]
        if "--" in words:
            words = words[: words.index("--")]
        words = words if len(words) > 1 else [*words, "--help"]  # a name in a sentence
        assert _accepted(words), f"{name}: {command}"


def _accepted(words: list[str]) -> bool:
    try:
        _parser().parse_args(words)
    except SystemExit as ended:
        return not ended.code
    return True


@pytest.mark.parametrize(
    "command",
    ["ringkv watch \"to be or not to be\" --window 4", "ringkv cases ringkv_edu.numpy_ring:NumpyRing",
     "ringkv slides 01", "ringkv sheets", "ringkv doctor"],
)  # fmt: skip
def test_the_workshops_commands_run(
    command: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command in text_of(root, "workshop")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) == 0
