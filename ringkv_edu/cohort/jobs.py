"""One job for each notebook that counts; the same on this machine and on a cluster's workers."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..grading.sealed.limits import Limits

__all__ = ["Job", "run_job", "stop_all"]

SPARE_SECONDS = 90  # to start the process, and the kernel, on a busy machine
NAME = "{lesson}.ipynb"
_live: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True)
class Job:
    """Everything that grading one notebook needs, as plain data. ``masked`` are folders to hide."""

    learner: str
    lesson: str
    data: bytes
    oracle: str
    seal: str
    limits: Limits
    masked: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """A name that changes when anything does that a result depends on."""
        facts = (self.learner, self.lesson, self.seal, asdict(self.limits))
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for part in (self.data, self.oracle.encode()):
            digest.update(hashlib.sha256(part).digest())
        return digest.hexdigest()[:24]


def run_job(job: Job) -> dict[str, Any]:
    """Grade in a new process; whatever happens to it, give a result."""
    with tempfile.TemporaryDirectory(prefix="ringkv-") as name:
        folder = Path(name)
        (folder / "notebook").mkdir()
        file = NAME.format(lesson=job.lesson)
        (folder / "notebook" / file).write_bytes(job.data)
        (folder / "oracle.json").write_text(job.oracle, encoding="utf-8")
        about = {"file": file, "limits": asdict(job.limits), "seal": job.seal}
        about["masked"] = [*job.masked, str(folder)]
        (folder / "job.json").write_text(json.dumps(about), encoding="utf-8")
        ended = _process(folder, job.limits.notebook_seconds + SPARE_SECONDS)
        try:
            return dict(json.loads((folder / "result.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {"problem": ended or "the grader ended without a result", "rows": []}


def _process(folder: Path, seconds: float) -> str:
    """Run the grader on a folder; say how it ended, if not well."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ringkv_edu.cohort.job", str(folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        cwd=folder, env=_environment(), start_new_session=True,
    )  # fmt: skip
    _live.add(process)
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _kill(process)
        return f"it was not graded within {seconds:g} s"
    finally:
        _live.discard(process)
    if process.returncode == 0:
        return ""
    last = said.decode("utf-8", errors="replace").strip().splitlines()[-1:]
    return f"the grader ended with {process.returncode}: {''.join(last)}"


def stop_all() -> None:
    """Stop every grader that this process has started."""
    for process in list(_live):
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def _environment() -> Mapping[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "RINGKV_"))}
    return plain | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
