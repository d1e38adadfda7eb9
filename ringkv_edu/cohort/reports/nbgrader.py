"""A course folder for nbgrader: the same notebooks as it wants them, and what was handed in."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ...grading.release import released_text
from ...grading.sealed.oracle import Oracle
from ...grading.sealed.session import solutions_folder
from ..gradebook import Book
from .files import CHANGED, RESERVED, file_name, write
from .nbgrader_cells import source_book

__all__ = ["folders", "write_course"]

PLAIN = re.compile(r"\w[\w.@ -]{0,99}(?<![. ])")
CONFIG = "nbgrader_config.py"
CONFIG_TEXT = '''"""nbgrader's settings for a course made by `ringkv grade --nbgrader`."""

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearOutput

c = get_config()
c.CourseDirectory.course_id = "ringkv"
# The stub of an answer stands above its solution, so nothing takes the solution's place.
c.ClearSolutions.code_stub = {"python": ""}
# The released outputs stay: `pytest --nbval` and `ringkv check` compare with them.
c.GenerateAssignment.preprocessors = [
    one for one in GenerateAssignment().preprocessors if one is not ClearOutput
]
c.Execute.timeout = 60
'''


def write_course(
    folder: Path, book: Book, files: Mapping[str, bytes], oracles: Mapping[str, Oracle]
) -> list[str]:
    """Write source, release, submitted and a configuration; ``files`` are found by their digest.

    Gives lines that say what was written. A configuration that is there already is kept.
    """
    for lesson, oracle in oracles.items():
        solution = json.loads((solutions_folder() / f"{lesson}.ipynb").read_text(encoding="utf-8"))
        source = json.dumps(source_book(lesson, solution, oracle), indent=1, ensure_ascii=False)
        write(folder / "source" / lesson / f"{lesson}.ipynb", source + "\n")
        write(folder / "release" / lesson / f"{lesson}.ipynb", released_text(lesson))
    lines = [f"nbgrader: {', '.join(oracles)} in {folder}", *_submitted(folder, book, files)]
    config = folder / CONFIG
    if config.exists() and config.read_text(encoding="utf-8") != CONFIG_TEXT:
        lines.append(
            f"nbgrader: {config} is kept as it is; the instructor's guide says what it needs"
        )
    else:
        write(config, CONFIG_TEXT)
    return lines


def _submitted(folder: Path, book: Book, files: Mapping[str, bytes]) -> list[str]:
    """Write the files that count. One that is no notebook is left out: nbgrader cannot read it."""
    names = folders(book)
    counts: Counter[str] = Counter()
    left_out = []
    for learner in sorted(book.learners):
        for result in book.learners[learner]:
            (file,) = (one for one in result.files if one.counts)
            if file.problem or file.digest not in files:
                left_out.append(f"nbgrader: left out, {file.problem or 'not there'}: {file.source}")
                continue
            place = folder / "submitted" / names[learner.id] / result.lesson
            write(place / f"{result.lesson}.ipynb", files[file.digest])
            counts[result.lesson] += 1
    said = ", ".join(f"{number} of {lesson}" for lesson, number in sorted(counts.items()))
    return [f"nbgrader: {said} as submitted", *left_out] if said else left_out


def folders(book: Book) -> dict[str, str]:
    """Give the name of each learner's folder: the id, wherever a folder may be called that."""
    ids = [learner.id for learner in book.everyone()]
    same = Counter(id.casefold() for id in ids)
    plain = {id for id in ids if PLAIN.fullmatch(id) and same[id.casefold()] == 1}
    odd = {id for id in plain if CHANGED.fullmatch(id) or RESERVED.fullmatch(id.casefold())}
    return {id: id if id in plain - odd else file_name(id) for id in ids}
