"""Broken and runaway submissions in a sealed run: each ends in time and with a named reason.

They run as one batch with two workers: none may stop it, none may harm the honest ones beside it,
and none may fill the grader's own memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import psutil
import pytest

from .submissions import RIGHT, ROOT, WRONG, Run, answered, run, text, write_all
from .test_robust import CELLS, FILES, RUNAWAY, TIMEOUT, fails_with, first, with_cell

SECONDS, GRACE, MEMORY = 3, 1, 600
MOST_MEMORY = 1 << 30  # of the grader: its controller and its workers together
LATE = f"did not end within {SECONDS} s"
DIED = "the kernel died"
LARGE = "took more than"  # or LATE, where a loaded machine is too slow to take so much
CUT = "prints without end|closes its kernel's sockets"
GARBLED = "sends what no kernel sends"
MARK = "97531"  # seconds that a process sleeps which must not outlive the run


def last(source: str) -> bytes:
    """A right answer, and then this as the cell's last expression."""
    return text(answered(f"{RIGHT}\n{source}"))


KERNEL = "kernel = get_ipython().kernel\nsession, parent = kernel.session, kernel.get_parent()\n"
SIGNED = KERNEL + (
    "import json, zmq\n"
    "def raw(content, kind='stream', metadata=b'{}', header=None):\n"
    "    head = json.dumps(header or session.msg_header(kind), default=str).encode()\n"
    "    parts = [head, json.dumps(parent['header'], default=str).encode(), metadata, content]\n"
    "    return [b'stream', b'<IDS|MSG>', session.sign(parts), *parts]\n"
    "send = kernel.iopub_thread.send_multipart\n"
)
DUMB = KERNEL + (
    "real = session.send\n"
    "def send(stream, kind, content=None, *a, **k):\n"
    "    if kind != 'status': return real(stream, kind, content, *a, **k)\n"
    "session.send = send\n"
)
DRIP = (
    "import threading, time\n"
    "def drip():\n    while True: time.sleep(.2); print('.', flush=True)\n"
    "threading.Thread(target=drip, daemon=True).start()\n"
)
Cell = tuple[Callable[[], bytes], float, str]
MORE: dict[str, Cell] = {
    # memory
    "hog": (lambda: fails_with("held = []\n    while True: held.append(b'x' * 20_000_000 + bytes([len(held) % 250]))"), 0, f"{LARGE}|{LATE}"),
    "hog-in-a-thread": (
        lambda: first("import threading, time\n"
                      "def hog():\n    held = []\n    while True: held.append(bytes([len(held) % 250]) * 20_000_000)\n"
                      "threading.Thread(target=hog, daemon=True).start(); time.sleep(99)"), 0, f"{LARGE}|{LATE}"),
    "hogs-side-by-side": (
        lambda: first("import os, time\nfor n in range(8):\n    if os.fork() == 0:\n"
                      "        held = bytes([n + 1]) * 150_000_000; time.sleep(99); os._exit(0)\ntime.sleep(99)"), 0, f"{LARGE}|{LATE}"),
    "hog-in-shared-memory": (
        lambda: first("import os, mmap, time\nheld = [mmap.mmap(-1, 100_000_000) for _ in range(9)]\n"
                      "for n, each in enumerate(held): each.write(bytes([n + 1]) * 100_000_000)\ntime.sleep(99)"), 0, f"{LARGE}|{LATE}"),
    "hog-in-nameless-files": (
        lambda: first("import os\nheld = [os.memfd_create(str(n)) for n in range(99)]"), 0, "raises PermissionError"),
    "numpy-hog": (lambda: fails_with("import numpy as np; return [np.ones(10_000_000) for _ in range(99)]"), 0, f"{LARGE}|{LATE}"),
    "asks-for-too-much": (lambda: fails_with("return b'x' * (1 << 40)"), 0, "raises MemoryError"),
    # processes and threads
    "fork-bomb": (lambda: first("import os\nwhile True: os.fork()"), 0, f"{LARGE}|{DIED}|{LATE}|raises BlockingIOError"),
    "shell-fork-bomb": (
        lambda: first("import subprocess, time\nsubprocess.Popen(['sh', '-c', 'f() { f | f & }; f'])\ntime.sleep(99)"),
        0, f"{LARGE}|{LATE}|{DIED}"),
    "thread-bomb": (
        lambda: first("import threading\nstop = threading.Event()\n"
                      "while True: threading.Thread(target=stop.wait, daemon=True).start()"), 0, "raises RuntimeError"),
    "child-that-never-dies": (
        lambda: first("import os, signal, ctypes\n"
                      "if os.fork() == 0:\n    os.setsid(); ctypes.CDLL(None).prctl(1, 0)\n"
                      "    [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\n"
                      f"    os.execvp('sleep', ['sleep', '{MARK}'])"), 1, ""),
    "busy-child": (lambda: first("import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'while True: pass'])"), 1, ""),
    # disks
    "fills-tmp": (lambda: first("with open('/tmp/x', 'wb') as f:\n    while True: f.write(b'x' * 1_000_000)"), 0, "raises OSError"),
    "fills-tmp-in-parts": (
        lambda: first("n = 0\nwhile True:\n    n += 1\n    with open(f'/tmp/{n}', 'wb') as f: f.write(b'x' * 5_000_000)"),
        0, "raises OSError"),
    "fills-shm": (lambda: first("with open('/dev/shm/x', 'wb') as f:\n    while True: f.write(b'x' * 1_000_000)"), 0, "raises OSError"),
    "fills-the-socket-folder": (
        lambda: first("n = 0\nwhile True:\n    n += 1\n    with open(f'/run/kernel/{n}', 'wb') as f: f.write(b'x' * 5_000_000)"),
        0, f"raises PermissionError|{LARGE}"),
    "makes-many-files": (lambda: first("n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/{n}', 'w').close()"), 0, f"raises OSError|{LATE}|{LARGE}"),
    "makes-deep-folders": (
        lambda: first("import os\nfor top in ('/run/kernel', '/tmp'):\n    try:\n        os.chdir(top)\n"
                      "        for _ in range(3000): os.mkdir('d'); os.chdir('d')\n    except OSError: pass"),
        0, f"1/1|{LARGE}"),
    "opens-many-files": (lambda: first("held = []\nwhile True: held.append(open('/dev/null'))"), 0, f"raises |{LATE}|{DIED}|{CUT}"),
    # output
    "print-100-mb": (lambda: fails_with("print('x' * 100_000_000)"), 0, f"{CUT}|{LATE}|{LARGE}"),
    "print-1-mb-lines": (lambda: fails_with("while True: print('[' * 1_000_000, flush=True)"), 0, RUNAWAY),
    "stderr-endless": (lambda: first("import sys\nwhile True: sys.stderr.write('x' * 10_000)"), 0, f"{RUNAWAY}|{LARGE}"),
    "warnings-endless": (lambda: first("import warnings\nn = 0\nwhile True:\n    n += 1; warnings.warn(str(n) * 50)"), 0, f"{RUNAWAY}|{LATE}"),
    "displays-endless": (lambda: first("from IPython.display import HTML, display\nwhile True: display(HTML('x' * 5_000))"), 0, RUNAWAY),
    "result-30-mb": (lambda: last("'x' * 30_000_000"), 0, CUT),
    "image-30-mb": (lambda: last("from IPython.display import Image, display\ndisplay(Image(b'x' * 30_000_000, format='png'))"), 0, CUT),
    "prints-from-many-threads": (
        lambda: first("import threading\ndef work():\n    while True: print('x' * 9_000)\n"
                      "for _ in range(8): threading.Thread(target=work, daemon=True).start()\nwhile True: pass"), 0, f"{RUNAWAY}|{LARGE}"),
    "prints-after-its-cell": (
        lambda: first("import threading, time\ndef work():\n    while True: print('x' * 9_000, flush=True)\n"
                      "threading.Thread(target=work, daemon=True).start()"), 0, f"{RUNAWAY}|{LARGE}|lines of its own"),
    # messages
    "junk-frames": (lambda: first(SIGNED + "while True: send([b'junk'])"), 0, f"{GARBLED}|{RUNAWAY}"),
    "wrong-signature": (lambda: first(SIGNED + "bad = raw(b'{}'); bad[2] = b'0' * 64\nwhile True: send(bad)"), 0, f"{GARBLED}|{RUNAWAY}"),
    "no-json": (lambda: first(SIGNED + "while True: send(raw(b'{{{'))"), 0, f"{GARBLED}|{RUNAWAY}"),
    "deep-json": (lambda: first(SIGNED + "while True: send(raw(b'{\"a\": ' * 60_000 + b'1' + b'}' * 60_000))"), 0, f"{GARBLED}|{RUNAWAY}"),
    "json-bomb": (lambda: first(SIGNED + "while True: send(raw(b'{\"a\": [' + b'[],' * 2_400_000 + b'1]}'))"), 0, RUNAWAY),
    "large-headers": (lambda: first(SIGNED + "big = json.dumps({'a': 'x' * 7_000_000}).encode()\nwhile True: send(raw(b'{}', 'status', big))"), 0, f"{RUNAWAY}|{LARGE}|{CUT}|{GARBLED}"),
    "large-headers-beside": (
        lambda: first(SIGNED + "import threading\nbig = json.dumps({'a': 'x' * 7_000_000}).encode()\n"
                      "message = raw(b'{}', 'status', big)\ndef flood():\n    while True: send(message)\n"
                      "for _ in range(3): threading.Thread(target=flood, daemon=True).start()"),
        0, f"{RUNAWAY}|{LARGE}|{CUT}|1/1|line |lines of its own"),
    "wrong-types": (
        lambda: first(KERNEL + "for content in ({'name': 5, 'text': None}, {'name': [], 'text': {}}, [], {}):\n"
                      "    session.send(kernel.iopub_socket, 'stream', content, parent=parent)"), 0, GARBLED),
    "odd-error": (
        lambda: first(KERNEL + "session.send(kernel.iopub_socket, 'error', {'ename': None, 'evalue': 3, 'traceback': 'x'}, parent=parent)"), 0, GARBLED),
    "odd-display": (
        lambda: first(KERNEL + "session.send(kernel.iopub_socket, 'display_data', {'data': 3}, parent=parent)"), 0, GARBLED),
    "many-parts": (lambda: first(SIGNED + "while True: send([b''] * 500_000)"), 0, f"{GARBLED}|{RUNAWAY}|{LARGE}|{CUT}|{LATE}"),
    "messages-for-nobody": (
        lambda: first(KERNEL + "n = 0\nwhile True:\n    n += 1\n"
                      "    session.send(kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': 'x' * 900}, parent={'header': {'msg_id': str(n)}})"),
        0, RUNAWAY),
    "replies-endless": (
        lambda: first(KERNEL + "import zmq\nident = parent['header']['session'].encode()\nsocket = kernel.shell_stream.socket\n"
                      "while True:\n    session.send(socket, 'execute_reply', {'status': 'ok'}, {'header': {'msg_id': 'x'}}, ident)"),
        0, f"{RUNAWAY}|raises |{CUT}"),
    "one-message-without-end": (
        lambda: first(KERNEL + "import zmq\nsocket = kernel.iopub_thread.socket\nwhile True: socket.send(b'x' * 1_000_000, zmq.SNDMORE)"),
        0, f"{LARGE}|{LATE}|{CUT}|raises |{DIED}"),
    "closes-its-sockets": (lambda: first(KERNEL + "kernel.iopub_thread.socket.close(); kernel.shell_stream.socket.close()"), 0, f"{CUT}|{LATE}|raises |{DIED}"),
    "closes-every-descriptor": (lambda: first("import os\nos.closerange(0, 512)"), 0, f"{CUT}|{DIED}|{LATE}|raises "),
    "ends-the-context": (lambda: first(KERNEL + "import zmq\nzmq.Context.instance().destroy(0)"), 0, f"1/1|{CUT}|{LATE}|{DIED}"),
    "asks-to-restart": (lambda: first(KERNEL + "kernel.do_shutdown(True)\nimport os\nkernel.io_loop.stop()"), 0, f"1/1|{DIED}|{LATE}|{CUT}|raises "),
    "never-says-it-ended": (lambda: first(DUMB), 1, ""),
    "drips-for-ever": (lambda: first(DUMB + DRIP), 0, LATE),
    "drips-after-an-error": (lambda: first(DUMB + DRIP + "1 / 0\n"), 0, LATE),
    # ways to end, and not to
    "sigstop": (lambda: first("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"), 0, LATE),
    "sigterm": (lambda: first("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)"), 0, f"{DIED}|1/1"),
    "kills-everything": (lambda: first("import os, signal\nos.kill(-1, 9)"), 0, "raises ProcessLookupError"),
    "kills-its-group": (lambda: first("import os\nos.killpg(0, 9)"), 0, DIED),
    "kills-the-first": (lambda: first("import os\nos.kill(1, 9)"), 1, ""),
    "alarm": (lambda: first("import signal, time\nsignal.alarm(1); time.sleep(99)"), 0, DIED),
    "abort": (lambda: fails_with("import os; os.abort()"), 0, DIED),
    "faulthandler": (lambda: first("import faulthandler\nfaulthandler._sigsegv()"), 0, DIED),
    "late-death": (lambda: first("import faulthandler, os\nfaulthandler.dump_traceback_later(.2, exit=True, file=open(os.devnull, 'w'))\nimport time; time.sleep(99)"), 0, DIED),
    "becomes-another-program": (lambda: first("import os\nos.execv('/bin/sleep', ['sleep', '99'])"), 0, f"{CUT}|{LATE}"),
    "becomes-a-short-program": (lambda: first("import os\nos.execv('/bin/true', ['true'])"), 0, DIED),
    "deletes-what-it-can": (
        lambda: first("import shutil\nfor top in ('/tmp', '/run/kernel', '/course', '/dev/shm'): shutil.rmtree(top, ignore_errors=True)"), 0, f"1/1|{CUT}|raises "),
    "small-limits": (lambda: first("import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))\nx = 'y' * 9_999_999"), 0, f"raises |{DIED}|{LATE}"),
    "stack-overflow": (lambda: first("import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(n): return str([f(n)])\nf(1)"), 0, f"{DIED}|raises |{LARGE}"),
    "recursion": (lambda: fails_with("return last(tokens, window)"), 0, "raises RecursionError"),
    # time
    "sleeps-for-ever": (lambda: fails_with("import time; time.sleep(1e6)"), 0, LATE),
    "waits-for-itself": (lambda: first("import threading\nlock = threading.Lock(); lock.acquire(); lock.acquire()"), 0, LATE),
    "waits-for-a-child": (lambda: first("import os\nos.system('sleep 99')"), 0, LATE),
    "waits-for-an-event": (lambda: first("import asyncio\nawait asyncio.Event().wait()"), 0, LATE),
    "sum-in-c": (lambda: fails_with("return sum(range(10 ** 12))"), 0, LATE),
    "power-in-c": (lambda: fails_with("return 7 ** (7 ** 12)"), 0, f"{LATE}|{LARGE}|raises "),
    "regex": (lambda: fails_with("import re; return re.match(r'(a+)+$', 'a' * 40 + 'b')"), 0, LATE),
    "thread-in-c": (
        lambda: first("import threading, time\nthreading.Thread(target=lambda: sum(range(10 ** 12)), daemon=True).start(); time.sleep(.1)"), 0, f"{LATE}|1/1"),
    "catches-the-interrupt": (
        lambda: first("import signal\ndef again(*a):\n    while True: pass\nsignal.signal(signal.SIGINT, again)\nwhile True: pass"), 0, LATE),
    "loops-when-collected": (lambda: fails_with("type('E', (), {'__del__': lambda s: all(True for _ in iter(int, 1))})(); return []"), 0, LATE),
    "loops-when-printed": (
        lambda: fails_with("class E(Exception):\n        def __str__(self):\n            while True: pass\n    raise E"), 0, LATE),
    "reads-standard-input": (lambda: first("import os, sys\nos.read(0, 9); sys.__stdin__.read()"), 0, "1/1|raises "),
    "garbage-loop": (lambda: first("import gc\ngc.callbacks.append(lambda *a: [gc.collect() for _ in iter(int, 1)])\nwhile True: x = []; x.append(x)"), 0, f"{LATE}|raises |{LARGE}"),
    # text
    "error-without-text": (lambda: fails_with("class E(Exception): __str__ = __repr__ = lambda s: 1 / 0\n    raise E"), 0, "raises "),
    "lone-surrogates": (lambda: fails_with("print('\\ud800'); raise ValueError('\\udfff' * 9)"), 0, f"raises |{GARBLED}|line |{LATE}|{CUT}"),
    "surrogates-in-the-source": (lambda: first("x = '\ud800'"), 0, "half a character"),
    "zero-bytes": (lambda: first("x = '\0'"), 0, "raises "),
    "deep-expression": (lambda: first("x = " + "-" * 40_000 + "1"), 0, "raises |the kernel died|1/1"),
    "deep-brackets": (lambda: first("x = " + "(" * 20_000 + ")" * 20_000), 0, "raises |the kernel died"),
    "deep-indent": (lambda: first("\n".join(" " * n + "if 1:" for n in range(300))), 0, "raises "),
    "odd-newlines": (lambda: first("x = 1\rimport os\x0cy = 2\u2028z = 3\x85"), 0, "raises |1/1"),
    "digits": (lambda: fails_with("print(10 ** 6000)"), 0, "raises ValueError"),
    "binary": (lambda: fails_with("print(bytes(range(256)).decode('latin-1')); return tokens[-window:]"), 0, "lines of its own|line "),
}  # fmt: skip


