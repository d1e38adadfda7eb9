"""A page that shows theatres as the module draws them: no kernel, no network."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from ringkv_edu.widgets import Theatre

from .lab import CHROMIUM_FLAGS, chromium

DARK = (
    "--jp-ui-font-color1:#fff;--jp-ui-font-color2:#bbb;--jp-border-color1:#666;"
    "--jp-layout-color0:#111;--jp-layout-color2:#424242;background:#111;"
)
STATE = (
    "el => ({ ...el.querySelector('.fig').dataset, said: el.querySelector('.say').textContent })"
)


class Stage:
    """One browser page; ``show`` puts theatres on it."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.asked: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def show(self, *theatres: Theatre, width: int = 930, dark: bool = False) -> Any:
        """Open a page with these figures; give the first one's locator."""
        self.page.set_viewport_size({"width": width, "height": 620})
        file = self.folder / "page.html"
        figures = "".join(theatre.html() for theatre in theatres)
        style = f'data-jp-theme-light="false" style="{DARK}"' if dark else ""
        file.write_text(
            f'<!doctype html><html lang="en"><title>A cache</title><meta charset="utf-8">'
            f"<body {style}><main>{figures}</main>",
            encoding="utf-8",
        )
        self.page.goto(file.as_uri())
        self.page.wait_for_function(
            "n => document.querySelectorAll('.fig[data-t]').length >= n", arg=len(theatres)
        )
        return self.figure()

    def figure(self, n: int = 0) -> Any:
        return self.page.locator(".ringkv").nth(n)

    def state(self, n: int = 0) -> dict[str, str]:
        """Give what the figure says that it shows, and its sentence."""
        return dict(self.figure(n).evaluate(STATE))


@contextlib.contextmanager
def stage(folder: Path) -> Iterator[Stage]:
    with sync_playwright() as play:
        chrome = play.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        page = chrome.new_context(reduced_motion="reduce").new_page()
        page.set_default_timeout(20_000)
        yield Stage(page, folder)
        chrome.close()
