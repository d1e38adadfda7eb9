"""Looks at a learner's machine and says, for each thing that is missing, what to do."""

from __future__ import annotations

import importlib.util
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

__all__ = ["Finding", "examine"]

OLDEST = (3, 11)
LITE = (
    "jupyterlab",
    "ipykernel",
    "ipywidgets",
    "anywidget",
    "matplotlib",
    "pytest",
    "nbval",
    "nbformat",
)


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``needed`` things must be well; others only widen what you can do."""

    what: str
    well: bool
    seen: str
    advice: str = ""
    needed: bool = True


def examine() -> Iterator[Finding]:
    """Give one finding after another, the quick ones first."""
    yield Finding(
        "Python",
        sys.version_info >= OLDEST,
        f"{platform.python_version()} at {sys.executable}",
        "install Python 3.11 or newer and make a new virtual environment with it",
    )
    yield _package("numpy", "python -m pip install numpy")
    for name in LITE:
        yield _package(name, 'python -m pip install "ringkv-edu[lite]"')
    yield _plugin()
    yield _kernel()
    yield from _torch()
    yield _package(
        "transformers", 'for lesson 07: python -m pip install "ringkv-edu[models]"', False
    )
    yield _fonts()


def _package(name: str, advice: str, needed: bool = True) -> Finding:
    try:
        return Finding(name, True, metadata.version(name), needed=needed)
    except metadata.PackageNotFoundError:
        return Finding(name, False, "not installed", advice, needed)


def _plugin() -> Finding:
    names = {point.name for point in metadata.entry_points(group="pytest11")}
    advice = "install the package again: python -m pip install -e . (in its folder)"
    return Finding(
        "pytest plugin",
        "ringkv" in names,
        "registered" if "ringkv" in names else "not found",
        advice,
    )


def _kernel() -> Finding:
    """Start a kernel the way notebooks do, and import the package in it."""
    advice = "python -m pip install --force-reinstall ipykernel jupyter_client, then try again"
    if not importlib.util.find_spec("nbval"):
        return Finding("kernel", False, "nbval is not installed, so not tried", advice)
    from .grading.kernel import Kernel

    begun = time.monotonic()
    try:
        kernel = Kernel(".", cell_timeout=30, startup_timeout=60)
    except Exception as error:
        return Finding("kernel", False, f"does not start: {type(error).__name__}: {error}", advice)
    try:
        kernel.await_reply(kernel.execute_cell_input("import ringkv_edu", allow_stdin=False))
        well = kernel.status == "ok"
    except Exception as error:
        return Finding("kernel", False, f"does not answer: {type(error).__name__}", advice)
    finally:
        if kernel.is_alive():
            kernel.stop()
    took = f"started in {time.monotonic() - begun:.1f} s"
    seen = took if well else "starts, but cannot import ringkv_edu"
    return Finding("kernel", well, seen, advice)


def _torch() -> Iterator[Finding]:
    found = _package("torch", 'from lesson 05 on: python -m pip install "ringkv-edu[lab]"', False)
    yield found
    if found.well:
        import torch

        has = torch.cuda.is_available()
        seen = torch.cuda.get_device_name(0) if has else "none: every lesson runs on the CPU"
        yield Finding("CUDA device", has, seen, needed=False)


def _fonts() -> Finding:
    what = "Chinese font"
    if not importlib.util.find_spec("matplotlib"):
        return Finding(what, False, "matplotlib is not installed", needed=False)
    from .figures.style import cjk_font

    found = cjk_font()
    return Finding(
        what,
        bool(found),
        found or "none",
        "only for figures with Chinese text: install Noto Sans CJK",
        needed=False,
    )
