"""Broken files and runaway cells: each is named, none earns a point, none stops another notebook.

The rows are those that stock nbval was measured on; with it a dead kernel waits out the whole
timeout, an unreadable file stops the session, and an endless print fills the memory.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from .submissions import (
    LESSON_00,
    LESSON_01,
    RIGHT,
    WRONG,
    Run,
    answered,
    cell,
    released,
    run,
    solution,
    text,
    write_all,
)

TIMEOUT = 5
RUNAWAY = "prints without end|did not end within"  # whichever a loaded machine reaches first


def fails_with(body: str) -> bytes:
    return text(answered(f"def last(tokens, window):\n    {body}\n"))


def first(source: str) -> bytes:
    """The answer cell does this before it defines a right answer."""
    return text(answered(source + "\n" + RIGHT))


SIGINT_OFF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
CELLS = {
    # name: (the notebook, points, words in the table)
    "good": (lambda: first(""), 1, "1/1"),
    "wrong": (lambda: text(answered(WRONG)), 0, "line "),
    "endless-loop": (lambda: fails_with("while True: pass"), 0, f"did not end within {TIMEOUT} s"),
    "endless-catching": (
        lambda: first("while True:\n    try:\n        pass\n    except BaseException: pass"),
        0, f"did not end within {TIMEOUT} s"),
    "endless-sigint-off": (
        lambda: first(f"{SIGINT_OFF}\nwhile True: pass"), 0, f"did not end within {TIMEOUT} s"),
    "os-exit": (lambda: fails_with("import os; os._exit(1)"), 0, "the kernel died"),
    "os-exit-zero": (lambda: first(RIGHT + "\nimport os; os._exit(0)"), 0, "the kernel died"),
    "sigkill": (
        lambda: fails_with("import os, signal; os.kill(os.getpid(), 9)"), 0, "the kernel died"),
    "segfault": (lambda: fails_with("import ctypes; ctypes.string_at(0)"), 0, "the kernel died"),
    "sys-exit": (lambda: fails_with("import sys; sys.exit()"), 0, "raises SystemExit"),
    "quit-first": (lambda: first("quit()"), 0, "ends the kernel with quit()"),
    "input": (lambda: fails_with("return input()"), 0, "raises StdinNotImplementedError"),
    "getpass": (
        lambda: fails_with("import getpass; return getpass.getpass()"), 0,
        "raises StdinNotImplementedError"),
    "breakpoint": (lambda: first("breakpoint()"), 1, "1/1"),
    "await": (lambda: first("import asyncio\nawait asyncio.sleep(0)"), 1, "1/1"),
    "print-20-mb": (lambda: fails_with("print('x' * 20_000_000)"), 0, RUNAWAY),
    "print-endless": (
        lambda: fails_with("while True: print('x' * 10000)"), 0, f"{RUNAWAY}|the kernel died"),
    "memory": (lambda: fails_with("return bytearray(1 << 60)"), 0, "raises MemoryError"),
    "thread-left": (
        lambda: first("import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()"),
        1, "1/1"),
    "child-left": (
        lambda: first("import subprocess, sys\n"
                      "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])"),
        1, "1/1"),
    "hidden-error": (
        lambda: first("from IPython.core.interactiveshell import InteractiveShell\n"
                      "InteractiveShell.showtraceback = lambda *a, **k: None\n1 / 0"),
        0, "raises an error and hides it"),
    "syntax-error": (lambda: text(answered("def last(tokens, window:\n")), 0, "raises SyntaxError"),
    "own-print": (
        lambda: fails_with("print('here')\n    return tokens[-window:]"), 0,
        "lines of its own among the right ones: take your print calls out"),
    "warning": (
        lambda: fails_with("import warnings; warnings.warn('old')\n    return tokens[-window:]"),
        1, "1/1"),
    "sleeps-and-catches": (
        lambda: first("import time\nwhile True:\n    try:\n        time.sleep(.5); print('x', flush=True)\n"
                      "    except BaseException: pass"),
        0, f"did not end within {TIMEOUT} s"),
    "many-small-prints": (
        lambda: first("while True: print('.', end='', flush=True)"), 0, RUNAWAY),
    "huge-error": (lambda: first("raise ValueError('x' * 20_000_000)"), 0, RUNAWAY),
    "forged-row": (
        lambda: first("raise ValueError('boom\\x1b[1G  ex00-last          1/1')"), 0,
        "raises ValueError: boom [1G  ex00-last          1/1"),
    "numpy-inside": (
        lambda: fails_with("import numpy as np\n    return np.array(tokens)[-window:]"), 1, "1/1"),
    "returns-none": (lambda: fails_with("x = 1"), 0, "-> None"),
}  # fmt: skip


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("cells")
    write_all(folder, {name: make for name, (make, _, _) in CELLS.items()})
    return run(folder, f"--nbval-cell-timeout={TIMEOUT}", "-n", "2")


@pytest.mark.parametrize("name", CELLS)
def test_a_runaway_cell(cells: Run, name: str) -> None:
    _, points, words = CELLS[name]
    earned, part = cells.points(name)
    assert earned == points, part
    assert any(word in part for word in words.split("|")), part


def test_no_notebook_was_lost(cells: Run) -> None:
    assert cells.code == 1
    assert cells.output.count(f"/{LESSON_00}.ipynb\n") >= len(CELLS)
    assert "INTERNALERROR" not in cells.output


def raw(change) -> bytes:
    return change(first("").decode()).encode("utf-8")


def with_metadata(**metadata) -> bytes:
    book = answered(RIGHT)
    book["metadata"] |= metadata
    return text(book)


def without_ids() -> bytes:
    """Format 4.4 has no cell ids; the answer is found by its grade_id."""
    book = answered(RIGHT)
    for each in book["cells"]:
        del each["id"]
    return text(book | {"nbformat_minor": 4})


def version_3() -> bytes:
    book = answered(RIGHT)
    cells = [
        {
            **c,
            "cell_type": c["cell_type"],
            "input": c["source"],
            "language": "python",
            "prompt_number": 1,
        }
        for c in book["cells"]
    ]
    for each in cells:
        each.pop("source")
    return text(
        {"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}
    )


def bare_cells() -> bytes:
    book = answered(RIGHT)
    for each in book["cells"]:
        for key in ("outputs", "execution_count", "metadata"):
            each.pop(key, None)
    return text(book)


def number_as_source() -> bytes:
    book = answered(RIGHT)
    cell(book, "ex00-last-graded")["source"] = 3
    cell(book, "00-setup")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": 3}]
    return text(book)


def twice() -> bytes:
    book = answered(RIGHT)
    book["cells"].append(dict(cell(book, "ex00-last"), id="ab12cd34", source=WRONG))
    return text(book)


def duplicate_ids() -> bytes:
    book = answered(RIGHT)
    book["cells"].append(dict(cell(book, "00-setup")))
    book["cells"].append(dict(cell(book, "ex00-last-graded")))
    return text(book)


def not_code() -> bytes:
    book = answered(RIGHT)
    cell(book, "ex00-last")["cell_type"] = "markdown"
    return text(book)


def odd_solution(**outputs) -> bytes:
    book = answered(RIGHT)
    book["metadata"]["ringkv"]["kind"] = "solution"
    cell(book, "00-setup").update(outputs)
    return text(book)


def with_cell(source: str) -> bytes:
    book = answered(RIGHT)
    book["cells"].append({"cell_type": "code", "id": "ab12", "metadata": {}, "outputs": [],
                          "execution_count": 1, "source": source})  # fmt: skip
    return text(book)


FILES = {
    "broken-json": (lambda: first("")[:-200], 0, "its JSON is broken"),
    "empty": (lambda: b"", 0, "the file is empty"),
    "whitespace": (lambda: b" \n\n", 0, "the file is empty"),
    "list": (lambda: b"[]", 0, "it has no cells"),
    "null": (lambda: b"null", 0, "it has no cells"),
    "deep": (lambda: b"[" * 200_000, 0, "nested too deeply"),
    "latin-1": (lambda: raw(lambda s: s).replace(b"tokens", b"t\xf6kens"), 0, "not UTF-8"),
    "conflict": (
        lambda: raw(lambda s: "<<<<<<< HEAD\n" + s + "\n=======\n>>>>>>> other\n"), 0,
        "merge-conflict markers"),
    "huge": (lambda: first("") + b" " * 20_000_001, 0, "larger than 20 MB"),
    "no-cells": (lambda: text(released() | {"cells": []}), 0, "answer cell is missing"),
    "cells-null": (lambda: text(released() | {"cells": None}), 0, "answer cell is missing"),
    "markdown-only": (
        lambda: text(released() | {"cells": [
            {"cell_type": "markdown", "id": "a1", "metadata": {}, "source": "hello"}]}),
        0, "answer cell is missing"),
    "odd-cells": (lambda: text(answered(RIGHT) | {"cells": [3, None, "x", *answered(RIGHT)["cells"]]}),
                  1, "1/1"),
    "bom": (lambda: b"\xef\xbb\xbf" + first(""), 1, "1/1"),
    "utf-16": (lambda: first("").decode().encode("utf-16"), 1, "1/1"),
    "crlf": (lambda: text(answered(RIGHT), indent=1).replace(b"\n", b"\r\n"), 1, "1/1"),
    "nbformat-5": (lambda: text(answered(RIGHT) | {"nbformat": 5}), 1, "1/1"),
    "nbformat-4-99": (lambda: text(answered(RIGHT) | {"nbformat_minor": 99}), 1, "1/1"),
    "nbformat-4-4": (without_ids, 1, "1/1"),
    "nbformat-3": (version_3, 1, "1/1"),
    "no-kernelspec": (lambda: text(answered(RIGHT) | {"metadata": {}}), 1, "1/1"),
    "metadata-null": (lambda: text(answered(RIGHT) | {"metadata": None}), 1, "1/1"),
    "kernel-my-env": (lambda: with_metadata(kernelspec={"name": "my-env"}), 1, "1/1"),
    "kernel-ir": (lambda: with_metadata(kernelspec={"name": "ir", "language": "R"}), 1, "1/1"),
    "kernel-null": (lambda: with_metadata(kernelspec=None), 1, "1/1"),
    "colab": (lambda: with_metadata(colab={"provenance": []}, accelerator="GPU"), 1, "1/1"),
    "bare-cells": (bare_cells, 1, "1/1"),
    "number-as-source": (number_as_source, 1, "1/1"),
    "duplicate-ids": (duplicate_ids, 1, "1/1"),
    "copied-answer": (twice, 1, "1/1"),
    "solution-odd-outputs": (lambda: odd_solution(outputs=5), 1, "1/1"),
    "solution-odd-output": (lambda: odd_solution(outputs=["x"]), 1, "1/1"),
    "solution-wrong-output": (lambda: odd_solution(outputs=[{"output_type": 3}]), 1, "1/1"),
    "deep-scratch-cell": (lambda: with_cell("-" * 7000 + "1"), 1, "1/1"),
    "long-scratch-cell": (lambda: with_cell("x = [" + "a," * 1_000_000 + "]"), 1, "1/1"),
    "metadata-odd": (lambda: with_metadata(ringkv=5), 1, "1/1"),
    "answer-not-code": (not_code, 0, "no code cell any more"),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("files")
    write_all(folder, {name: make for name, (make, _, _) in FILES.items()})
    (folder / "unnamed").mkdir()
    (folder / "unnamed" / "homework.ipynb").write_bytes(b"")
    return run(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_file_however_saved(files: Run, name: str) -> None:
    _, points, words = FILES[name]
    earned, part = files.points(name)
    assert earned == points, part
    assert words in part


def test_names_in_other_bytes_pipes_and_folders(tmp_path: Path) -> None:
    expected = 1
    with contextlib.suppress(OSError, UnicodeError):  # some systems refuse such names
        folder = os.path.join(os.fsencode(tmp_path), b"J\xfcrg")
        os.mkdir(folder)
        with open(os.path.join(folder, b"\xfcbung_00_start_here.ipynb"), "wb") as file:
            file.write(first(""))
        expected = 2
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(first(""))
    result = run(tmp_path, timeout=60)
    assert result.output.count("  lesson             1/1") == expected
    assert "INTERNALERROR" not in result.output


def test_many_dead_kernels_leave_room_for_the_next(tmp_path: Path) -> None:
    """A dead kernel that kept its sockets cost 21 file descriptors."""
    dead = {f"a{number}": lambda: first("import os; os._exit(1)") for number in range(8)}
    write_all(tmp_path, {**dead, "good": lambda: first("")})
    limit = (
        "import contextlib\n"
        "with contextlib.suppress(ImportError):  # Windows has no such limit\n"
        "    import resource\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (110, 110))\n"
    )
    (tmp_path / "conftest.py").write_text(limit)
    assert run(tmp_path).points("good")[0] == 1


def test_no_answer_leans_on_a_graded_cells_variables(tmp_path: Path) -> None:
    book = solution(LESSON_01)
    body = "    return 0 <= query_position - key_position < window\n"
    cell(book, "ex05-edge")["source"] = f"def sees(query_position, key_position, w):\n{body}"
    (tmp_path / f"{LESSON_01}.ipynb").write_bytes(text(book))
    assert "ex05-edge          0/3    raises NameError: name 'window'" in run(tmp_path).output


def test_an_unreadable_file_of_any_name_is_named_and_stops_nothing(files: Run) -> None:
    assert "cannot be read: the file is empty" in files.part("unnamed")
    assert files.code == 1
    assert "INTERNALERROR" not in files.output
    assert "Interrupted" not in files.output


def test_cells_after_a_timeout_or_a_dead_kernel_earn_nothing(tmp_path: Path) -> None:
    for name, body in {"loop": "while True: pass", "dead": "import os; os._exit(1)"}.items():
        book = solution(LESSON_01)
        cell(book, "ex03-visible")["source"] = f"def visible(ring):\n    {body}\n"
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{LESSON_01}.ipynb").write_bytes(text(book))
    result = run(tmp_path, f"--nbval-cell-timeout={TIMEOUT}")
    for name, words in {
        "loop": f"did not end within {TIMEOUT} s",
        "dead": "the kernel died",
    }.items():
        earned, part = result.points(name)
        assert earned == 5, part  # exercises 1 and 2 came before
        assert words in part
        assert part.count("not run: ") == 6
    assert "course, loop" in result.output


def test_a_dead_kernel_is_noticed_in_seconds(tmp_path: Path) -> None:
    """With the default timeout of 60 s; stock nbval would wait for it and 5 s more."""
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(fails_with("import os; os._exit(1)"))
    assert run(tmp_path, timeout=90).seconds < 45


def test_a_helper_left_outside_the_answer_cell_is_named(tmp_path: Path) -> None:
    book = answered("def last(tokens, window):\n    return helper(tokens)[-window:]\n")
    book["cells"].insert(1, {"cell_type": "code", "id": "ab34", "metadata": {}, "outputs": [],
                             "execution_count": 1, "source": "def helper(x):\n    return x"})  # fmt: skip
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(text(book))
    words = "`helper` is defined outside the answer cell: move it into the answer cell"
    assert words in run(tmp_path).output
