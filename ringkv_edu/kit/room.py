"""How much room a block takes on a slide, by estimate, and where one that is too tall is cut."""

from __future__ import annotations

import re

from .reading import Block

__all__ = ["GAP", "HEIGHT", "cut", "height"]

WIDTH, HEIGHT = 1160, 580  # room on a slide of 1280 x 720, below its title
LINE, GAP, LETTER = 38, 14, 13.2  # pixels: a line of text, between blocks, a letter's width
ROW, CELL_LETTER, CELL_LINE = 15, 11.0, 27
CODE_LINE, CODE_LETTER = 28, 12.8
PICTURE = 340  # pixels that a picture needs; it takes what the rest of the slide leaves
ITEM = re.compile(r"\n(?=[-*] |\d+\. )")  # between the items of a list


def cut(block: Block) -> list[Block]:
    """Cut a block that is taller than a slide into pieces that are not."""
    how = {"table": _cut_table, "list": _cut_list, "code": _cut_code}.get(block.kind)
    return how(block) if how else [block]


def _cut_table(block: Block) -> list[Block]:
    """Cut a table that is taller than a slide; each piece has the heads."""
    head, rule, *rows = block.source.splitlines()
    pieces: list[list[str]] = [[]]
    for row in rows:
        if (
            pieces[-1]
            and height(Block("table", "\n".join([head, rule, *pieces[-1], row]))) > HEIGHT
        ):
            pieces.append([])
        pieces[-1].append(row)
    return [Block("table", "\n".join([head, rule, *piece])) for piece in pieces]


def _cut_list(block: Block) -> list[Block]:
    """Cut a list that is taller than a slide between two of its items."""
    pieces: list[list[str]] = [[]]
    for item in ITEM.split(block.source):
        if pieces[-1] and height(Block("list", "\n".join([*pieces[-1], item]))) > HEIGHT:
            pieces.append([])
        pieces[-1].append(item)
    return [Block("list", "\n".join(piece)) for piece in pieces]


def _cut_code(block: Block) -> list[Block]:
    """Cut code that is taller than a slide, at an empty line where there is one."""
    fence, *lines, end = block.source.splitlines()
    most = HEIGHT // CODE_LINE - 2
    pieces = []
    while len(lines) > most:
        gaps = [place for place in range(most // 2, most) if not lines[place].strip()]
        cut = gaps[-1] if gaps else most
        pieces.append(lines[:cut])
        lines = lines[cut + bool(gaps) :]
    return [Block("code", "\n".join([fence, *piece, end])) for piece in [*pieces, lines]]


def height(block: Block) -> int:
    """Estimate how many pixels a block takes; a browser shrinks what was estimated too low."""
    if block.picture:
        return PICTURE
    if block.kind == "table":
        return _table_height(block.source)
    lines = block.source.splitlines()
    if block.kind == "code":
        return CODE_LINE * sum(_lines(line, CODE_LETTER, WIDTH - 36) for line in lines[1:-1]) + 24
    if block.kind == "list":
        items = [" ".join(item.split()) for item in ITEM.split(block.source)]
        return sum(LINE * _lines(item, LETTER, WIDTH - 40) + 6 for item in items)
    return LINE * _lines(" ".join(lines), LETTER, WIDTH)


def _table_height(source: str) -> int:
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in source.splitlines()]
    del rows[1]
    cells = [[cell.strip() for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    room = (WIDTH - 28 * len(widths)) / CELL_LETTER
    share = min(1.0, room / max(sum(widths), 1))
    lines = [
        max(
            _lines(cell, 1.0, max(width * share, 6))
            for cell, width in zip(row, widths, strict=True)
        )
        for row in cells
    ]
    return sum(CELL_LINE * many + ROW for many in lines)


def _lines(text: str, letter: float, width: float) -> int:
    bare = re.sub(r"[*`]", "", text)
    return max(1, -int(-len(bare) * letter // width))
