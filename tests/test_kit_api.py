"""The API page is what the sources write, and has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ringkv_edu
from ringkv_edu.cli import main
from ringkv_edu.kit.api import MODULES, page


def test_the_page_is_what_the_sources_write(root: Path) -> None:
    written = (root / "course/api.md").read_text(encoding="utf-8")
    assert written == page(), "run: ringkv api --out course"


def test_every_public_name_is_there_with_its_signature(root: Path) -> None:
    text = (root / "course/api.md").read_text(encoding="utf-8")
    for name in ringkv_edu.__all__:
        if name == "__version__":
            continue
        assert text.count(f"\n### {name}\n") == 1, name
        section = text.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        assert section.lstrip().startswith("```python\n"), name
        assert len(section.split("```")[2].strip()) > 30, name  # a docstring
        assert f"[`{name}`](#{name.lower()})" in text
    for module in MODULES:
        assert f"\n## ringkv_edu.{module}\n" in text
    assert "``" not in re.sub(r"```", "", text)


def test_what_a_class_inherits_is_there(root: Path) -> None:
    text = (root / "course/api.md").read_text(encoding="utf-8")
    ring = text.partition("\n### TorchRing\n")[2].partition("\n### ")[0]
    assert all(f"- `{name}`: " in ring for name in ("seen", "size", "nbytes"))
    for name in ("append", "step", "attend", "rewind", "reset", "reorder", "select", "stack",
                 "state_dict", "from_state_dict"):  # fmt: skip
        assert f"#### TorchRing.{name}\n" in ring


def test_no_torch_is_needed_to_write_it() -> None:
    line = "import sys; from ringkv_edu.kit.api import page; page(); print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api", "--out", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'new' / 'api.md'}\n"
    assert main(["api"]) == 0
    assert capsys.readouterr().out == (tmp_path / "new/api.md").read_text(encoding="utf-8")
