"""Seeds that a learner cannot know and an instructor can draw again, for an appeal."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator

__all__ = ["ATTEMPTS", "KINDS", "fresh_key", "seeds"]

KINDS = ("run", "learner", "submission")
ATTEMPTS = 100
BITS = 48


def fresh_key() -> str:
    """Give a new key: 128 random bits, as text."""
    return secrets.token_hex(16)


def seeds(key: str, lesson: str, whose: str = "") -> Iterator[int]:
    """Give seeds for a lesson, one after the other, until one is taken.

    ``whose`` is a learner's id or a submission's digest, or empty for one seed for all. The first
    is HMAC-SHA256 of key, lesson and ``whose`` (RFC 2104); the next are for references that lie
    near a rounding edge.
    """
    for attempt in range(ATTEMPTS):
        text = f"{lesson}\n{whose}\n{attempt}".encode()
        digest = hmac.new(key.encode(), text, hashlib.sha256).digest()
        yield 1 + int.from_bytes(digest[: BITS // 8], "big")
