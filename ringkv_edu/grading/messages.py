"""What a kernel sends: counted, then parsed, then held against the few forms that are of use.

An answer's code can send anything in its kernel's name. What is too large or has another form
than the protocol's never reaches the code that compares outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = [
    "BYTES_PER_CHARACTER",
    "MESSAGE_COST",
    "Garbled",
    "is_output",
    "parsed",
    "size",
    "values",
]

MESSAGE_COST = 200  # what an empty message counts for, so that many small ones end, too
BYTES_PER_CHARACTER = 8  # a message's bytes, its headers among them, for each character it may hold
FRAME_BYTES = 64  # what a part of a message costs to hold, be it empty


class Garbled(Exception):
    """A message that no kernel would send by itself."""


def size(frames: Sequence[bytes]) -> int:
    """Give the bytes that a message takes to hold, unread."""
    return MESSAGE_COST + sum(len(frame) + FRAME_BYTES for frame in frames)


def values(frames: Sequence[bytes]) -> int:
    """Say how many values a message's JSON text can make at most."""
    return sum(frame.count(b",") + frame.count(b"[") + frame.count(b"{") for frame in frames)


def parsed(session: Any, frames: Sequence[bytes]) -> tuple[dict[str, Any], int]:
    """Read a message; give it with the count of its characters. Raises ``Garbled``."""
    try:
        _, parts = session.feed_identities(list(frames))
        message = dict(session.deserialize(parts))
        if not _well_formed(message):
            raise Garbled(f"a message of type {str(message['msg_type'])[:40]!r} of another form")
        return message, _characters(message["content"])
    except Garbled:
        raise
    except Exception as error:  # whatever the parts of the protocol make of odd bytes
        raise Garbled(type(error).__name__) from None


def is_output(message: Mapping[str, Any]) -> bool:
    """Say whether a message is one of those that a cell's outputs are made from."""
    return message["msg_type"] in FORMS


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _dict(value: Any) -> bool:
    return isinstance(value, dict)


def _any(value: Any) -> bool:
    return True


FORMS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "status": {"execution_state": _text},
    "stream": {"name": _text, "text": _text},
    "error": {"ename": _text, "evalue": _text, "traceback": _texts},
    "display_data": {"data": _dict, "metadata": _dict},
    "execute_result": {"data": _dict, "metadata": _dict, "execution_count": _any},
}


def _well_formed(message: Mapping[str, Any]) -> bool:
    content, parent = message["content"], message["parent_header"]
    if not (isinstance(message["msg_type"], str) and _dict(content) and _dict(parent)):
        return False
    form = FORMS.get(message["msg_type"], {})
    return all(field in content and right(content[field]) for field, right in form.items())


def _characters(content: Any) -> int:
    """Count the characters of everything in a message's content."""
    total, parts = 0, [content]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, list):
            parts += part
        else:
            total += len(part) if isinstance(part, str) else 8
    return total
