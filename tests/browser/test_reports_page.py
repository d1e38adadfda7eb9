"""The reports' pages in a browser: accessible, light and dark, narrow and on paper, and no script runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from ringkv_edu.cohort.reports import write_all
from ringkv_edu.cohort.reports.files import file_name

from ..grading.books import ODD, SCRIPT, UNSEALED, classroom
from .lab import CHROMIUM_FLAGS, chromium

pytestmark = pytest.mark.browser
PAGES = ("class.html", "learners/bob.html", "learners/carl.html", "learners/eve.html",
         f"learners/{file_name(SCRIPT)}.html", f"learners/{file_name(ODD[14])}.html")  # fmt: skip
SEEN = [("light", 1000), ("dark", 1000), ("light", 400), ("dark", 400)]


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    write_all(classroom(), folder / "sealed")
    write_all(classroom(sealed=False, seal=UNSEALED), folder / "unsealed")
    return folder


def opened(
    chrome: Browser, file: Path, scheme: str = "light", width: int = 1000
) -> tuple[Page, list[str]]:
    """Open a page; give it with everything that it asked for, said or popped up beside itself."""
    context = chrome.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 800}, offline=True
    )  # type: ignore[arg-type]
    page = context.new_page()
    heard: list[str] = []
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: heard.append(message.text))
    page.on(
        "request",
        lambda request: heard.append(request.url) if request.url != file.as_uri() else None,
    )
    page.goto(file.as_uri())
    return page, heard


@pytest.mark.parametrize("kind", ["sealed", "unsealed"])
@pytest.mark.parametrize(("scheme", "width"), SEEN)
def test_pages_are_accessible_and_fit(
    chrome: Browser, reports: Path, kind: str, scheme: str, width: int
) -> None:
    for name in PAGES:
        page, heard = opened(chrome, reports / kind / name, scheme, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        dark = (
            page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        )
        assert dark == (scheme == "dark")
        assert heard == []
        found = Axe().run(page).response["violations"]
        assert [
            (v["id"], v["impact"]) for v in found if v["impact"] in ("serious", "critical")
        ] == [], name
        page.context.close()


def test_an_unsealed_page_says_so_first(chrome: Browser, reports: Path) -> None:
    for name in PAGES:
        page, _ = opened(chrome, reports / "unsealed" / name)
        assert page.locator("header > :first-child").inner_text() == UNSEALED
        assert page.title().startswith("NOT SEALED: ")
        page.context.close()


def test_a_wide_table_can_be_scrolled_by_keyboard(chrome: Browser, reports: Path) -> None:
    page, _ = opened(chrome, reports / "sealed" / "class.html", width=320)
    region = page.get_by_label("Points of each learner", exact=True).first
    region.focus()
    before = region.evaluate("one => one.scrollLeft")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "([one, before]) => one.scrollLeft > before", arg=[region.element_handle(), before]
    )
    page.context.close()


def test_a_name_written_from_right_to_left_leaves_the_rest_alone(
    chrome: Browser, reports: Path
) -> None:
    page, _ = opened(chrome, reports / "sealed" / "class.html")
    row = page.locator("tr", has=page.locator(f'a[href="learners/{file_name(ODD[14])}.html"]'))
    name, total = row.locator("bdi").first.bounding_box(), row.locator("td").first.bounding_box()
    assert name
    assert total
    assert name["x"] + name["width"] <= total["x"] + total["width"]
    assert row.locator("td").first.inner_text() == "1"
    page.context.close()


def test_links_lead_from_the_class_to_its_learners(chrome: Browser, reports: Path) -> None:
    page, _ = opened(chrome, reports / "sealed" / "class.html")
    page.get_by_role("link", name="Bob Lee").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bob Lee")
    page.context.close()


def test_pages_print_on_a4_in_black_on_white(
    chrome: Browser, reports: Path, tmp_path: Path
) -> None:
    page, _ = opened(chrome, reports / "sealed" / "learners/bob.html", "dark")
    data = page.pdf(prefer_css_page_size=True)
    sizes = {
        tuple(map(float, found))
        for found in re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    }
    assert len(re.findall(rb"/Type /Page\b", data)) <= 3
    assert all(abs(w - 595) < 2 and abs(h - 842) < 2 for w, h in sizes)
    assert sizes
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.context.close()
