"""What the documents show is what the code does."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path


def test_the_workshop_examples_run_and_print_what_they_say(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(.*?)```", text.split("## For workshops")[1], re.DOTALL)
    assert len(codes) == 2
    for code in codes:
        promised = [line.partition("  # ")[2] for line in code.splitlines() if "print(" in line]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, {})
        assert out.getvalue().splitlines() == promised


def test_every_lesson_is_in_readme_and_syllabus(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    syllabus = (root / "course/syllabus.md").read_text(encoding="utf-8")
    for path in sorted((root / "course/lessons").glob("*.py")):
        row = rf"^\| {path.stem[:2]} .*\|$"
        assert re.search(row, readme, re.MULTILINE), path.stem
        (line,) = re.findall(row, syllabus, re.MULTILINE)
        assert "*planned*" not in line


def test_every_lesson_says_what_it_takes_and_gives(root: Path) -> None:
    text = (root / "course/syllabus.md").read_text(encoding="utf-8")
    part = text.partition("## What each lesson takes, and gives\n")[2].partition("\n## ")[0]
    found = re.split(r"^\*\*(\d\d) (.+?)\.\*\* Takes ", part, flags=re.MULTILINE)[1:]
    assert found[::3] == sorted(p.name[:2] for p in (root / "course/lessons").glob("*.py"))
    for number, name, body in zip(found[::3], found[1::3], found[2::3], strict=True):
        (path,) = (root / "course/lessons").glob(f"{number}_*.py")
        assert f"# # {number} {name}".casefold() in path.read_text(encoding="utf-8").casefold()
        assert re.findall(r"^(\d)\. ", body, re.MULTILINE) == ["1", "2", "3"]


def test_links_between_the_pages_lead_somewhere(root: Path) -> None:
    pages = [*root.glob("*.md"), *(root / "course").glob("*.md")]
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            built = re.fullmatch(r"(?:\.\./)?notebooks/(\w+)\.ipynb", target)
            file = root / f"course/lessons/{built[1]}.py" if built else page.parent / target
            assert file.exists(), f"{page.name}: {target}"
