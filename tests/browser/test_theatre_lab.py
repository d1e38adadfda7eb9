"""The theatre as a live widget in JupyterLab: dead kernels, busy ones, reloads, stray keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from .lab import Lab, browser, started_course

pytestmark = pytest.mark.browser
CELLS = {
    "one": 'from ringkv_edu import show\nshow("ring", "ring + sinks", tokens=24, window=(4, 8))',
    "told": (
        "from ipywidgets import Widget\n"
        'known = [model["state"] for model in Widget.get_manager_state()["state"].values()]\n'
        'print([state["step"] for state in known if "traces" in state][-1])'
    ),
    "two": 'show("everything", tokens=9)',
    "busy": "import time\nstop = time.time() + 8\nwhile time.time() < stop:\n    pass",
    "brief": "stop = __import__('time').time() + 2\nwhile __import__('time').time() < stop:\n    pass",
    "page": (
        "from IPython.display import HTML\nfrom ringkv_edu import show\n"
        'HTML(show("ring", tokens=9).html())'
    ),
    "space": "\n".join(f"# {n}" for n in range(90)),
}
COUNT = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
STEPS = """fig => { window.steps = []; let now = fig.dataset.t;
  new MutationObserver(() => { if (fig.dataset.t !== now) window.steps.push(now = fig.dataset.t); })
    .observe(fig, { attributes: true }); }"""
WINDOWING = """async mode => { const book = window.jupyterapp.shell.currentWidget.content;
  book.notebookConfig = { ...book.notebookConfig, windowingMode: mode }; }"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, str]]:
    folder = tmp_path_factory.mktemp("theatre")
    with started_course(folder) as address, browser() as page:
        kernel = {"name": "python3", "display_name": "Python 3"}  # else Lab asks which
        book = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
        for name, source in CELLS.items():
            book.cells.append(nbformat.v4.new_code_cell(source, id=name))
        nbformat.write(book, folder / "work" / "theatre.ipynb")
        yield Lab(page), address.replace("00_start_here", "theatre")


@pytest.fixture
def lab(opened: tuple[Lab, str]) -> Lab:
    lab, address = opened
    lab.open(address + "?reset")
    lab.run("one")
    figure(lab, "one").locator(".fig").wait_for()
    return lab


def figure(lab: Lab, cell: str) -> Any:
    return lab.cell(cell).locator(".ringkv")


def at_step(lab: Lab, t: int, cell: str = "one") -> None:
    """Wait until a figure shows step t."""
    expect(figure(lab, cell).locator(".fig")).to_have_attribute("data-t", str(t))


def press(lab: Lab, *keys: str) -> None:
    figure(lab, "one").locator(".fig").focus()
    for key in keys:
        lab.page.keyboard.press(key)


def told(lab: Lab, t: int) -> None:
    """Wait until the kernel knows that the figure is at step t; it is told a moment later."""
    for _ in range(100):
        if lab.run("told").strip() == str(t):
            return
    raise AssertionError(f"the kernel was never told of step {t}")


def shot(lab: Lab, name: str) -> None:
    if "RINGKV_SCREENSHOTS" in os.environ:
        lab.page.screenshot(path=Path(os.environ["RINGKV_SCREENSHOTS"], f"lab-{name}.png"))


def test_keys_move_the_figure_and_never_the_notebook(lab: Lab) -> None:
    cells = lab.page.evaluate(COUNT)
    press(lab, "Home", "ArrowRight", "ArrowRight", "ArrowLeft")
    at_step(lab, 1)
    for key in "abcdmxyz":
        press(lab, key)
    press(lab, "d", "d", "ArrowDown", "ArrowUp")
    figure(lab, "one").locator("input[type=range]").focus()
    lab.page.keyboard.press("ArrowRight")
    lab.page.keyboard.press("x")
    at_step(lab, 2)
    assert lab.page.evaluate(COUNT) == cells
    shot(lab, "live")


