"""The theatre's Python side: what it takes, what it gives, what it says of itself."""

from __future__ import annotations

import base64
import html
import json
import re
import sys
from pathlib import Path

import pytest

from ringkv_edu import NumpyRing, RingKVBuffer, compare, lesson, record, show
from ringkv_edu.grading.release import lessons
from ringkv_edu.trace import Trace
from ringkv_edu.widgets import Theatre
from ringkv_edu.widgets.theatre import _source, _words

ROOT = Path(__file__).resolve().parents[1]
STILLS = ROOT / "ringkv_edu" / "widgets" / "stills"


def test_it_says_what_it_shows_without_an_address() -> None:
    assert repr(show(RingKVBuffer, tokens=5, window_size=3)) == (
        "<theatre: RingKVBuffer, window 3, 5 steps>"
    )
    assert repr(show("everything", "ring", window=(2, 4), tokens=6)).splitlines() == [
        "<theatre: everything, 6 steps>",
        "<theatre: ring, window 2, 6 steps>",
        "<theatre: ring, window 4, 6 steps>",
    ]


def test_it_takes_a_class_a_function_a_cache_a_trace_and_a_name() -> None:
    def make():
        return NumpyRing(3, 1, 2)

    ring = make()
    trace = record(make, 7)
    for given in (make, ring, trace, "ring"):
        sizes = {"window": 3} if given == "ring" else {}
        shown = show(given, tokens=7, **sizes)
        assert shown.traces[0].steps == trace.steps
    assert ring.seen == 0


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda: show(), TypeError, "give a cache, a class of caches, a trace, or everything"),
        (lambda: show("rign"), ValueError, "no cache is called 'rign'; there are everything, ring"),
        (
            lambda: show("ring", angle="slots"),
            ValueError,
            "angle is 'slots'; give 'position', 'slot'",
        ),
        (
            lambda: show("ring", predict="all"),
            ValueError,
            "predict is 'all'; give 'off', 'slot', 'seen', 'wrong'",
        ),
        (lambda: show("ring", lang="fr"), ValueError, "lang is 'fr'; give 'en', 'zh'"),
        (lambda: show("ring", tokens=3, step=4), ValueError, "step is 4; the traces have 0 to 3"),
        (lambda: show(NumpyRing(2, 1, 2), window=3), TypeError, "sizes are for a class"),
    ],
)
def test_what_is_wrong_is_refused_with_what_is_right(wrong, error, words) -> None:
    with pytest.raises(error, match=re.escape(words)):
        wrong()


def test_where_it_starts() -> None:
    assert show("ring", tokens=9).state["step"] == 9
    assert show("ring", tokens=9, predict="slot").state["step"] == 0
    assert show("ring", tokens=9, step=4).state["step"] == 4
    assert compare("ring", "everything", tokens=9).state["beside"]


def test_a_cache_that_cannot_even_start_is_shown_with_its_reason() -> None:
    class Broken:
        def __init__(self):
            raise RuntimeError("no memory")

    assert repr(show(Broken, tokens=3)).endswith("0 steps; step 0: RuntimeError: no memory>")


def test_the_page_of_its_own_asks_for_nothing() -> None:
    text = show("ring", tokens=['<b>"&\u2028</script>'], window=2).html()
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    state = html.unescape(re.search(r'data-state="([^"]*)"', text)[1])
    trace = Trace.from_dict(json.loads(state)["traces"][0])
    assert trace.steps[0].text == '<b>"&\u2028</script>'
    module = base64.b64decode(re.search(r"base64,([A-Za-z0-9+/=]+)", text)[1]).decode()
    assert module == _source("theatre.js")
    assert text.count("</script>") == 1


def test_its_output_has_a_widget_a_text_and_a_picture() -> None:
    pytest.importorskip("anywidget")
    data, meta = show(
        "ring", tokens="to be or not to be that is the question".split(), window=4, step=6
    )._repr_mimebundle_()
    assert data["text/plain"] == "<theatre: ring, window 4, 10 steps>"
    assert "application/vnd.jupyter.widget-view+json" in data
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert meta["image/png"]["alt"] == (
        "ring after position 5: slot 0 position 4, slot 1 position 5, slot 2 position 2, "
        "slot 3 position 3."
    )


def test_without_anywidget_it_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringkv_edu.widgets.theatre._widget_class", _missing)
    data, meta = show("ring", tokens=3)._repr_mimebundle_()
    assert (data, meta) == ({"text/plain": "<theatre: ring, window 8, 3 steps>"}, {})


def _missing(*names):
    raise ImportError("anywidget")


def test_in_a_graded_run_figures_are_off(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name in [name for name in sys.modules if name.startswith("ringkv_edu.")]:
        if name.split(".")[1] in ("widgets", "trace", "visibility", "trace_wrong"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ringkv_edu.visibility", None)
    assert lesson.show("ring") is None
    lesson.watch(RingKVBuffer, 3, window_size=2)
    assert capsys.readouterr().out == 2 * "figures are switched off in a graded run\n"


def test_every_text_is_there_in_both_languages() -> None:
    words = _words()
    assert words["en"].keys() == words["zh"].keys()
    for name, text in words["en"].items():
        holes = re.compile(r"\{\w+\}")
        assert sorted(holes.findall(text)) == sorted(holes.findall(words["zh"][name])), name
    used = set(re.findall(r"\bW\.(\w+)", _source("theatre.js")))
    assert used <= words["en"].keys()


def test_the_module_stays_small_and_asks_for_nothing() -> None:
    source = _source("theatre.js")
    assert len(source) <= 30_000
    assert source.count("\n") <= 350
    assert not re.search(r"\bimport\b(?!s\b)|\bfetch\(|https?:", re.sub(r"//.*", "", source))


@pytest.mark.parametrize("name", list(lessons()))
def test_each_figure_of_a_lesson_has_its_picture(name: str) -> None:
    """`python -m tests.browser.make_stills` makes those that are missing."""
    for folder in ("notebooks", "solutions"):
        book = json.loads((ROOT / folder / f"{name}.ipynb").read_text(encoding="utf-8"))
        assert "widgets" not in book["metadata"]
        for cell in book["cells"]:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                assert "application/vnd.jupyter.widget-view+json" not in data
                if "<theatre" in "".join(data.get("text/plain", "")):
                    assert len(data["image/png"]) <= 4 / 3 * 40_000
                    assert output["metadata"]["image/png"]["alt"]


def test_no_picture_is_left_over() -> None:
    found = {path.stem for path in STILLS.glob("*.png")}
    stored = sum(
        "<theatre" in "".join(output.get("data", {}).get("text/plain", ""))
        for name in lessons()
        for cell in json.loads((ROOT / "solutions" / f"{name}.ipynb").read_text("utf-8"))["cells"]
        for output in cell.get("outputs", [])
    )
    assert len(found) == stored


def test_the_picture_in_the_readme_is_what_is_drawn_now() -> None:
    shown = show("ring", tokens=24, window=8, step=13, angle="slot")
    picture = (ROOT / "course" / "figures" / "theatre.png").read_bytes()
    assert picture == (STILLS / f"{shown.key}.png").read_bytes()
    words = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "3 of 8 keys" in words
    assert words.count("figures/theatre.png") == 1


def test_a_theatre_of_nothing() -> None:
    assert Theatre([]).state["step"] == 0
