"""Every solution as a page of HTML, opened without a network: all pictures are there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, sync_playwright

from .lab import CHROMIUM_FLAGS, chromium

pytestmark = pytest.mark.browser
SOLUTIONS = sorted((Path(__file__).resolve().parents[2] / "solutions").glob("*.ipynb"))
PICTURES = "all => all.map(one => [one.naturalWidth, one.alt.trim().length, one.src.slice(0, 5)])"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as play:
        chrome = play.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        context = chrome.new_context(offline=True)
        yield context.new_page()
        chrome.close()


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_a_page_without_a_network_shows_every_figure(
    path: Path, page: Page, tmp_path: Path
) -> None:
    from nbconvert import HTMLExporter

    book = nbformat.read(path, 4)
    figures = sum(
        any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))
        for cell in book.cells
    ) + sum(cell.source.count("](attachment:") for cell in book.cells)
    text, _ = HTMLExporter(embed_images=True).from_notebook_node(book)
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    page.wait_for_function("[...document.images].every(one => one.complete)")
    found = page.locator("img").evaluate_all(PICTURES)
    assert len(found) == figures > 0
    for width, words, source in found:
        assert width > 100
        assert words > 20
        assert source == "data:"
