"""What a sealed kernel sees and may take, by each way to seal; and what a run refuses to begin."""

from __future__ import annotations

import ast
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from queue import Empty
from typing import Any

import psutil
import pytest

from ringkv_edu.grading import HIDDEN
from ringkv_edu.grading.messages import FRAME_BYTES, MESSAGE_COST, size, values
from ringkv_edu.grading.release import lessons
from ringkv_edu.grading.sealed import inside, place, seal
from ringkv_edu.grading.sealed.footprint import room_left
from ringkv_edu.grading.sealed.kernel import SealedKernel
from ringkv_edu.grading.sealed.limits import Limits, limits_here
from ringkv_edu.grading.sealed.session import SealedRun
from ringkv_edu.grading.sealed.view import modules, package_folder, write_view
from ringkv_edu.grading.submission import is_linked
from ringkv_edu.problem import Problem

from .submissions import LESSON_00, LESSON_01, RIGHT, ROOT, answered, run, text

ON_PATH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))


# views

FIRST_IN = {"given": 1, "given_numpy": 2, "given_attention": 3, "given_chunks": 3, "given_rope": 4,
            "given_torch": 5, "given_spy": 5, "given_summaries": 6, "given_model": 7,
            "given_budget": 8, "given_beyond": 9, "given_cases": 10, "given_versions": 10,
            "given_duel": 11}  # fmt: skip


@pytest.mark.parametrize("lesson", lessons())
def test_a_view_holds_no_answers_and_nothing_of_later_lessons(lesson: str) -> None:
    names = modules(lesson)
    assert not [n for n in names if any(n == h or n.startswith(f"{h}.") for h in HIDDEN)]
    short = {name.removeprefix("ringkv_edu.") for name in names}
    later = {name for name in short if FIRST_IN.get(name.split(".")[0], 0) > int(lesson[:2])}
    assert later == set()
    assert not [name for name in short if name.split(".")[0] in ("grading", "cohort", "build")]


def test_every_given_module_is_known_to_the_test_above() -> None:
    found = {path.stem for path in package_folder().glob("given*") if path.name[0] != "_"}
    assert found == set(FIRST_IN)


