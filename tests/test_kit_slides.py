"""Slides: nothing of a lesson is lost, nothing is fetched, the same lesson gives the same file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringkv_edu.cli import main
from ringkv_edu.grading.release import lessons, source_of
from ringkv_edu.kit.reading import Block, Part, parts, sentences
from ringkv_edu.kit.slides import deck, render
from ringkv_edu.kit.talk import Slide, lesson_names, talk

NAMES = lesson_names()
BOLD = re.compile(r"(?<!`)\*\*\w[^*`]*\*\*")


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def on_slides(slides: list[Slide]) -> str:
    return "\n".join(block.source for slide in slides for block in slide.blocks)


@pytest.mark.parametrize("name", NAMES)
def test_every_sentence_is_on_a_slide_or_in_the_notes(name: str) -> None:
    slides = talk(name)
    said = words(" ".join([on_slides(slides), *(note for slide in slides for note in slide.notes)]))
    for part in parts(name):
        for block in part.blocks:
            if block.kind == "text":
                for sentence in sentences(block.source):
                    assert words(sentence) in said, sentence


@pytest.mark.parametrize("name", NAMES)
def test_rules_tables_pictures_and_headings_are_on_slides(name: str) -> None:
    slides = talk(name)
    shown = on_slides(slides)
    titles = {slide.title for slide in slides}
    for part in parts(name):
        assert part.title in titles
        for block in part.blocks:
            if block.kind == "text" and not block.source.startswith("*"):
                for rule in BOLD.findall(" ".join(block.source.split())):
                    assert rule in shown or "The last cell" in block.source
            elif block.kind == "table":
                assert all(line in shown for line in block.source.splitlines())
            elif block.kind == "picture":
                assert sum(b is not None and b.picture == block.picture
                           for slide in slides for b in slide.blocks) == 1  # fmt: skip
            elif block.kind in ("quote", "list", "code"):
                assert all(line in shown for line in block.source.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_answers_and_reasons_follow_their_exercises(name: str, root: Path) -> None:
    plain, full = talk(name), talk(name, root / "solutions")
    reasons = [part for part in parts(name, root / "solutions") if part.reason]
    exercises = [part for part in parts(name) if part.difficulty]
    assert [part.title for part in reasons] == [part.title for part in exercises]
    said = words(" ".join([on_slides(full), *(note for slide in full for note in slide.notes)]))
    for part in reasons:
        assert part.blocks[-1].kind == "code"
        for block in part.blocks:
            if block.kind == "text":
                assert all(words(sentence) in said for sentence in sentences(block.source))
    assert not any(slide.kind == "reason" for slide in plain)
    titles = [(slide.title, slide.kind) for slide in full if slide.kind in ("exercise", "reason")]
    firsts = list(dict.fromkeys(titles))
    for title, kind in firsts:
        if kind == "reason":
            assert firsts.index((title, "exercise")) < firsts.index((title, kind))
    assert "### BEGIN SOLUTION" not in on_slides(full)


@pytest.mark.parametrize("name", NAMES)
def test_exercises_have_the_figures_of_their_headers(name: str) -> None:
    text = "\n".join(
        source_of(c) for c in lessons()[name].book["cells"] if c["cell_type"] == "markdown"
    )
    headers = re.findall(r"\*Difficulty (\d) of 5 · (\d+) minutes? · (\w+) points?\*", text)
    slides = talk(name)
    kickers = list(dict.fromkeys((slide.title, slide.kicker) for slide in slides if slide.kicker))
    assert [
        re.findall(r"(\d) of 5 · (\d+) minutes · (\w+) points?", k)[0] for _, k in kickers
    ] == headers
    total = sum(int(minutes) for _, minutes, _ in headers)
    points = sum(int(p) for *_, p in headers if p != "no")
    (agenda,) = [slide for slide in slides if slide.kind == "agenda"]
    assert agenda.notes == [f"In all {total} minutes at the keyboard, for {points} points."]


@pytest.mark.parametrize("name", NAMES)
def test_a_deck_is_one_file_that_fetches_nothing(name: str) -> None:
    page = deck(name)
    assert page == deck(name)
    assert len(page) < 300_000
    assert not re.search(r"(?:src|href)=\"(?!data:)", page)
    assert "url(" not in page
    assert "default-src 'none'" in page
    assert page.count('<div class="page"') == len(talk(name))
    assert all(re.findall(r'<img src="data:[^"]+" alt="([^"]*)"', page)) or "<img" not in page


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two? Three: four.", ["One.", "Two?", "Three: four."]),
        ("**A rule. In bold.** Next.", ["**A rule. In bold.**", "Next."]),
        ("See (a. B) here. Then `x. Y` too.", ["See (a. B) here.", "Then `x. Y` too."]),
        ("At 0.5 it holds. `f` is next.", ["At 0.5 it holds.", "`f` is next."]),
        ("It ends in\n`.`, and goes on.", ["It ends in `.`, and goes on."]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


def test_what_is_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"| {n} | a row |" for n in range(40)]
    code = "\n".join(["```python", *(f"x = {n}" if n % 9 else "" for n in range(60)), "```"])
    part = Part("long", "A long part", 2, [
        Block("text", "See:"), Block("table", "\n".join(["| n | what |", "|---|---|", *rows])),
        Block("code", code), Block("list", "\n".join(f"{n}. item {n} of many" for n in range(1, 31))),
    ])  # fmt: skip
    monkeypatch.setattr("ringkv_edu.kit.talk.parts", lambda *_: [part])
    slides = talk("long")
    assert len(slides) > 5
    shown = on_slides(slides)
    assert all(row in shown for row in rows)
    assert all(shown.count(f"{n}. item {n} of many") == 1 for n in range(10, 31))
    assert all(shown.count(f"x = {n}\n") == 1 for n in range(60) if n % 9)
    assert all(
        b.source.startswith("| n | what |") for s in slides for b in s.blocks if b.kind == "table"
    )


def test_html_in_a_lesson_stays_text() -> None:
    assert render(Block("text", "<script>alert(1)</script>")) == (
        "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"
    )


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "slides"
    assert main(["slides", "01", "1", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote {out / '01_plain_python_ring.html'}\n"
    assert [path.name for path in out.iterdir()] == ["01_plain_python_ring.html"]
    assert main(["slides", "99", "--out", str(out)]) == 2
    assert "there is no lesson '99'" in capsys.readouterr().err
    assert main(["slides", "--out", str(out / "01_plain_python_ring.html")]) == 2
    assert "which is a file; give a folder" in capsys.readouterr().err
    assert main(["slides", "01", "--answers", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "01_plain_python_ring_answers.html").is_file()
    assert main(["slides", "--out", str(out)]) == 0
    assert [path.stem for path in sorted(out.iterdir())] == NAMES
