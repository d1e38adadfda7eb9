"""What the journeys share: a course as `ringkv start` opens it, one for each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .journey import Course
from .lab import Lab, browser, started_course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    folder = tmp_path_factory.mktemp("course")
    with started_course(folder) as address, browser() as page:
        yield Course(folder / "work", Lab(page), address)
