"""Makes the still pictures of the lessons' theatres: `python -m tests.browser.make_stills`.

Each is named by what it shows and by the module that draws it, so a change of either makes a new
one, and those that no lesson shows are removed. Then `ringkv build` puts them into the notebooks.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from ringkv_edu.grading.release import lessons
from ringkv_edu.widgets import Theatre, show

from .stage import stage

ROOT = Path(__file__).resolve().parents[2]
STILLS = ROOT / "ringkv_edu" / "widgets" / "stills"
MOST, COLOURS = 40_000, 64
IN_README = ROOT / "course" / "figures" / "theatre.png"
BARE = ".ringkv .ctl, .ringkv .answer, .ringkv details { display: none !important }"


def of_readme() -> Theatre:
    """Give the figure that README.md shows: lesson 04's."""
    return show("ring", tokens=24, window=8, step=13, angle="slot")


def theatres(lesson: str) -> list[Theatre]:
    """Run a lesson's solution and give the figures that its scenes end with."""
    book = json.loads((ROOT / "solutions" / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    found = []
    for cell in book["cells"]:
        role = cell["metadata"].get("ringkv", {}).get("role", "given")
        if cell["cell_type"] != "code" or role not in ("given", "answer", "scene"):
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(tree, cell["id"], "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
                found += [value] if isinstance(value, Theatre) else []
    return found


def main() -> None:
    STILLS.mkdir(exist_ok=True)
    wanted = {figure.key: figure for lesson in lessons() for figure in theatres(lesson)}
    for old in STILLS.glob("*.png"):
        if old.stem not in wanted:
            old.unlink()
    with tempfile.TemporaryDirectory() as folder, stage(Path(folder)) as on:
        for key, figure in wanted.items():
            path = STILLS / f"{key}.png"
            if path.exists():
                continue
            shown = on.show(figure)
            on.page.add_style_tag(content=BARE)
            image = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
            image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
            size = path.stat().st_size
            print(f"{path.relative_to(ROOT)}: {size:,} bytes")
            assert size <= MOST, f"{path} has {size:,} bytes"
    shutil.copyfile(STILLS / f"{of_readme().key}.png", IN_README)


if __name__ == "__main__":
    os.chdir(tempfile.gettempdir())
    main()
