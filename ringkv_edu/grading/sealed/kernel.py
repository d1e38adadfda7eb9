"""A notebook kernel in a sealed place, watched from outside."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import psutil
import zmq
from jupyter_client.blocking import BlockingKernelClient

from ..kernel import DEAD_SECONDS, Kernel, KernelDied, TooMuchOutput
from .footprint import files_made, held_by, own_memory, room_left
from .limits import Limits
from .place import CONNECTION, SCRATCH, SOCKETS, environment, place_of
from .seal import Seal, command_in_place
from .view import write_view

__all__ = ["CutOff", "SealedKernel", "TooLarge"]

LARGEST_MESSAGE = 8 << 20  # bytes
MOST_QUEUED = 100  # messages that wait to be read, for each socket
MOST_GROWTH = 300 << 20  # bytes by which one cell's messages may make the grader grow
SEND_SECONDS, RECONNECT_SECONDS, START_SECONDS, READY_SECONDS = 5, 3, 60, 0.3
PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}


class TooLarge(KernelDied):
    """The kernel's processes took more than they may; the text says more of what."""


class CutOff(TooMuchOutput):
    """The kernel's connection broke: a message too large for it, or sockets closed inside."""


class SealedKernel(Kernel):
    """A kernel that sees only its lesson's view; ``seal`` says what holds it."""

    def __init__(
        self, lesson: str, seal: Seal, limits: Limits, masked: Iterable[Path] = ()
    ) -> None:
        self.limits, self.seal = limits, seal
        self.grace = limits.grace_seconds
        self._prepare(START_SECONDS)
        self.folder = Path(tempfile.mkdtemp(prefix="ringkv-"))
        for part in ("view", "s", "root", "answers"):
            (self.folder / part).mkdir()
            (self.folder / part).chmod(0o755)
        write_view(lesson, self.folder / "view")
        self._context = zmq.Context()
        try:
            self._launch(masked)
            self._connect()
        except BaseException:
            self.stop()
            raise
        self._end = time.monotonic() + limits.notebook_seconds

    def is_alive(self) -> bool:
        """Say whether the process runs that holds the place."""
        return hasattr(self, "process") and self.process.poll() is None

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for a cell's end, within what is left of the notebook's time."""
        if hasattr(self, "_end"):
            left = self._end - time.monotonic()
            self.cell_timeout = min(self.limits.cell_seconds, max(left, 0.1))
        self._before = own_memory()
        super().await_reply(msg_id, timeout)

    def late(self) -> str:
        """Say whose time was up: the cell's, or the whole notebook's."""
        if self.cell_timeout < self.limits.cell_seconds:
            return f"did not end before the notebook's {self.limits.notebook_seconds:g} s were over"
        return super().late()

    def rest(self) -> None:
        """Wait a moment; stop a kernel whose connection broke, or whose messages pile up."""
        super().rest()
        if own_memory() - self._before > MOST_GROWTH:
            self.kill()
            raise TooMuchOutput
        if any(monitor.poll(0) for monitor in self._monitors):
            with suppress(subprocess.TimeoutExpired):  # a kernel that died has hung up, too
                self.process.wait(DEAD_SECONDS)
                raise KernelDied
            self.kill()
            raise CutOff

    def watch(self) -> None:
        """Stop the kernel when it took too much; called while a cell runs."""
        held = held_by(self._processes())
        limits, sockets = self.limits, self.folder / "s"
        if held.memory > limits.memory_mib << 20:
            self._too_large(f"{limits.memory_mib} MiB of memory")
        if held.processes > limits.processes:
            self._too_large(f"{limits.processes} processes")
        if not room_left(sockets, limits.disk_mib << 20, limits.files) or self._many_files():
            self._too_large(f"{limits.disk_mib} MiB of files or {limits.files} of them")

    def interrupt(self) -> None:
        """Ask the cell to end, as a person would with Ctrl-C."""
        with suppress(psutil.Error, OSError, IndexError, ValueError):
            process = self._holder() if self.seal.name == "none" else self._first_inside()
            os.killpg(os.getpgid(process.pid), signal.SIGINT)

    def kill(self) -> None:
        """Stop everything in the place, whatever it did to stay."""
        if not hasattr(self, "process"):
            return
        everything = self.seal.name == "none"
        with suppress(psutil.Error):
            # the first process of a place takes all the others with it
            for process in self._holder().children(recursive=everything):
                with suppress(psutil.Error):
                    process.kill()
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)

    def stop(self) -> None:
        """Stop the processes, and remove what was made for them."""
        self.kill()
        for monitor in getattr(self, "_monitors", ()):
            monitor.close(linger=0)
        self._monitors: list[Any] = []
        self._context.destroy(linger=0)
        try:
            shutil.rmtree(self.folder, ignore_errors=True)
        except RecursionError:  # folders in folders, thousands deep
            subprocess.run(["rm", "-rf", "--", str(self.folder)], check=False)

    def _launch(self, masked: Iterable[Path]) -> None:
        facts = {"transport": "ipc", "ip": str(self.folder / "s" / "k"), **PORTS,
                 "key": secrets.token_hex(16), "signature_scheme": "hmac-sha256"}  # fmt: skip
        self.facts, sealed = facts, self.seal.name != "none"
        inside = self.folder / "inside.json"
        inside.write_text(
            json.dumps(facts | ({"ip": f"{SOCKETS}/k"} if sealed else {})), encoding="utf-8"
        )
        inside.chmod(0o644)  # no secret from the kernel, and the folder above is the grader's
        file = CONNECTION if sealed else str(inside)
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", file,
                   "--HistoryManager.enabled=False"]  # fmt: skip
        if sealed:
            view, sockets, root = (self.folder / part for part in ("view", "s", "root"))
            place = place_of(view, sockets, root, self.limits, masked, inside)
            command = command_in_place(self.seal, place, self.folder, command)
            self._owned_by(place["uid"])
        self.process = subprocess.Popen(
            command, env=environment() | ({} if sealed else self._unsealed()),
            cwd=self.folder / "answers", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def _owned_by(self, uid: int) -> None:
        """Say who may make files where the sockets are; another user than root is always itself."""
        if os.getuid() == 0:
            os.chown(self.folder / "s", uid, uid)

    def _connect(self) -> None:
        """Meet the kernel once its sockets are there; nothing else of it is ever connected to."""
        for option, value in (
            (zmq.MAXMSGSIZE, LARGEST_MESSAGE),
            (zmq.RCVHWM, MOST_QUEUED),
            (zmq.SNDTIMEO, SEND_SECONDS * 1000),
            (zmq.RECONNECT_IVL, RECONNECT_SECONDS * 1000),
        ):
            self._context.setsockopt(option, value)
        end = time.monotonic() + START_SECONDS
        while not all(Path(f"{self.facts['ip']}-{port}").exists() for port in PORTS.values()):
            if not self.is_alive() or time.monotonic() > end:
                raise RuntimeError("the kernel did not start")
            time.sleep(0.01)
        self.kc = BlockingKernelClient(context=self._context)
        self.kc.load_connection_info(self.facts)
        self.kc.start_channels(stdin=False, hb=False, control=False)
        self._monitors = [s.get_monitor_socket(zmq.EVENT_DISCONNECTED) for s in self._sockets()]
        self._await_ready(end)
        self._owned_by(0)  # what the kernel may write to from now on is gone with it

    def _await_ready(self, end: float) -> None:
        """Ask until an answer comes on both sockets: one subscribes a little after it connects."""
        while time.monotonic() < end:
            msg_id = self.kc.kernel_info()
            with suppress(Empty):
                self.await_reply(msg_id)
                self.await_idle(msg_id, READY_SECONDS)
                return
        raise RuntimeError("the kernel did not answer")

    def _unsealed(self) -> dict[str, str]:
        home = self.folder / "answers"
        return {
            "PYTHONPATH": str(self.folder / "view"),
            "HOME": str(home),
            "TMPDIR": str(home),
            "IPYTHONDIR": str(home / ".ipython"),
            "MPLCONFIGDIR": str(home / ".matplotlib"),
        }

    def _too_large(self, what: str) -> None:
        self.kill()
        raise TooLarge(f"more than {what}")

    def _holder(self) -> psutil.Process:
        return psutil.Process(self.process.pid)

    def _many_files(self) -> bool:
        """Say whether it made too many files in memory; not every seal can limit them."""
        if self.seal.name == "none":
            return False
        with suppress(psutil.Error, IndexError):
            first = self._holder().children()[0]
            return any(files_made(first, place) > self.limits.files for place in SCRATCH)
        return False

    def _first_inside(self) -> psutil.Process:
        """Give the kernel itself: the first child of the first process of its place."""
        first = self._holder().children()[0]
        return min(first.children(), key=lambda child: child.create_time())

    def _processes(self) -> Sequence[psutil.Process]:
        with suppress(psutil.Error):
            holder = self._holder()
            return [holder, *holder.children(recursive=True)]
        return []
