"""Files that are written whole or not at all, and names that every file system can hold."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

__all__ = ["CHANGED", "RESERVED", "cleaned", "file_name", "write"]

PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
CHANGED = re.compile(r".*-[0-9a-f]{12}", re.DOTALL)
RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")  # Windows keeps these for devices
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
LONGEST_SLUG = 40


def file_name(id: str) -> str:
    """Give a file's name, without an ending, for a learner's id: no two ids share one.

    A short id of lower-case letters, digits, ``-`` and ``_`` is its own name. Anything else, such
    as capitals, which some file systems do not tell apart, becomes what is left of it and a hash.
    """
    if PLAIN.fullmatch(id) and not RESERVED.fullmatch(id) and not CHANGED.fullmatch(id):
        return id
    bare = unicodedata.normalize("NFKD", id).encode("ascii", errors="ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")[:LONGEST_SLUG].strip("-")
    digest = hashlib.sha256(id.encode("utf-8", errors="surrogatepass")).hexdigest()[:12]
    return f"{slug or 'learner'}-{digest}"


def cleaned(text: str) -> str:
    """Leave out the characters that XML and HTML forbid, and halves of characters."""
    return FORBIDDEN.sub("", text)


def write(path: Path, text: str | bytes) -> None:
    """Write a file beside its place and move it there; a reader never sees half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", errors="replace"))
    part.replace(path)
