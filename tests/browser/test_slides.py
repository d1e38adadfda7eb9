"""Slides in a browser: nothing is cut off, keys work, print has one slide a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from ringkv_edu.kit.slides import deck
from ringkv_edu.kit.talk import lesson_names, talk

from .lab import CHROMIUM_FLAGS, chromium

pytestmark = pytest.mark.browser
TOO_LARGE = """() => { document.body.classList.remove("one");
  const over = [...document.querySelectorAll(".page")].map((page, n) => {
    const body = page.querySelector(".body"), section = page.querySelector("section");
    return [n + 1, body.scrollHeight - body.clientHeight, body.scrollWidth - body.clientWidth,
            section.scrollHeight - section.clientHeight, section.scrollWidth - section.clientWidth];
  }).filter((row) => row.slice(1).some((more) => more > 1));
  document.body.classList.add("one"); return over; }"""
SMALLEST = (
    """() => Math.min(...[...document.querySelectorAll(".page")].map((p) => +p.dataset.fit))"""
)
PICTURES = """() => [...document.querySelectorAll(".picture img")].map((image) => {
  const room = image.closest(".page").querySelector(".picture").getBoundingClientRect();
  return image.naturalWidth && room.height / image.closest(".page").getBoundingClientRect().width; })"""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        yield started
        started.close()


def opened(
    chrome: Browser, folder: Path, name: str, solutions: Path | None = None
) -> tuple[Page, list[str]]:
    file = folder / f"{name}.html"
    file.write_text(deck(name, solutions), encoding="utf-8")
    context = chrome.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    page = context.new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda asked: heard.append(asked.url) if asked.url[:4] == "http" else None)
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    return page, heard


def pages_of(page: Page) -> int:
    data = page.pdf(prefer_css_page_size=True, print_background=True)
    return len(re.findall(rb"/Type\s*/Page\b", data))


@pytest.mark.parametrize("name", lesson_names())
@pytest.mark.parametrize("answers", [False, True])
def test_no_slide_is_cut_off(
    chrome: Browser, tmp_path: Path, name: str, answers: bool, root: Path
) -> None:
    solutions = root / "solutions" if answers else None
    page, heard = opened(chrome, tmp_path, name, solutions)
    assert page.evaluate(TOO_LARGE) == []
    assert page.evaluate(SMALLEST) >= 0.72  # 20 pixels of 720 can be read at the back of a room
    page.evaluate("document.body.classList.remove('one')")
    assert all(share > 0.2 for share in page.evaluate(PICTURES))
    page.evaluate("document.body.classList.add('one')")
    assert pages_of(page) == len(talk(name, solutions))
    assert heard == []
    page.context.close()


def test_keys_notes_and_print(chrome: Browser, tmp_path: Path) -> None:
    name = "03_chunks_and_rewind"
    page, heard = opened(chrome, tmp_path, name)
    many = len(talk(name))
    now = page.locator(".page.now")

    def number() -> str:
        return str(now.locator(".number").inner_text()).partition(" ")[0]

    for key, expected in (("ArrowRight", 2), (" ", 3), ("PageDown", 4), ("ArrowLeft", 3), ("End", many),
                          ("ArrowRight", many), ("Home", 1), ("ArrowLeft", 1)):  # fmt: skip
        page.keyboard.press(key)
        assert number() == str(expected), key
    assert page.locator("#said").inner_text() == f"Slide 1 of {many}: Lesson 03: Chunks and rewind"
    page.mouse.click(1000, 300)
    assert number() == "2" == page.evaluate("location.hash.slice(1)")
    assert now.locator(".notes").is_hidden()
    page.keyboard.press("n")
    assert now.locator(".notes").is_visible()
    assert pages_of(page) >= many
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert page.locator("section:visible").count() == many
    assert heard == []
    page.context.close()


@pytest.mark.parametrize("name", ["02_numpy_ring", "06_prefix_summaries"])
def test_slides_are_accessible(chrome: Browser, tmp_path: Path, name: str) -> None:
    page, _ = opened(chrome, tmp_path, name)
    page.keyboard.press("a")
    page.keyboard.press("n")
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["impact"]) for v in found if v["impact"] in ("serious", "critical")] == []
    page.context.close()


def test_without_a_script_all_slides_stand_below_each_other(
    chrome: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "deck.html"
    file.write_text(deck("01_plain_python_ring"), encoding="utf-8")
    page = chrome.new_context(java_script_enabled=False, offline=True).new_page()
    page.goto(file.as_uri())
    assert page.locator("section:visible").count() == len(talk("01_plain_python_ring"))
    page.context.close()
