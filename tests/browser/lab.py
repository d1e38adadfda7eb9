"""JupyterLab in a real Chromium, driven as a learner drives it. Every wait is for a condition."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
READY = """async () => {
  const app = window.jupyterapp; await app.restored;
  const panel = app.shell.currentWidget;
  await panel.context.ready; await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info; }"""
IDLE = """() => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel;
  return kernel && kernel.connectionStatus === 'connected' && kernel.status === 'idle'; }"""
SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook"
CURRENT = """name => { const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.context?.path === name && panel.context.isReady && panel.content.widgets.length > 0; }"""
PLACE = """id => window.jupyterapp.shell.currentWidget.content.widgets
  .findIndex(w => w.model.sharedModel.getId() === id)"""
SCROLL = """async i => { const book = window.jupyterapp.shell.currentWidget.content;
  book.activeCellIndex = i; await book.scrollToItem(i, 'center'); }"""
FORGET = "i => window.jupyterapp.shell.currentWidget.content.widgets[i].model.executionCount = null"
RAN = """i => { const cell = window.jupyterapp.shell.currentWidget.content.widgets[i];
  return cell.model.executionCount !== null && cell.prompt !== '*'; }"""
OUTPUT = """i => { const outputs = window.jupyterapp.shell.currentWidget.content.widgets[i].model.outputs;
  return [...Array(outputs.length).keys()].map(j => outputs.get(j).toJSON())
    .map(o => [o.text || o.evalue || ''].flat().join('')).join(''); }"""


expect.set_options(timeout=30_000)  # five seconds are short on a busy machine


def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert found, "the browser tests need Chromium: apt-get install chromium, or set CHROMIUM"
    return found


@contextlib.contextmanager
def started_course(folder: Path) -> Iterator[str]:
    """Run `ringkv start` as the README has it; give the address that it opens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(QUIET))
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "JUPYTERLAB_WORKSPACES_DIR")
    environment = os.environ | {name: str(folder / name.lower()) for name in places}
    environment |= {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings")}
    log = folder / "lab.log"
    command = [
        sys.executable, "-m", "ringkv_edu.cli", "start", str(folder / "work"), "--",
        "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1",
        "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True",
    ]  # fmt: skip
    with log.open("w") as out:
        server = subprocess.Popen(
            command, stdout=out, stderr=out, env=environment, cwd=folder, start_new_session=True
        )
        try:
            yield _address(server, log, port)
        finally:
            os.killpg(server.pid, signal.SIGTERM)  # `ringkv start` and the JupyterLab below it
            server.wait(20)


def _address(server: subprocess.Popen[bytes], log: Path, port: int) -> str:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = re.search(rf"http://127\.0\.0\.1:{port}/\S+", log.read_text())
        if found:
            return found[0]
        assert server.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()}")


@contextlib.contextmanager
def browser(width: int = 1280, height: int = 1000) -> Iterator[Page]:
    with sync_playwright() as play:
        chrome = play.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        page = chrome.new_context(viewport={"width": width, "height": height}).new_page()
        page.set_default_timeout(60_000)
        yield page
        chrome.close()


class Lab:
    """One open notebook."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str) -> None:
        self.page.goto(address, wait_until="domcontentloaded")
        self._arrive(address.rsplit("/", 1)[-1].split("?")[0])

    def reload(self) -> None:
        name = self.title
        self.page.reload(wait_until="domcontentloaded")
        self._arrive(name)

    def _arrive(self, name: str) -> None:
        """Wait until the notebook is the one in front, with its cells and its kernel."""
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")
        self.page.wait_for_selector(f"{SHOWN} .jp-Cell")
        assert not self.page.locator("dialog.jp-Dialog").count()
        self.page.wait_for_function(CURRENT, arg=name)
        self.page.evaluate(READY)
        self.page.wait_for_function(IDLE)

    @property
    def title(self) -> str:
        return str(self.page.evaluate("window.jupyterapp.shell.currentWidget.context.path"))

    def cell(self, cell_id: str) -> Any:
        """Scroll a cell into view; give its locator."""
        place = self.page.evaluate(PLACE, cell_id)
        assert place >= 0, f"no cell {cell_id}"
        self.page.evaluate(SCROLL, place)
        return self.page.locator(f'{SHOWN} .jp-Cell[data-windowed-list-index="{place}"]')

    def write(self, cell_id: str, source: str) -> None:
        """Put the cursor into a cell, select all and write over it."""
        self.cell(cell_id).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self, cell_id: str) -> str:
        """Run one cell with the keyboard; give what it printed."""
        self.cell(cell_id).locator(".jp-InputPrompt").click()
        place = self.page.evaluate(PLACE, cell_id)
        self.page.evaluate(FORGET, place)  # or an earlier run is taken for this one
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(RAN, arg=place)
        self.page.wait_for_function(IDLE)
        return str(self.page.evaluate(OUTPUT, place))

    def save(self) -> None:
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function(
            "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
        )
