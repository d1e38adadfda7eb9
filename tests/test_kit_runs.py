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
