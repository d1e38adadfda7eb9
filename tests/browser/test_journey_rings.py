"""The lessons that build rings, 02 to 06, from top to bottom in JupyterLab."""

from __future__ import annotations

import pytest

from ringkv_edu.grading.release import lessons

from .journey import Course, walk

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("lesson", [name for name in lessons() if "02" <= name < "07"])
def test_every_cell(course: Course, lesson: str) -> None:
    walk(course, lesson)
