"""A notebook kernel in a sealed place, watched from outside."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil
import zmq
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

from ..kernel import Kernel, KernelDied
from .limits import Limits
from .seal import CONNECTION, SOCKETS, Seal, command_in_place, environment, place_of
from .view import write_view

__all__ = ["SealedKernel", "TooLarge"]

LOOK_EVERY = 0.2
LARGEST_MESSAGE = 16 << 20  # bytes; a kernel that sends more is cut off


class TooLarge(KernelDied):
    """The kernel's processes held more memory or disk than they may."""


class SealedKernel(Kernel):
    """A kernel that sees only its lesson's view; ``seal`` says what holds it."""

    def __init__(
        self, lesson: str, seal: Seal, limits: Limits, masked: Iterable[Path] = ()
    ) -> None:
        self.limits = limits
        self._prepare(limits.cell_seconds)
        self._end = time.monotonic() + limits.notebook_seconds
        self._next_look = 0.0
        self.folder = Path(tempfile.mkdtemp(prefix="ringkv-"))
        for part in ("view", "s", "root", "answers"):
            (self.folder / part).mkdir()
        write_view(lesson, self.folder / "view")
        self._start(seal, masked)
        self._ensure_iopub_up()

    def _start(self, seal: Seal, masked: Iterable[Path]) -> None:
        sockets, inside = self.folder / "s", self.folder / "inside.json"
        self.km = KernelManager(
            transport="ipc",
            ip=str(sockets / "k"),
            connection_file=str(self.folder / "outside.json"),
        )
        self.km.write_connection_file()
        facts = json.loads(Path(self.km.connection_file).read_text(encoding="utf-8"))
        sealed = seal.name != "none"
        if sealed:
            facts["ip"] = f"{SOCKETS}/k"
        inside.write_text(json.dumps(facts), encoding="utf-8")
        file = CONNECTION if sealed else str(inside)
        command = [
            sys.executable,
            "-m",
            "ipykernel_launcher",
            "-f",
            file,
            "--HistoryManager.enabled=False",
        ]
        if sealed:
            place = place_of(
                self.folder / "view", sockets, self.folder / "root", self.limits, masked, inside
            )
            command = command_in_place(seal, place, self.folder, command)
        self.km._kernel_spec = KernelSpec(argv=command, language="python", display_name="sealed")
        self.km.start_kernel(
            env=environment() | ({} if sealed else self._unsealed()),
            cwd=str(self.folder / "answers"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.kc = self.km.client()
        self.kc.start_channels()
        for channel in (self.kc.shell_channel, self.kc.iopub_channel):
            channel.socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        try:
            self.kc.wait_for_ready(timeout=60)
        except RuntimeError:
            self.stop()
            raise

    def _unsealed(self) -> dict[str, str]:
        home = self.folder / "answers"
        return {
            "PYTHONPATH": str(self.folder / "view"),
            "HOME": str(home),
            "TMPDIR": str(home),
            "IPYTHONDIR": str(home / ".ipython"),
            "MPLCONFIGDIR": str(home / ".matplotlib"),
        }

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for a cell's end, within what is left of the notebook's time."""
        left = self._end - time.monotonic()
        self.cell_timeout = min(self.limits.cell_seconds, max(left, 0.1))
        super().await_reply(msg_id, timeout)

    def watch(self) -> None:
        """Stop the kernel when it took too much memory, disk or time; called while a cell runs."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_EVERY
        if self._memory() > self.limits.memory_mib << 20:
            self.kill()
            raise TooLarge(f"more than {self.limits.memory_mib} MiB of memory")
        if _size(self.folder / "s") > self.limits.disk_mib << 20:
            self.kill()
            raise TooLarge(f"more than {self.limits.disk_mib} MiB of files")

    def stop(self) -> None:
        """Stop the processes, and remove what was made for them."""
        super().stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _memory(self) -> int:
        held = 0
        with suppress(psutil.Error, AttributeError):
            first = psutil.Process(self.km.provisioner.pid)
            for process in (first, *first.children(recursive=True)):
                with suppress(psutil.Error):
                    held += process.memory_info().rss
        return held


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total
