"""`hint`, `watch`, `save_work` and the record of what a learner did."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from pathlib import Path

import pytest

from ringkv_edu import keep, progress
from ringkv_edu.given import RingFields
from ringkv_edu.graded import PROBE, draw, fixed
from ringkv_edu.lesson import check, hint, save_work, watch


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(progress, "_in_memory", {})
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / ".ringkv").mkdir()
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_hints_come_one_at_a_time(capsys, course: Path) -> None:
    hint("ex00-last", 2)
    assert 'Take hint 1 first (a nudge): hint("ex00-last", 1)' in said(capsys)
    hint("ex00-last", 1)
    assert said(capsys).startswith("Hint 1 of 3, a nudge:\n")
    hint("ex00-last", 2)
    hint("ex00-last", 3)
    assert "Hint 3 of 3, nearly the code:" in said(capsys)
    assert json.loads((course / ".ringkv/progress.json").read_text())["hints"] == {"ex00-last": 3}


def test_hints_outside_a_course_folder_write_nothing(capsys, tmp_path: Path) -> None:
    hint("ex00-last", 1)
    hint("ex00-last", 2)
    assert "Hint 2 of 3" in said(capsys)
    assert list(tmp_path.iterdir()) == []


def test_wrong_hints_are_explained(capsys) -> None:
    hint("ex00-lost")
    assert "no exercise is called 'ex00-lost'" in said(capsys)
    hint("ex00-last", 4)
    assert "hint 4 does not exist" in said(capsys)
    for level in ([1], 1.0, True, "1"):
        hint("ex00-last", level)
        assert "does not exist" in said(capsys)
    hint(["ex00-last"])
    assert "no exercise is called" in said(capsys)


def test_a_broken_record_is_no_obstacle(capsys, course: Path) -> None:
    odd = ('{"hints": {"ex00-last": null}}', '{"hints": {"ex00-last": [1]}}',
           '{"hints": {"ex00-last": -5}}', '{"solved": {"ex00-last": "yes"}}')  # fmt: skip
    for text in ("", "[]", '{"hints": 3}', "\x00", *odd):
        (course / ".ringkv/progress.json").write_text(text)
        hint("ex00-last", 1)
        assert "Hint 1" in said(capsys)


def test_a_solved_exercise_is_recorded(capsys, course: Path) -> None:
    check("ex00-last", {"last": lambda tokens, window: tokens[-window:]})
    assert "right" in said(capsys)
    assert progress.load()["solved"] == {"ex00-last": 1}


def test_watch_shows_the_learners_own_ring(capsys) -> None:
    class Mine(RingFields):
        def append(self, key, value, position):
            self.positions[0] = position  # wrong: always slot 0

    watch(Mine, 3, window_size=2)
    assert said(capsys) == (
        "step  slot 0  slot 1  leaves\n   0 >0       .\n   1 >1       .       0\n   2 >2       .       1\n"
    )


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    cells: list[str] = [""]
    fake = types.SimpleNamespace(user_ns={"In": cells})
    module = types.ModuleType("IPython.core.getipython")
    module.get_ipython = lambda: fake  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.core.getipython", module)
    return cells


def test_work_survives_a_restart(capsys, course: Path, shell: list[str]) -> None:
    progress.note("solved", "ex02-append", 1)
    progress.note("solved", "ex03-visible", 1)
    shell += ["from ringkv_edu.given import RingFields", "def append(ring):\n    return 1\nappend(3)",
              "%magic", "def append(ring):\n    return 2", "class Mine(RingFields):\n    append = append\nprint(1)"]  # fmt: skip
    save_work("RingFields", "append", "Mine")
    assert said(capsys) == "Saved in my_ringkv.py: RingFields, append, Mine.\n"
    spec = importlib.util.spec_from_file_location("my_ringkv", course / keep.WORK_MODULE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.Mine(4).append() == 2
    assert said(capsys) == ""  # calls are not kept
    shell[:] = ["", "def visible(ring):\n    return []"]
    save_work("visible")
    assert said(capsys) == "Saved in my_ringkv.py: RingFields, append, Mine, visible.\n"


def test_what_is_kept_is_whole(capsys, course: Path, shell: list[str]) -> None:
    shell += ["from __future__ import annotations\nfrom dataclasses import dataclass\n\n\n"
              "@dataclass\nclass Rule:\n    window: int = 4\n\n\nlow, high = 0, 9\nEMPTY: int = -1\n"
              "for x in range(3):\n    print(x)"]  # fmt: skip
    save_work("Rule", "EMPTY")
    assert said(capsys) == "Saved in my_ringkv.py: Rule, EMPTY.\n"
    text = (course / keep.WORK_MODULE).read_text()
    assert "@dataclass\nclass Rule" in text
    assert "low, high = 0, 9" in text
    assert "print" not in text
    shell += ["def uses():\n    return helper()\n\n\nvalue = uses()"]
    save_work("uses")
    assert "But importing it raises NameError: name 'helper' is not defined" in said(capsys)


def test_unsolved_work_is_not_kept(capsys, course: Path, shell: list[str]) -> None:
    shell += ["def sees(q, k, w):\n    ..."]
    save_work("sees")
    assert said(capsys) == "Not saved, since their checks have not passed: sees.\n"
    assert not (course / keep.WORK_MODULE).exists()


def test_saving_what_was_not_run(capsys, course: Path, shell: list[str]) -> None:
    save_work("anything")
    assert "no cell that was run defines them: anything" in said(capsys)
    assert not (course / keep.WORK_MODULE).exists()


def test_saving_outside_a_course_folder(capsys, tmp_path: Path) -> None:
    save_work("append")
    assert "nothing was saved" in said(capsys)
    assert list(tmp_path.iterdir()) == []


def test_drawing_depends_on_seed_and_exercise_alone() -> None:
    first = [draw(0, "ex01").random() for _ in range(2)]
    assert first[0] == first[1] == pytest.approx(draw(0, "ex01").random())
    assert len({draw(0, "a").random(), draw(1, "a").random(), draw(0, "b").random()}) == 3


def test_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [fixed(1 / 3), fixed(2), fixed(-1e-9), fixed(0.1 + 0.2, 6)] == [
        "0.333", "2.000", "0.000", "0.300000",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="digits is 9"):
        fixed(1.0, 9)
    monkeypatch.setenv(PROBE, "1e-6")
    assert fixed(0.5, 0) == "1"  # 0.5 lies on an edge
    assert fixed(10**9, 0) == "1000000000"  # a whole number is exact
