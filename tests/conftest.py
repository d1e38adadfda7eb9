"""What the tests share: where things are, and which reasons may skip one."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

# Test processes run side by side: threads of one would wait for those of another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]
ALLOWED_SKIPS = (
    "no CUDA device", "model weights not fetched", "nbgrader is not installed",
    "nothing here can seal a process",
)  # fmt: skip


@pytest.fixture
def root() -> Path:
    return ROOT


class _SkipGuard:
    """A skip for any other reason fails the run: a test that never runs proves nothing."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            if not any(allowed in reason for allowed in ALLOWED_SKIPS):
                self.refused.append(f"{report.nodeid}: {reason}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.refused:
            print("\nskipped for a reason that is not allowed:", *self.refused, sep="\n  ")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One more than there are cores: a test that waits for a grader's kernels leaves one idle."""
    asked = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS")
    return None if asked else (psutil.cpu_count(logical=False) or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_SkipGuard(), "skip-guard")
