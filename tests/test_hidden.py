"""Graded cells run, and print the reference, where the modules that hold answers are hidden."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ringkv_edu.grading import HIDDEN
from ringkv_edu.grading.release import lessons

ROOT = Path(__file__).resolve().parents[1]
RUN = """
import contextlib, io, json, sys
sys.stdout.reconfigure(encoding="utf-8")
hidden = json.loads(sys.argv[2])


class Hider:
    def find_spec(self, name, path=None, target=None):
        if any(name == h or name.startswith(h + ".") for h in hidden):
            raise ImportError(name + " is hidden")


sys.meta_path.insert(0, Hider())
cells = json.load(open(sys.argv[1], encoding="utf-8"))["cells"]
names, printed, errors = {}, {}, []
for cell in cells:
    if cell["cell_type"] != "code":
        continue
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    except ImportError as error:
        errors.append(cell["id"])
    printed[cell["id"]] = out.getvalue()
leaked = [name for name in sys.modules if any(name == h or name.startswith(h + ".") for h in hidden)]
print(json.dumps({"printed": printed, "leaked": leaked}))
"""


@pytest.mark.parametrize("name", list(lessons()))
def test_graded_cells_need_no_module_with_answers(name: str) -> None:
    import json

    path = ROOT / "solutions" / f"{name}.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path), json.dumps(HIDDEN)],
        capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    result = json.loads(done.stdout)
    assert result["leaked"] == []
    cells = {cell["id"]: cell for cell in lessons()[name].book["cells"]}
    for graded in lessons()[name].graded:
        reference = "".join(t for o in cells[graded.id]["outputs"] for t in o["text"])
        assert result["printed"][graded.id] == reference
        check = result["printed"].get(f"{graded.exercise}-check", "")
        assert "switched off in a graded run" in check


def test_hidden_modules_exist() -> None:
    import importlib.util

    assert all(importlib.util.find_spec(name) for name in HIDDEN)