def test_two_figures_in_one_notebook(lab: Lab) -> None:
    lab.run("two")
    at_step(lab, 9, "two")
    press(lab, "Home")
    at_step(lab, 0)
    at_step(lab, 9, "two")
    ids = lab.page.evaluate("[...document.querySelectorAll('.ringkv [id]')].map(el => el.id)")
    assert len(ids) > 8
    assert len(set(ids)) == len(ids)  # or one's hatching is looked for in the other's cell


def test_the_page_of_its_own_is_a_figure_in_a_notebook_too(lab: Lab) -> None:
    lab.run("page")
    at_step(lab, 9, "page")
    figure(lab, "page").locator(".back").click()
    at_step(lab, 8, "page")


def test_the_choices_of_what_was_recorded(lab: Lab) -> None:
    figure(lab, "one").locator(".trace select").select_option("ring + sinks")
    figure(lab, "one").locator(".window select").select_option("8")
    ten = re.compile(r"^(-?\d+,){9}-?\d+$")
    expect(figure(lab, "one").locator(".fig")).to_have_attribute("data-slots", ten)


def test_it_goes_on_while_the_kernel_is_busy_and_when_it_is_dead(lab: Lab) -> None:
    lab.cell("busy").locator(".jp-InputPrompt").click()
    lab.page.keyboard.press("Control+Enter")
    press(lab, "Home", "ArrowRight")
    at_step(lab, 1)
    lab.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    press(lab, "ArrowRight", "ArrowRight")
    at_step(lab, 3)


def test_a_kernel_that_answers_late_does_not_take_it_back(lab: Lab) -> None:
    press(lab, "Home")
    told(lab, 0)
    lab.cell("brief").locator(".jp-InputPrompt").click()
    lab.page.keyboard.press("Control+Enter")
    figure(lab, "one").locator(".fig").evaluate(STEPS)
    press(lab, "ArrowRight")
    lab.page.wait_for_timeout(400)  # of this it is told, and answers when it is free again
    for _ in range(22):  # of these, each too soon after the one before, not yet
        press(lab, "ArrowRight")
        lab.page.wait_for_timeout(120)
    expect(lab.cell("brief").locator(".jp-InputPrompt")).not_to_have_text("[*]:")
    lab.page.wait_for_timeout(1000)
    at_step(lab, 23)
    assert lab.page.evaluate("window.steps") == [str(t) for t in range(1, 24)]


def test_after_a_reload_it_is_there_again(lab: Lab) -> None:
    press(lab, "Home", "ArrowRight", "ArrowRight")
    told(lab, 2)
    lab.save()
    lab.reload()
    figure(lab, "one").locator(".fig").wait_for()
    at_step(lab, 2)
    press(lab, "ArrowRight")
    at_step(lab, 3)


def test_full_windowing_keeps_its_state(lab: Lab) -> None:
    lab.page.evaluate(WINDOWING, "full")
    press(lab, "Home", "ArrowRight")
    lab.cell("space")
    lab.page.wait_for_timeout(300)
    figure(lab, "one").locator(".fig").wait_for()
    at_step(lab, 1)
    press(lab, "ArrowRight")
    at_step(lab, 2)


def test_dark(lab: Lab) -> None:
    lab.page.evaluate(
        "window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })"
    )
    lab.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    figure(lab, "one").locator(".angle select").select_option("slot")
    press(lab, "Home", *["ArrowRight"] * 6)
    assert "stand at a wrong distance" in figure(lab, "one").locator(".say").inner_text()
    shot(lab, "dark")


def test_no_request_leaves_this_machine(opened: tuple[Lab, str]) -> None:
    lab, address = opened
    asked: list[str] = []
    lab.page.on("request", lambda request: asked.append(request.url))
    lab.open(address + "?reset")
    lab.run("one")
    press(lab, "Home")
    outside = [u for u in asked if not u.startswith(("http://127.0.0.1", "data:", "blob:"))]
    assert outside == []
