"""Each still picture says in words what it shows, in the file, in a notebook and in a lesson."""

from __future__ import annotations

import base64
import re
import warnings
from functools import cache
from io import BytesIO
from pathlib import Path

import nbformat
import pytest
from matplotlib import pyplot as plt
from PIL import Image

from ringkv_edu.build.books import FIGURE, solution_book
from ringkv_edu.build.source import BuildError, Cell, Lesson
from ringkv_edu.figures.__main__ import FIGURES
from ringkv_edu.figures.recall_table import WORDS, bytes_kept, read_runs
from ringkv_edu.figures.ring import draw_ring
from ringkv_edu.figures.still import Still, save_small, words_in
from ringkv_edu.figures.style import cjk_font, text_style
from ringkv_edu.figures.words import listed, spelt, times
from ringkv_edu.figures.write_cost import SIZES, YOURS, draw_write_cost
from ringkv_edu.pure import RingKVBuffer
from ringkv_edu.trace import record

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "course" / "figures"
ELSEWHERE = {"theatre"}  # drawn in a browser, shown in the README
MOST = 40_000


@cache
def drawn(name: str) -> Still:
    return FIGURES[name]()


def small(alt: str) -> Still:
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(2, 1))
        axes.plot([0, 1])
        plt.close(figure)
    return Still(figure, alt)


@pytest.mark.parametrize("name", FIGURES)
def test_the_committed_picture_carries_the_words_of_what_is_drawn_now(name: str) -> None:
    still, path = drawn(name), PICTURES / f"{name}.png"
    assert still.alt
    assert still.alt == " ".join(still.alt.split())
    assert still.alt.endswith(".")
    assert not set(still.alt) & set("[]")  # they would end the alt text in a lesson
    assert words_in(path) == still.alt
    assert path.stat().st_size <= MOST
    assert len(still.png()) <= MOST


def test_every_picture_is_drawn_by_a_function_and_shown_by_a_lesson() -> None:
    assert {path.stem for path in PICTURES.glob("*.png")} == FIGURES.keys() | ELSEWHERE
    lessons = [path.read_text("utf-8") for path in (ROOT / "course/lessons").glob("*.py")]
    shown = [match["file"] for text in lessons for match in FIGURE.finditer(text)]
    assert sorted(shown) == sorted(f"{name}.png" for name in FIGURES)


def test_the_notebooks_have_the_words_beside_the_picture() -> None:
    found = {}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "markdown":
                for alt, name in re.findall(r"!\[(.*?)\]\(attachment:(\w+)\.png\)", cell.source):
                    found[name] = alt
    assert found == {name: words_in(PICTURES / f"{name}.png") for name in FIGURES}


def test_the_readme_says_of_the_ring_what_the_picture_says() -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert f"![{drawn('ring').alt}](course/figures/ring.png)" in readme


def test_a_saved_still_is_the_same_to_the_byte_and_carries_its_words(tmp_path: Path) -> None:
    still, one, two = small("Ein Strich – 一条线."), tmp_path / "one.png", tmp_path / "two.png"
    save_small(still, one)
    save_small(still, two)
    assert one.read_bytes() == two.read_bytes()
    assert words_in(one) == still.alt
    assert b"iTXtDescription" in one.read_bytes()
    assert Image.open(one).mode == "P"


def test_in_a_notebook_a_still_carries_its_alt_text() -> None:
    from IPython.core.formatters import DisplayFormatter

    still = small("A line that rises.")
    data, metadata = DisplayFormatter().format(still)
    assert data["text/plain"] == still.alt
    assert metadata == {"image/png": {"alt": still.alt}}
    picture = base64.b64decode(data["image/png"])
    assert picture == still.png()
    assert Image.open(BytesIO(picture)).info["Description"] == still.alt


def test_chinese_text_is_drawn_where_a_font_has_it() -> None:
    with plt.rc_context(text_style()):
        figure, axes = plt.subplots(figsize=(2, 1))
        axes.set_title("环形缓存")
        plt.close(figure)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Still(figure, "A title.").png()
    missing = [str(one.message) for one in caught if "missing from" in str(one.message)]
    assert bool(missing) == (not cjk_font())


def a_lesson(text: str) -> Lesson:
    return Lesson("91_double", (Cell("a-picture", "markdown", "", text),))


def test_the_build_takes_the_words_from_the_picture_unless_the_lesson_has_its_own(tmp_path) -> None:
    save_small(small("A line that rises."), tmp_path / "x.png")
    for given, words in (("", "A line that rises."), ("Its\nown.", "Its own.")):
        (cell,) = solution_book(a_lesson(f"See ![{given}](figure:x.png)"), tmp_path).cells
        assert cell.source == f"See ![{words}](attachment:x.png)"


@pytest.mark.parametrize("alt", ["", " \n "])
def test_the_build_refuses_a_picture_without_words(tmp_path: Path, alt: str) -> None:
    small("").figure.savefig(tmp_path / "x.png")
    with pytest.raises(BuildError, match=r"91_double, cell a-picture: .* x\.png carries no alt"):
        solution_book(a_lesson(f"![{alt}](figure:x.png)"), tmp_path)


def test_a_ring_that_is_not_full_is_said_to_be_so() -> None:
    alt = draw_ring(record(lambda: RingKVBuffer(3), 2), next_slot=2).alt
    assert alt == (
        "A ring of three slots after two tokens, beside a line of the positions 0 to 1. The window "
        "covers positions 0 to 1. Slot 0 holds position 0, slot 1 holds 1 and slot 2 is empty; the "
        "next write goes to slot 2."
    )


def test_the_words_of_write_cost_are_made_of_what_was_measured() -> None:
    alt = draw_write_cost({YOURS: {size: 2.0 + size for size in SIZES}}).alt
    assert alt.endswith("At 64 and at 65,536 slots: your ring 66.0 and 65,538.0.")


def test_the_picture_of_recall_shows_the_runs_of_the_table() -> None:
    found = read_runs()
    kept, (axes,) = bytes_kept(found.accuracies), drawn("recall").figure.axes
    points = [bars.lines[0].get_xydata()[0].tolist() for bars in axes.containers]
    assert points == [
        [kept[name], pytest.approx(sum(some) / len(some))]
        for name, some in found.accuracies.items()
    ]
    names = [text.get_text() for text in axes.texts]
    assert names == [f"chance: {found.chance}", *(WORDS[name] for name in found.accuracies)]


def test_no_two_names_in_the_picture_of_recall_overlap() -> None:
    (axes,) = drawn("recall").figure.axes
    drawn("recall").figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    for at, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[at + 1 :])
        assert axes.get_window_extent().contains(*box.p0)
        assert axes.get_window_extent().contains(*box.p1)


def test_numbers_and_lists_in_words() -> None:
    assert [spelt(n) for n in (0, 7, 16, 17, 4096)] == ["no", "seven", "sixteen", "17", "4,096"]
    assert [times(n) for n in (1, 2, 3, 20)] == ["once", "twice", "three times", "20 times"]
    assert [listed("abc"[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert listed("abc", comma=True) == "a, b, and c"
