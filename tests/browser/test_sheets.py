"""What is printed fits its paper: the cheat sheet one A4 page, the cards two."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from ringkv_edu.kit.sheet import cards, sheet

from .lab import CHROMIUM_FLAGS, chromium

pytestmark = pytest.mark.browser
A4 = re.compile(rb"/MediaBox\s*\[0 0 59[45]\.?\d* 84[12]\.?\d*\]")


def test_pages(root: Path, tmp_path: Path) -> None:
    text = (root / "course/cheat_sheet.md").read_text(encoding="utf-8")
    with sync_playwright() as play:
        chrome = play.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        for name, html, most in (("sheet", sheet(text), 1), ("cards", cards(), 2)):
            file = tmp_path / f"{name}.html"
            file.write_text(html, encoding="utf-8")
            page = chrome.new_context(
                offline=True, viewport={"width": 794, "height": 1123}
            ).new_page()
            page.goto(file.as_uri())
            data = page.pdf(prefer_css_page_size=True, print_background=True)
            assert len(re.findall(rb"/Type\s*/Page\b", data)) == most
            assert len(A4.findall(data)) == most
            size = page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")
            assert size >= 9 * 96 / 72 - 0.1  # nine points can be read
            found = Axe().run(page).response["violations"]
            bad = [v["id"] for v in found if v["impact"] in ("serious", "critical")]
            assert bad == []
            page.set_viewport_size({"width": 380, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") <= 380
            page.context.close()
        chrome.close()
