"""Reads a released lesson as a speaker does: parts with headings, blocks and pictures.

Markdown is read by markdown-it-py, which keeps the lines that each block came from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from ..grading.release import lessons, role_of, source_of

__all__ = ["HEADER", "Block", "Part", "Picture", "markdown", "parts", "sentences"]

HEADER = re.compile(
    r"\*Difficulty (?P<difficulty>[1-5]) of 5 · (?P<minutes>\d+) minutes? · "
    r"(?P<points>no|\d+) points?\*"
)
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(attachment:(?P<file>[\w.-]+)\)")
KINDS = {
    "heading_open": "heading", "paragraph_open": "text", "bullet_list_open": "list",
    "ordered_list_open": "list", "table_open": "table", "fence": "code",
    "blockquote_open": "quote",
}  # fmt: skip
END = re.compile(r"(?<=[.!?])(?P<close>[*)\"']*)\s+(?=[A-Z`*(\[\"0-9])")


@dataclass(frozen=True)
class Picture:
    """A picture as it lies in the notebook: a PNG in base64, and what it shows in words."""

    data: str
    alt: str


@dataclass(frozen=True)
class Block:
    """A paragraph, list, table, quote or piece of code, as its source; or a picture."""

    kind: str  # text, list, table, quote, code, picture, live
    source: str
    picture: Picture | None = None


@dataclass
class Part:
    """What stands under one heading of a lesson, or in a cell below it that has no heading.

    ``minutes`` is what the exercise's own header says, 0 for a part that is no exercise.
    """

    cell: str
    title: str
    level: int
    blocks: list[Block] = field(default_factory=list)
    difficulty: int = 0
    minutes: int = 0
    points: int = 0
    goes_on: bool = False  # has no heading of its own
    reason: bool = False  # an answer, and why it is right


def markdown() -> MarkdownIt:
    """Give the reader and writer of markdown: CommonMark and tables, and no raw HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def parts(lesson: str, solutions: Path | None = None) -> list[Part]:
    """Give a lesson's parts in their order; ``lesson`` is its name, as 01_plain_python_ring.

    With the folder ``solutions`` the answers and their reasons are parts, too.
    """
    found: list[Part] = []
    answer: list[Block] = []
    for cell in _cells(lesson, solutions):
        role = role_of(cell)
        if role == "answer":
            answer = [Block("code", f"```python\n{source_of(cell).strip()}\n```")]
        elif role == "solution":
            blocks = [*_blocks(cell), *answer]
            found.append(Part(str(cell["id"]), found[-1].title, 2, blocks, reason=True))
        elif cell["cell_type"] == "markdown":
            for part in _prose(cell):
                if not part.title and found:
                    part.title, part.goes_on = found[-1].title, True
                found.append(part)
        elif _shows(cell) and found:
            found.append(Part(str(cell["id"]), found[-1].title, 2, [_live(cell)], goes_on=True))
    return found


def _cells(lesson: str, solutions: Path | None) -> list[dict[str, Any]]:
    """Give the cells of the released lesson, or of its solution."""
    if solutions is None:
        return list(lessons()[lesson].book["cells"])
    text = (solutions / f"{lesson}.ipynb").read_text(encoding="utf-8")
    return list(json.loads(text)["cells"])


def sentences(text: str) -> list[str]:
    """Cut a paragraph into sentences; never inside bold text, code or parentheses."""
    whole, found = " ".join(text.split()), [""]
    pieces, begin = [], 0
    for match in END.finditer(whole):
        pieces.append(whole[begin : match.end("close")])
        begin = match.end()
    for piece in [*pieces, whole[begin:]]:
        found[-1] = f"{found[-1]} {piece}".strip()
        if _balanced(found[-1]):
            found.append("")
    return [sentence for sentence in found if sentence]


def _balanced(text: str) -> bool:
    bare = re.sub(r"`[^`]*`", "", text)
    return (
        "`" not in bare and bare.count("**") % 2 == 0 and bare.count("(") == bare.count(")")
    )  # fmt: skip


def _prose(cell: dict[str, Any]) -> Iterator[Part]:
    """Cut a markdown cell at its headings."""
    part = Part(str(cell["id"]), "", 2)
    for block in _blocks(cell):
        if block.kind == "heading":
            if part.blocks or part.title:
                yield part
            signs, _, title = block.source.partition(" ")
            part = Part(str(cell["id"]), title.strip(), len(signs))
            continue
        header = HEADER.fullmatch(block.source.strip()) if block.kind == "text" else None
        if header:
            points = header["points"]
            part.difficulty, part.minutes = int(header["difficulty"]), int(header["minutes"])
            part.points = 0 if points == "no" else int(points)
            continue
        part.blocks.append(block)
    yield part


def _blocks(cell: dict[str, Any]) -> Iterator[Block]:
    text = source_of(cell)
    lines = text.splitlines()
    for token in markdown().parse(text):
        if token.level or token.type not in KINDS or token.map is None:
            continue
        source = "\n".join(lines[slice(*token.map)]).strip()
        image = IMAGE.fullmatch(" ".join(source.split()))
        if image:
            data = cell["attachments"][image["file"]]["image/png"]
            picture = Picture("".join(data.split()), image["alt"])
            yield Block("picture", image["alt"], picture)
        else:
            yield Block(KINDS[token.type], source)


def _shows(cell: dict[str, Any]) -> bool:
    role = role_of(cell)
    return role in ("scene", "volatile") and not str(cell["id"]).endswith("-save")


def _live(cell: dict[str, Any]) -> Block:
    """Say which cell is run before the audience, and what its own comment says first."""
    lines = source_of(cell).splitlines()
    said = sentences(" ".join(line.lstrip("# ") for line in lines if line.startswith("#")))
    return Block("live", " ".join([f"run the cell `{cell['id']}`.", *said[:1]]))