@pytest.mark.parametrize("lesson", lessons())
def test_a_view_is_those_files_and_imports(lesson: str, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_view(lesson, tmp_path)
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == len(modules(lesson))
    assert all(path.stat().st_mode & 0o004 for path in files)
    assert all(path.stat().st_mode & 0o005 for path in tmp_path.rglob("*") if path.is_dir())
    for path in files:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ringkv_edu"):
                assert node.module in modules(lesson)


# what a sealed kernel sees

PROBE = f"""
import ctypes, glob, json, os, socket, sys, threading
def can(function, *arguments):
    try:
        function(*arguments)
        return True
    except OSError:
        return False
libc = ctypes.CDLL(None, use_errno=True)
status = dict(l.split(":", 1) for l in open("/proc/self/status").read().splitlines() if ":" in l)
print(json.dumps({{
    "root": sorted(os.listdir("/")), "course": glob.glob("/course/**/*.py", recursive=True),
    "solutions": os.path.exists({str(ROOT / "solutions")!r}), "home": os.path.exists("/home"),
    "package": [p for p in sys.path if glob.glob(p + "/ringkv_edu/*") and p != "/course"],
    "writes": [p for p in ("/", "/dev", "/course", "/usr", "/usr/lib", "/etc", "/proc/sys/kernel", sys.prefix)
               if can(lambda: open(p + "/x-ringkv", "w").close())],
    "scratch": [p for p in ("/tmp", "/dev/shm", ".") if can(lambda: open(p + "/x", "w").close())],
    "pids": sorted(int(p) for p in os.listdir("/proc") if p.isdigit()),
    "network": [n for _, n in socket.if_nameindex()],
    "connects": can(socket.create_connection, ("127.0.0.1", 9), 1) or can(socket.create_connection, ("1.1.1.1", 53), 1),
    "uids": status["Uid"].split() + status["Gid"].split(), "groups": status["Groups"].split(),
    "powers": [int(status[f"Cap{{kind}}"], 16) for kind in ("Inh", "Prm", "Eff", "Amb")],
    "no_new": status["NoNewPrivs"].strip(), "seccomp": status["Seccomp"].strip(),
    "refused": [libc.unshare(0x10000000), libc.mount(b"x", b"/tmp", b"tmpfs", 0, None),
                libc.ptrace(16, 1, None, None), libc.memfd_create(b"x", 0)],
    "environment": sorted(os.environ), "host": can(lambda: open("/proc/1/environ").read()),
    "memory": can(lambda: open("/proc/1/mem", "rb")), "open": can(lambda: os.listdir("/proc/1/fd")),
    "threads": threading.active_count() > 0,
}}))
"""


def way(name: str) -> seal.Seal:
    found = next(one for one in seal.seals() if one.name == name)
    if found.why_not:
        pytest.skip(f"nothing here can seal a process by {name}: {found.why_not}")
    return found


def said(kernel: SealedKernel, source: str) -> str:
    """Run a cell and give what it printed."""
    msg_id = kernel.execute_cell_input(source, allow_stdin=False)
    kernel.await_reply(msg_id)
    printed = ""
    while True:
        message = kernel.get_message("iopub", 5)
        if message["parent_header"].get("msg_id") == msg_id:
            if message["content"].get("execution_state") == "idle":
                return printed
            printed += message["content"].get("text", message["content"].get("evalue", ""))


@pytest.fixture(scope="module", params=["namespaces", "bubblewrap"])
def seen(request: pytest.FixtureRequest) -> Iterator[Mapping[str, Any]]:
    os.environ["RINGKV_SEALED_KEY"] = "secret"
    kernel = SealedRun(way(request.param), Limits(), "secret").kernel(LESSON_01)
    del os.environ["RINGKV_SEALED_KEY"]
    yield json.loads(said(kernel, PROBE))
    kernel.stop()
    assert not kernel.folder.exists()


def test_it_sees_no_course(seen: Mapping[str, Any]) -> None:
    assert not seen["solutions"]
    assert not seen["home"]
    assert seen["package"] == []
    assert sorted(seen["course"]) == sorted(
        f"/course/{name.replace('.', '/')}{'/__init__' * (name == 'ringkv_edu')}.py"
        for name in modules(LESSON_01)
    )
    assert not {"home", "root", "var", "mnt", "srv", "sys", "boot"} & set(seen["root"]) - {"root"}


def test_it_writes_nowhere_but_in_scratch(seen: Mapping[str, Any]) -> None:
    assert seen["writes"] == []
    assert seen["scratch"] == ["/tmp", "/dev/shm", "."]


def test_it_has_its_own_processes_and_no_network(seen: Mapping[str, Any]) -> None:
    assert len(seen["pids"]) <= 3
    assert seen["pids"][0] == 1
    assert set(seen["network"]) <= {"lo"}
    assert not seen["connects"]
    assert not seen["memory"]


def test_it_has_no_power(seen: Mapping[str, Any]) -> None:
    assert "0" not in seen["uids"]
    assert len(set(seen["uids"])) <= 2
    assert seen["powers"] == [0, 0, 0, 0]
    assert (seen["no_new"], seen["seccomp"]) == ("1", "2")
    assert seen["refused"] == [-1, -1, -1, -1]


def test_it_inherits_nothing(seen: Mapping[str, Any]) -> None:
    assert set(seen["environment"]) - set(place.environment()) <= {
        "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "GIT_PAGER", "JPY_PARENT_PID", "LC_CTYPE",
        "PAGER", "PWD", "PYDEVD_USE_FRAME_EVAL", "TERM", "MPLBACKEND",
    }  # fmt: skip


def test_a_second_copy_of_the_package_is_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = [tmp_path / part / "ringkv_edu" for part in
              ("lib/python3.11/site-packages", "envs/old/lib/python3.12/site-packages", "src/ringkv-edu")]  # fmt: skip
    for folder in copies:
        folder.mkdir(parents=True)
    monkeypatch.setattr(place, "SYSTEM", (*place.SYSTEM, str(tmp_path)))
    made = place.place_of(tmp_path, tmp_path, tmp_path, Limits())
    masked = {path for kind, path, _ in made["mounts"] if kind == "mask"}
    assert {str(folder) for folder in copies} <= masked


def test_the_course_is_masked_where_it_lies_inside_of_what_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("solutions", "course/lessons"):
        (tmp_path / "src" / "course" / part).mkdir(parents=True)
    monkeypatch.setattr(place, "SYSTEM", (*place.SYSTEM, str(tmp_path)))
    monkeypatch.setenv("RINGKV_SOLUTIONS", str(tmp_path / "src" / "course" / "solutions"))
    seen: list[Any] = []
    monkeypatch.setattr("ringkv_edu.grading.sealed.session.SealedKernel",
                        lambda *arguments: seen.extend(arguments[3]))  # fmt: skip
    SealedRun(seal.NONE, Limits(), "k").kernel(LESSON_00)
    made = place.place_of(tmp_path, tmp_path, tmp_path, Limits(), seen)
    masked = {path for kind, path, _ in made["mounts"] if kind == "mask"}
    assert str(tmp_path / "src" / "course") in masked


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_what_it_should(machine: str) -> None:
    steps = inside.filter_steps(machine)
    arch, clone, refused = (
        inside.ARCHITECTURE[machine],
        inside.CLONE[machine],
        inside.REFUSED[machine],
    )
    allow, no = inside.ALLOW, inside.ERROR | errno.EPERM
    for number in (*refused.values(), *inside.REFUSED_EVERYWHERE.values()):
        assert verdict(steps, number, arch) == no
    assert verdict(steps, inside.CLONE3, arch) == inside.ERROR | errno.ENOSYS
    assert verdict(steps, clone, arch, inside.NEWUSER | 17) == no
    assert verdict(steps, clone, arch, 17) == allow
    assert verdict(steps, 0, arch) == verdict(steps, 202, arch) == allow
    assert verdict(steps, 0, 0x40000003) == no  # another architecture's calls have other numbers
    assert verdict(steps, inside.X32 | 1, arch) == no


def verdict(steps: list[tuple[int, int, int, int]], number: int, arch: int, flags: int = 0) -> int:
    """Run a filter as Linux would."""
    looked_at = {inside.NUMBER: number, inside.WHICH: arch, inside.FIRST_ARGUMENT: flags}
    place = value = 0
    while True:
        code, so, not_so, constant = steps[place]
        place += 1
        if code == inside.RETURN:
            return constant
        if code == inside.LOAD:
            value = looked_at[constant]
            continue
        tests = {inside.EQUAL: value == constant, inside.AT_LEAST: value >= constant,
                 inside.ANY_BIT: bool(value & constant)}  # fmt: skip
        place += so if tests[code] else not_so


def test_a_grader_that_is_killed_leaves_no_kernel(tmp_path: Path) -> None:
    best = seal.best_seal()
    if best.name == "none":
        pytest.skip("nothing here can seal a process")
    source = f"import os, subprocess\nsubprocess.run(['sleep', '86{os.getpid()}'])"
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(text(answered(source)))
    mark = f"86{os.getpid()}"
    grader = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--nbval", "--ringkv-sealed", "-q"], cwd=tmp_path,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"PYTHONPATH": ON_PATH},
    )  # fmt: skip
    assert waited(lambda: bool(running(mark)), 60)
    grader.send_signal(signal.SIGKILL)
    grader.wait()
    assert waited(lambda: not running(mark), 10)