def rows() -> dict[str, Cell]:
    """Those of the self-check, with this batch's time limit in their words, and more."""
    known = {
        f"cell-{name}": (make, float(points), words.replace(f"{TIMEOUT} s", f"{SECONDS} s"))
        for name, (make, points, words) in CELLS.items()
    }
    return known | MORE


ROWS = rows()
UNREADABLE = {
    name: row for name, row in FILES.items() if row[1] == 0 or name in ("odd-cells", "bare-cells", "utf-16")
}  # fmt: skip
BOMBS: dict[str, Callable[[], bytes]] = {
    "values": lambda: b'{"cells": [' + b"[]," * 6_000_000 + b"1]}",
    "names": lambda: with_cell("\n".join(f"name{n} = {n}" for n in range(4_000))),
}
# In a sealed kernel these end in another way than in a plain one.
OTHERWISE = {
    "cell-print-20-mb": (0.0, f"{CUT}|{LATE}|{LARGE}"),
    "cell-huge-error": (0.0, f"{CUT}|{LATE}|{LARGE}"),
    "cell-memory": (0.0, "raises MemoryError|raises OverflowError"),
    "cell-breakpoint": (0.0, "1/1|raises "),
}
HONEST = ("honest-1", "honest-2", "honest-3")


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Run:
    base = tmp_path_factory.mktemp("broken")
    top, scratch, peaks = (base / name for name in ("batch", "scratch", "peaks"))
    for folder in (top, scratch, peaks):
        folder.mkdir()
    makers = {name: make for name, (make, _, _) in ROWS.items()}
    makers |= {f"file-{name}": row[0] for name, row in UNREADABLE.items()}
    makers |= {f"bomb-{name}": make for name, make in BOMBS.items()}
    makers |= {name: lambda: first("") for name in HONEST}
    makers |= {"wrong": lambda: text(answered(WRONG))}
    write_all(top, makers)
    limits = f'{{"cell_seconds": {SECONDS}, "grace_seconds": {GRACE}, "memory_mib": {MEMORY}}}'
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    result = run(top, "--ringkv-sealed", "-n", "2", "-p", "tests.grading.peak", "--durations=60", timeout=600,
                 RINGKV_LIMITS=limits, TMPDIR=str(scratch), PYTHONPATH=path,
                 RINGKV_PEAKS=str(peaks))  # fmt: skip
    result.left = sorted(os.listdir(scratch))
    result.peaks = sorted(int(path.read_text()) for path in peaks.iterdir())
    return result


