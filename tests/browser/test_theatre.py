"""The theatre in a real Chromium, from its stand-alone form: every step is what Python recorded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ringkv_edu import NumpyRing, RingKVBuffer
from ringkv_edu.trace import Step, Trace
from ringkv_edu.widgets import Theatre, compare, show

from .scenes import WORDS, right, wrong
from .stage import Stage, stage

pytestmark = pytest.mark.browser
TRACES = right() | wrong()


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("stage")) as page:
        yield page


def shot(on: Stage, name: str) -> None:
    if "RINGKV_SCREENSHOTS" in os.environ:
        path = Path(os.environ["RINGKV_SCREENSHOTS"], f"theatre-{name}.png")
        on.page.screenshot(path=path, full_page=True)


def listed(numbers: Any) -> str:
    return ",".join(map(str, numbers))


def expected(step: Step) -> dict[str, str]:
    return {
        "t": str(step.position + 1),
        "slots": listed(step.slots),
        "held": listed(step.held),
        "seen": listed(step.seen or ()),
        "sums": listed(f"{first}-{last}" for first, last, _ in step.summaries),
        "wrong": listed(one.kind for one in step.wrong),
    }


@pytest.mark.parametrize("name", TRACES)
def test_every_step_is_what_python_recorded(on: Stage, name: str) -> None:
    trace: Trace = TRACES[name]
    on.show(Theatre([trace], step=0))
    on.figure().locator(".fig").focus()
    assert on.state()["t"] == "0"
    for step in trace.steps:
        on.page.keyboard.press("ArrowRight")
        state = on.state()
        assert {key: state[key] for key in expected(step)} == expected(step)
        held = [p for p in step.held if p >= 0]
        if not step.wrong:
            assert state["looks"] == listed(step.position - p for p in held)
            assert f"Position {step.position}" in state["said"]
        else:
            assert str(step.wrong[0].position) in state["said"]
    assert not on.errors
    assert all(url.startswith(("file:", "data:")) for url in on.asked)


def test_the_wrong_ones_are_recognised_by_their_sentence_alone(on: Stage) -> None:
    def said(name: str) -> str:
        trace = TRACES[name]
        first = next((n for n, step in enumerate(trace.steps, 1) if step.wrong), len(trace.steps))
        on.show(Theatre([trace], step=first))
        shot(on, name.replace(" ", "-"))
        return on.state()["said"]

    assert "Position 0, 3 back, should still be seen and lies in no slot." in said("off by one")
    assert "Slot 0 holds position 6 and says 0: 0 back looks 6 back." in said("slot as position")
    assert "Here the cache stopped: step 4: IndexError" in said("never wraps")
    on.show(show(RingKVBuffer, window_size=8, step=13, angle="slot"))
    assert on.state()["said"].endswith(
        "3 of 8 keys stand at a wrong distance: position 7 in slot 7 is 5 back and looks 3 ahead, "
        "like a token of the future."
    )
    shot(on, "bug")


def test_mouse_and_keyboard(on: Stage) -> None:
    figure = on.show(show(RingKVBuffer, window_size=4, tokens=12))
    assert on.state()["t"] == "12"
    figure.locator(".back").click()
    assert on.state()["t"] == "11"
    figure.locator(".on").click()
    figure.locator(".fig").focus()
    for key, t in (("Home", 0), ("ArrowRight", 1), ("ArrowLeft", 0), ("ArrowLeft", 0), ("End", 12)):
        on.page.keyboard.press(key)
        assert on.state()["t"] == str(t)
    slider = figure.locator("input[type=range]")
    slider.focus()
    on.page.keyboard.press("ArrowLeft")
    expect(figure.locator(".fig")).to_have_attribute("data-t", "11")
    box = slider.bounding_box()
    on.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(figure.locator(".fig")).to_have_attribute("data-t", "6")
    figure.locator(".angle select").select_option("rank")
    assert "Ranks change" in on.state()["said"]


def test_play_goes_on_and_stops(on: Stage) -> None:
    figure = on.show(show(RingKVBuffer, window_size=4, tokens=60, step=0))
    figure.locator(".speed select").select_option("10")
    figure.locator(".fig").focus()
    on.page.keyboard.press(" ")
    on.page.wait_for_function("document.querySelector('.fig').dataset.t >= 5")
    assert figure.locator(".say").get_attribute("aria-live") == "off"  # nobody could listen
    on.page.keyboard.press(" ")
    stopped = on.state()["t"]
    on.page.wait_for_timeout(350)
    assert on.state()["t"] == stopped
    assert figure.locator(".say").get_attribute("aria-live") == "polite"
    figure.locator(".play").click()
    on.page.wait_for_function("document.querySelector('.fig').dataset.t == 60")
    on.page.wait_for_function("document.querySelector('.play').textContent.includes('Play')")


def test_predict_the_next_slot(on: Stage) -> None:
    figure = on.show(show(RingKVBuffer, window_size=4, tokens=8, predict="slot"))
    assert figure.locator(".on").is_disabled()
    assert "next write" not in figure.locator(".ring").first.inner_html()  # it would give it away
    slots = figure.locator(".lanes [role=button]")
    slots.nth(0).click()
    assert (on.state()["t"], figure.get_attribute("data-right")) == ("1", "1")
    slots.nth(3).focus()
    on.page.keyboard.press("Enter")
    assert (on.state()["t"], figure.get_attribute("data-wrong")) == ("2", "1")
    assert "Not so: it is slot 1." in figure.locator(".ask").inner_text()
    assert "1 right, 1 wrong" in figure.locator(".ask").inner_text()
    figure.locator(".ring g[data-k='2']").last.click()
    assert figure.get_attribute("data-right") == "2"
    shot(on, "predict")
    figure.locator(".predict select").select_option("off")
    assert figure.locator(".on").is_enabled()


def test_predict_what_is_seen(on: Stage) -> None:
    figure = on.show(show(lambda: NumpyRing(3, 1, 2, sinks=1), tokens=8, predict="seen", step=4))
    for slot in (0, 1, 2, 3):
        figure.locator(f".lanes [role=button][data-k='{slot}']").click()
    figure.locator(".answer").click()
    assert (on.state()["t"], figure.get_attribute("data-right")) == ("5", "1")
    figure.locator(".lanes [role=button][data-k='1']").click()
    figure.locator(".answer").click()
    assert "it sees slots 0, 1, 2, 3" in figure.locator(".ask").inner_text()


def test_predict_what_stands_at_a_wrong_distance(on: Stage) -> None:
    figure = on.show(show("ring", tokens=9, window=3, step=2, angle="slot", predict="wrong"))
    for some in ((), (1, 2), (2,), ()):  # token 2 fills the ring; 3 wraps; 5 is right by luck
        for slot in some:
            figure.locator(f".lanes [role=button][data-k='{slot}']").click()
        figure.locator(".answer").click()
    assert (on.state()["t"], figure.get_attribute("data-right")) == ("6", "4")
    assert "By luck every distance is right" in on.state()["said"]
    figure.locator(".answer").click()
    assert "Not so: the slots at a wrong distance: 1, 2." in figure.locator(".ask").inner_text()


def test_a_picture_drawn_under_a_resting_pointer_is_not_dimmed(on: Stage) -> None:
    figure = on.show(show(RingKVBuffer, window_size=4, tokens=8, predict="slot", step=4))
    figure.locator(".lanes [role=button]").nth(0).click()
    on.page.wait_for_timeout(50)
    assert figure.locator(".dim").count() == 0
    figure.locator(".lanes [role=button]").nth(1).hover()  # a move of the pointer points again
    assert figure.locator(".dim").count() > 0


def test_choices_among_traces(on: Stage) -> None:
    figure = on.show(Theatre([TRACES["ring 4"], TRACES["ring 8"], TRACES["sinks 4"]]))
    figure.locator(".window select").select_option("8")
    assert on.state()["slots"].count(",") == 7
    figure.locator(".trace select").select_option("NumpyRing")
    assert on.state()["slots"].startswith("0,1,")
    assert not figure.locator(".row").is_visible()


def test_rows_of_a_batch(on: Stage) -> None:
    torch = pytest.importorskip("torch")
    from ringkv_edu import TorchRing

    ring = TorchRing(3, 2, 1, 4, dtype=torch.float32)
    figure = on.show(show(ring, tokens=7))
    figure.locator(".row select").select_option("1")
    assert on.state()["slots"] == "6,4,5"


def test_two_caches_with_one_step_bar(on: Stage) -> None:
    figure = on.show(compare(TRACES["naive"], TRACES["ring 4"], step=9))
    states = figure.locator(".fig").evaluate_all("all => all.map(el => el.dataset.slots)")
    assert states == [listed(range(9)), "8,5,6,7"]
    shot(on, "compare")


def test_two_figures_on_one_page_do_not_share_anything(on: Stage) -> None:
    on.show(*[show(RingKVBuffer, window_size=w, tokens=9) for w in (2, 3)])
    on.figure(1).locator(".back").click()
    assert (on.state(0)["t"], on.state(1)["t"]) == ("9", "8")
    ids = on.page.evaluate("[...document.querySelectorAll('[id]')].map(el => el.id)")
    assert len(set(ids)) == len(ids)


def test_the_table_says_the_same(on: Stage) -> None:
    figure = on.show(show(RingKVBuffer, window_size=4, tokens=7))
    figure.locator("summary").click()
    figure.locator(".tbl tr").nth(4).wait_for()
    rows = figure.locator(".tbl tr").evaluate_all(
        "rows => rows.slice(1).map(row => [...row.children].map(cell => cell.textContent))"
    )
    assert [row[:5] for row in rows] == [
        ["0", "4", "4", "yes", "2"], ["1", "5", "5", "yes", "1"],
        ["2", "6", "6", "yes", "0"], ["3", "3", "3", "yes", "3"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "how"),
    [("dark", {"dark": True}), ("narrow", {"width": 400}), ("wide", {"width": 930})],
)
def test_nothing_is_cut_off(on: Stage, name: str, how: dict[str, Any]) -> None:
    figure = on.show(show(lambda: NumpyRing(6, 1, 2, sinks=2), tokens=WORDS, step=14), **how)
    shot(on, name)
    assert on.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = figure.bounding_box()
    assert box["width"] <= how.get("width", 930)


def test_chinese(on: Stage) -> None:
    on.show(show(lambda: NumpyRing(6, 1, 2, sinks=2), tokens=20, step=14, lang="zh"))
    assert on.state()["said"] == "位置 13 写入槽 7，覆盖位置 7，它离开缓存。"
    shot(on, "chinese")


def test_a_cache_that_is_not_written_yet(on: Stage) -> None:
    class Stub:
        positions, keys = (-1, -1), [None, None]

        def append(self, key: Any, value: Any, position: int) -> None:
            raise NotImplementedError("not written yet")

    on.show(show(Stub, tokens=4))
    assert on.state()["said"] == (
        "The cache is empty. The next step appends the token at position 0. "
        "Here the cache stopped: step 0: NotImplementedError: not written yet"
    )
    assert not on.errors


def test_text_is_never_taken_for_html(on: Stage) -> None:
    on.show(show(RingKVBuffer, window_size=2, tokens=["<img src=x onerror=alert(1)>"]))
    assert on.page.locator("img").count() == 0
    assert "<img" in on.state()["said"]
    assert not on.errors


@pytest.mark.parametrize("dark", [False, True])
def test_no_serious_violation_of_accessibility(on: Stage, dark: bool) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for theatre in (
        show(RingKVBuffer, window_size=8, step=13, angle="slot"),
        show(RingKVBuffer, window_size=4, tokens=8, predict="seen"),
    ):
        on.show(theatre, dark=dark)
        on.page.locator("summary").first.click()
        on.page.locator(".tbl tr").first.wait_for()
        found = Axe().run(on.page).response["violations"]
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not grave, [
            (one["id"], one["help"], [n["target"] for n in one["nodes"]]) for one in grave
        ]