def running(mark: str) -> list[int]:
    return [p.pid for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or ())]


def waited(true: Any, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.1)
    return bool(true())


# where nothing can seal


def unsealable(folder: Path, *options: str) -> Any:
    (folder / f"{LESSON_00}.ipynb").write_bytes(text(answered(RIGHT)))
    return run(folder, "-p", "tests.grading.unsealable", "--ringkv-sealed", *options,
               PYTHONPATH=ON_PATH)  # fmt: skip


def test_without_a_seal_it_says_why_and_grades_nothing(tmp_path: Path) -> None:
    result = unsealable(tmp_path)
    assert result.code == 3
    assert (
        "nothing here can seal a process (namespaces: not on this machine; bubblewrap: not on this machine)"
        in result.output
    )
    assert "--allow-unsealed goes on without" in result.output
    assert "1/1" not in result.output


def test_unsealed_it_says_so(tmp_path: Path) -> None:
    result = unsealable(tmp_path, "--allow-unsealed")
    assert result.code == 0
    assert "1/1" in result.output
    assert "NOT SEALED: the answers could read and write what the grader can" in result.output
    assert "sealed by" not in result.output


# settings and limits


def test_settings_among_the_notebooks_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(text(answered(RIGHT)))
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --allow-unsealed\n")
    result = run(tmp_path, "--ringkv-sealed")
    assert result.code == 4
    assert "pytest.ini lies among the notebooks and would say how they are graded" in result.output


