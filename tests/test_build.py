from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from ringkv_edu.build.run import build, build_lesson, differences
from ringkv_edu.build.source import BuildError, read_lesson, solved, stub

ANSWER = '''def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION'''

LESSON = """\
# %% [markdown] id="ex91-double-why"
# *Difficulty 1 of 5 · 3 minutes · 2 points*

# %% id="ex91-double" role="answer"
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% id="ex91-double-check" role="check"
check = print
check("ex91-double")

# %% id="ex91-double-graded" role="graded" points=2
SEED = 0
from ringkv_edu.graded import draw, fixed
rng = draw(SEED, "ex91-double")
print("twice", double(rng.randrange(9)))

# %% [markdown] role="hint" exercise="ex91-double"
# One.

# %% [markdown] role="hint" exercise="ex91-double"
# Two.

# %% [markdown] role="hint" exercise="ex91-double"
# Three.

# %% [markdown] role="solution" exercise="ex91-double"
# Why.
"""


FIRST = '# %% [markdown] id="ex91-double-why"'
START = '# %% [markdown] id="start"\n'


def lesson_file(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = LESSON
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder = tmp_path / "course" / "lessons"
    folder.mkdir(parents=True)
    path = folder / "91_double.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_solved_and_stub() -> None:
    assert solved(ANSWER) == 'def double(x):\n    """Twice x."""\n    return 2 * x\n'.rstrip("\n")
    assert stub(ANSWER).splitlines()[-1] == "    ...  # your code here"
    both = "### BEGIN SOLUTION\nx = 1\ny = 2\n### STUB\n# x = ...\n# if x:\n#     y = ...\n"
    both += "### END SOLUTION\n"
    assert solved(both) == "x = 1\ny = 2\n"
    assert stub(both) == "x = ...\nif x:\n    y = ..."
    hole = "a = 1\n### BEGIN SOLUTION\nb = 2\n### STUB\n#\n### END SOLUTION"
    assert stub(hole) == "a = 1"


def test_a_good_lesson_builds(tmp_path: Path) -> None:
    built = build_lesson(lesson_file(tmp_path))
    learner = nbformat.reads(built.learner, 4)
    cells = {cell.id: cell for cell in learner.cells}
    assert cells["ex91-double"].source == "def double(x):\n    ...  # your code here"
    assert cells["ex91-double"].execution_count is None
    graded = cells["ex91-double-graded"]
    assert graded.outputs[0].text.startswith("twice ")
    assert graded.execution_count is not None
    assert graded.metadata.nbgrader == {
        "grade": True, "grade_id": "ex91-double-graded", "locked": True, "points": 2,
        "schema_version": 3, "solution": False, "task": False,
    }  # fmt: skip
    assert cells["ex91-double-check"].outputs == []
    assert built.lesson.hints == {"ex91-double": ["One.", "Two.", "Three."]}
    assert "Why." not in built.learner
    assert "return 2 * x" not in built.learner
    solution = nbformat.reads(built.solution, 4)
    assert "ex91-double-reason" in {cell.id for cell in solution.cells}


GRADED = 'print("twice", double(rng.randrange(9)))'


@pytest.mark.parametrize(
    ("change", "cell", "words"),
    [
        ((GRADED, 'print("OK")'), "ex91-double-graded", "prints a verdict"),
        ((GRADED, 'print(double(2) == 4)'), "ex91-double-graded", "prints a verdict"),
        ((GRADED, 'print("All tests passed!")'), "ex91-double-graded", "prints a verdict"),
        ((GRADED, "double(rng.random())"), "ex91-double-graded", "something other than printed text"),
        ((GRADED, "x = double(rng.random())"), "ex91-double-graded", "no stored output"),
        ((GRADED, "print(object())"), "ex91-double-graded", "memory address"),
        ((GRADED, "print('/home/me/x')"), "ex91-double-graded", "prints a path"),
        ((GRADED, "import os; print(os.getcwd() + os.sep + 'x')"), "ex91-double-graded",
         "prints a path"),
        ((GRADED, "print(double(rng.random()))"), "ex91-double-graded", "a number in full"),
        ((GRADED, "print(double(1e-20))"), "ex91-double-graded", "a number in full"),
        ((GRADED, "print(f'{double(0.123456):.3f}')"), "ex91-double-graded", "through fixed()"),
        ((GRADED, "print('x', fixed(double(0.2500), 0))"), "ex91-double-graded",
         "last-digit difference"),
        ((GRADED, "import sys; print('x', file=sys.stderr)"), "ex91-double-graded",
         "something other than printed text"),
        ((GRADED, "assert double(2) == 4; print('x', 4)"), "ex91-double-graded", "asserts nothing"),
        ((GRADED, "print(double(1 / 0))"), "ex91-double-graded", "raises ZeroDivisionError"),
        ((GRADED, "# NBVAL_SKIP\n" + GRADED), "ex91-double-graded", "marked as skipped"),
        ((GRADED, 'print("5 of 5 correct")'), "ex91-double-graded", "prints a verdict"),
        ((GRADED, 'print("case 1: ok")'), "ex91-double-graded", "prints a verdict"),
        ((GRADED, 'print("twice", 2 * rng.randrange(9))'), "ex91-double-graded", "untouched stub"),
        ((GRADED, "print({f'a{i}' for i in range(9)}, double(1))"), "ex91-double-graded",
         "second run"),
        ((GRADED, "import os; print(double(os.getpid()))"), "ex91-double-graded", "second run"),
        ((GRADED, "print('%.3f' % double(0.1))"), "ex91-double-graded", "through fixed()"),
        ((GRADED, "print('{:.3}'.format(double(0.1)))"), "ex91-double-graded", "through fixed()"),
        (("SEED = 0", "SEED = 0\nSEED = 7"), "ex91-double-graded", "has the line `SEED = 0` once"),
        (("### END SOLUTION", "### end solution"), "ex91-double", "not closed, or misspelt"),
        (("### END SOLUTION", "### END SOLUTON"), "ex91-double", "not closed, or misspelt"),
        (("    ### END SOLUTION\n", ""), "ex91-double", "not closed, or misspelt"),
        (("    return 2 * x\n", "    ...  # your code here\n"), "ex91-double", "the stub is"),
        ((" points=2", ' points="many"'), "ex91-double-graded", "give a whole number"),
        (('check("ex91', '# check("ex91'), "ex91-double", "that calls check"),
        (("SEED = 0", "SEED = 1"), "ex91-double-graded", "has the line `SEED = 0` once"),
        (("rng = draw(SEED", "rng = draw(0"), "ex91-double-graded", "draws its inputs from SEED"),
        ((" points=2", ""), "ex91-double", "promises 2 points"),
        (("2 points*", "3 points*"), "ex91-double", "promises 3 points"),
        (("3 minutes", "4 minutes"), "ex91-double", "promises 4 minutes; by the rule"),
        (("1 of 5", "4 of 5"), "ex91-double", "build/minutes.py it takes 9"),
        ((FIRST, f"{START}# *10 minutes. Needs nothing.*\n\n{FIRST}"), "91-start", "takes 5"),
        (("Difficulty 1 of 5 · ", ""), "ex91-double", "needs ex91-double-why"),
        (("# Three.", "# Three.\n\n# %% [markdown] role=\"hint\" exercise=\"ex91-double\"\n# Four."),
         "ex91-double", "three hints"),
        ((' role="check"', ' role="checks"'), "ex91-double-check", "no role 'checks'"),
        (('id="ex91-double-check"', 'id="Check it"'), "Check it", "lower-case letters"),
        (('role="solution" exercise="ex91-double"', 'id="other"'), "ex91-double", "the reason"),
        (("# Why.", "# Why ![x](figure:no.png)"), "ex91-double-reason", "no figure no.png"),
        (("# Why.\n", "# Why.\n\n# %% [markdown] id=\"long\"\n# " + "word " * 2600), "all",
         "words of prose are too many"),
    ],
)  # fmt: skip
def test_a_bad_lesson_fails_with_the_cells_name(tmp_path: Path, change, cell: str, words) -> None:
    with pytest.raises(BuildError) as caught:
        build_lesson(lesson_file(tmp_path, change))
    assert f"91_double, cell {cell}: " in str(caught.value)
    assert words in str(caught.value)


def test_a_graded_cell_that_leans_on_a_scene_is_refused(tmp_path: Path) -> None:
    """A sealed run leaves scenes out."""
    scene = f'# %% id="91-scene" role="scene"\nextra = 3\n\n{FIRST}'
    leaning = lesson_file(tmp_path, (FIRST, scene), (GRADED, 'print("twice", double(extra))'))
    with pytest.raises(
        BuildError, match=r"graded: raises NameError: .* where the scenes are left out"
    ):
        build_lesson(leaning)


def test_an_id_in_two_lessons_is_refused(tmp_path: Path) -> None:
    path = lesson_file(tmp_path)
    shutil.copy(path, path.with_name("92_again.py"))
    with pytest.raises(BuildError, match="92_again, cell ex91-double-why: 91_double has a cell"):
        build(tmp_path)


def test_ids_that_every_lesson_has_are_told_apart(tmp_path: Path) -> None:
    path = lesson_file(tmp_path, ("# %% [markdown] id=\"ex91-double-why\"",
                                  "# %% id=\"setup\"\n1\n\n# %% [markdown] id=\"ex91-double-why\""))  # fmt: skip
    assert [cell.id for cell in read_lesson(path).cells][:2] == ["91-setup", "ex91-double-why"]


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest) -> dict[Path, str]:
    return build(request.config.rootpath)


def test_what_is_committed_is_what_the_sources_build(built: dict[Path, str], root: Path) -> None:
    assert differences(root, built) == []


def test_two_builds_are_the_same_to_the_byte(root: Path) -> None:
    """What is committed was built at another time: the test above compares all of it, this one
    two builds on one machine."""
    lesson = root / "course" / "lessons" / "01_plain_python_ring.py"
    first, second = build_lesson(lesson), build_lesson(lesson)
    assert (first.learner, first.solution) == (second.learner, second.solution)


def test_a_hand_edited_notebook_is_found(
    built: dict[Path, str], root: Path, tmp_path: Path
) -> None:
    for path in built:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / path, tmp_path / path)
    edited, missing = (
        tmp_path / "notebooks/00_start_here.ipynb",
        tmp_path / "solutions/00_start_here.ipynb",
    )
    edited.write_text(edited.read_text().replace("1 point", "9 points", 1))
    missing.unlink()
    (tmp_path / "notebooks/77_old.ipynb").write_text("{}")
    assert differences(tmp_path, built) == [
        "notebooks/00_start_here.ipynb is not what the sources build",
        "solutions/00_start_here.ipynb is missing",
        "notebooks/77_old.ipynb has no source",
    ]