def test_there_are_enough() -> None:
    assert len(ROWS) + len(UNREADABLE) + len(BOMBS) >= 45


@pytest.mark.parametrize("name", ROWS)
def test_it_ends_with_a_named_reason(batch: Run, name: str) -> None:
    points, words = OTHERWISE.get(name, ROWS[name][1:])
    part = batch.part(name)
    if points:
        assert batch.earned(name) == 1, part
        return
    words += (
        "" if DIED in words else f"|{LATE}"
    )  # a busy machine may be late; a death is seen at once
    assert any(word in part for word in words.split("|")), part
    assert batch.earned(name) <= batch.earned("wrong") or "1/1" in words, part


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_odd_file_is_named_or_graded(batch: Run, name: str) -> None:
    _, points, words = UNREADABLE[name]
    assert words in batch.part(f"file-{name}")
    assert batch.earned(f"file-{name}") == points


def test_a_file_of_millions_of_values_is_not_read(batch: Run) -> None:
    assert "cannot be read: the file holds millions of values" in batch.part("bomb-values")
    assert batch.earned("bomb-names") == 1


@pytest.mark.parametrize("name", HONEST)
def test_the_honest_beside_them_earn_everything(batch: Run, name: str) -> None:
    assert batch.earned(name) == 1, batch.part(name)


def test_the_batch_ends_whole(batch: Run) -> None:
    assert batch.code == 1
    for word in ("INTERNALERROR", "worker 'gw", "NOT SEALED", "cannot be graded"):
        assert word not in batch.output
    assert "sealed by" in batch.output


def test_no_time_limit_is_passed(batch: Run) -> None:
    """A cell that is stopped ends within its limit, its grace, and what a kill takes."""
    slow = re.findall(r"^([\d.]+)s call +(\S+)", batch.output, re.MULTILINE)
    assert [each for each in slow if float(each[0]) > 2 * (SECONDS + GRACE) + 2] == []


def test_the_graders_memory_stays_small(batch: Run) -> None:
    print("peaks in MiB:", [peak >> 20 for peak in batch.peaks])
    assert len(batch.peaks) == 3  # the controller and two workers
    assert sum(batch.peaks) < MOST_MEMORY


def test_nothing_is_left(batch: Run) -> None:
    """Neither folders nor processes outlive the run, not even those that try to."""
    assert [name for name in batch.left if name.startswith("ringkv-")] == []
    assert [p for p in psutil.process_iter(["cmdline"]) if MARK in (p.info["cmdline"] or ())] == []