def test_a_bad_limit_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / f"{LESSON_00}.ipynb").write_bytes(text(answered(RIGHT)))
    result = run(tmp_path, "--ringkv-sealed", RINGKV_LIMITS='{"cell_secs": 3}')
    assert result.code == 4
    assert "RINGKV_LIMITS has 'cell_secs'; known are cell_seconds, " in result.output


@pytest.mark.parametrize(
    "given",
    ["{", "[]", "3", '{"cell_seconds": "4"}', '{"cell_seconds": 0}', '{"cell_seconds": true}',
     '{"processes": 1.5}', '{"cell_seconds": 1e999}', '{"cell_seconds": NaN}', '{"x": 1}'],
)  # fmt: skip
def test_limits_are_checked(given: str) -> None:
    with pytest.raises(Problem, match="RINGKV_LIMITS"):
        limits_here({"RINGKV_LIMITS": given})


def test_limits_can_be_set() -> None:
    assert limits_here({}) == Limits()
    assert limits_here({"RINGKV_LIMITS": '{"cell_seconds": 1.5, "files": 9}'}) == Limits(
        cell_seconds=1.5, files=9
    )


def test_the_notebooks_time_is_shared_by_its_cells() -> None:
    best = seal.best_seal()
    kernel = SealedKernel(LESSON_00, best, Limits(notebook_seconds=1.5, cell_seconds=30))
    try:
        with pytest.raises(Empty):
            said(kernel, "import time; time.sleep(20)")
        assert kernel.late() == "did not end before the notebook's 1.5 s were over"
    finally:
        kernel.stop()


def test_looking_for_room_ends(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / str(number)).write_bytes(b"x" * 4096)
    (tmp_path / "up").symlink_to(tmp_path)
    assert room_left(tmp_path, 1 << 20, 100)
    assert not room_left(tmp_path, 1 << 20, 20)
    assert not room_left(tmp_path, 50_000, 100)


def test_messages_are_counted_with_their_headers() -> None:
    frames = [b"x" * 10, b'{"a": [1, 2]}']
    assert size(frames) == MESSAGE_COST + 23 + 2 * FRAME_BYTES
    assert values(frames) == 3


# links


def test_a_link_is_found_below_what_was_named_and_not_above(tmp_path: Path) -> None:
    (tmp_path / "real" / "ann").mkdir(parents=True)
    (tmp_path / "real" / "ann" / "a.ipynb").write_text("{}")
    (tmp_path / "real" / "ann" / "b.ipynb").symlink_to(tmp_path / "real" / "ann" / "a.ipynb")
    (tmp_path / "real" / "bo").symlink_to(tmp_path / "real" / "ann")
    (tmp_path / "top").symlink_to(tmp_path / "real")
    real = tmp_path / "real"
    assert not is_linked(real / "ann" / "a.ipynb", [real])
    assert is_linked(real / "ann" / "b.ipynb", [real])
    assert is_linked(real / "bo" / "a.ipynb", [real])
    assert is_linked(real / "ann" / "b.ipynb", [real / "ann" / "b.ipynb"])
    assert is_linked(tmp_path / "top" / "ann" / "a.ipynb", [tmp_path / "top"])
    assert not is_linked(tmp_path / "top" / "ann" / "a.ipynb", [tmp_path / "top" / "ann"])
