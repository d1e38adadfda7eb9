"""Writes a talk as one HTML file: no network, arrow keys, notes, and one slide a page in print."""

from __future__ import annotations

from html import escape
from importlib import resources
from pathlib import Path

from .reading import Block, markdown
from .talk import Slide, talk

__all__ = ["deck", "render"]

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{pages}
</main>
<div id="help" role="dialog" aria-label="Keys" hidden><dl>
<dt>right, space</dt><dd>next slide</dd><dt>left</dt><dd>the one before</dd>
<dt>Home, End</dt><dd>first, last</dd><dt>n</dt><dd>notes, and in print notes below each slide</dd>
<dt>a</dt><dd>all slides, or one</dd><dt>?</dt><dd>this help</dd>
</dl></div>
<p id="said" aria-live="polite" style="position:absolute;width:1px;height:1px;overflow:hidden;\
clip-path:inset(50%)"></p>
<script>
{script}</script>
</body>
</html>
"""
COURSE = "ringkv_edu: a sliding window is a ring, and a slot is not a position"


def deck(lesson: str, solutions: Path | None = None) -> str:
    """Write the slides of a lesson, called by its name, as one HTML file.

    With the folder ``solutions`` each exercise is followed by an answer and its reason.
    """
    slides = talk(lesson, solutions)
    spoken, pages = 0.0, []
    for number, slide in enumerate(slides, 1):
        pages.append(_page(slide, number, len(slides), spoken))
        spoken += slide.minutes
    here = resources.files(__package__)
    return PAGE.format(
        title=escape(slides[0].title),
        style=(here / "deck.css").read_text(encoding="utf-8"),
        script=(here / "deck.js").read_text(encoding="utf-8"),
        pages="\n".join(pages),
    )


def render(block: Block) -> str:
    """Write one block as HTML."""
    if block.picture:
        source = f"data:image/png;base64,{block.picture.data}"
        return f'<p class="picture"><img src="{source}" alt="{escape(block.picture.alt)}"></p>'
    if block.kind == "live":
        return f'<p class="run"><b>live</b> {_inline(block.source)}</p>'
    text = str(markdown().render(block.source)).strip()
    if block.kind == "table" and _first_column(block.source) > 34:
        return text.replace("<table>", '<table class="wide">', 1)
    return text


def _page(slide: Slide, number: int, many: int, spoken: float) -> str:
    kinds = [slide.kind] * bool(slide.kind) + ["pictured"] * any(b.picture for b in slide.blocks)
    top = "h1" if slide.kind == "title" else "h2"
    lines = [
        f'<div class="page" role="group" aria-label="Slide {number} of {many}">',
        f'<section class="{" ".join(kinds)}">',
        f"<header><{top}>{_inline(slide.title)}</{top}>",
        f'<p class="kicker">{escape(slide.kicker)}</p>' if slide.kicker else "",
        "</header>",
        '<div class="body">',
        *map(render, slide.blocks),
        "</div>",
        f'<p class="course">{escape(COURSE)}</p>' if slide.kind == "title" else "",
        f'<div class="number">{number} / {many}</div>',
        "</section>",
        '<aside class="notes" aria-label="Notes">',
        f"<h3>{_clock(slide.minutes, spoken)}</h3>",
        *(str(markdown().render(note)).strip() for note in slide.notes),
        "</aside>",
        "</div>",
    ]
    return "\n".join(line for line in lines if line)


def _clock(minutes: float, spoken: float) -> str:
    unit = "minute" if minutes <= 1 else "minutes"
    return f"To say: {minutes:g} {unit}. Said so far: {spoken:g}."


def _inline(text: str) -> str:
    return str(markdown().renderInline(text))


def _first_column(table: str) -> int:
    return max(len(line.split("|")[1].strip()) for line in table.splitlines())
