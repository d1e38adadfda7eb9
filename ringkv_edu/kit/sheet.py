"""Makes pages to print: the cheat sheet from its markdown, and cards for ten minutes unplugged."""

from __future__ import annotations

import re
from html import escape
from importlib import resources

from .reading import markdown

__all__ = ["cards", "sheet"]

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
TOKENS = ("to", "be", "or", "not", "to", "be", "that", "is", "the", "question")


def sheet(text: str) -> str:
    """Write a markdown page as one HTML page in two columns, a section for each heading."""
    opening, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, lead = opening.strip().partition("\n")
    title = title.removeprefix("# ")
    body = [
        f"<h1>{escape(title)}</h1>",
        str(markdown().render(lead.strip())).replace("<p>", '<p class="lead">'),
        "<main>",
        *(f"<section>\n{markdown().render('## ' + section)}</section>" for section in sections),
        "</main>",
    ]
    return _page(title, "\n".join(body))


def cards(tokens: int = 10, slots: int = 4) -> str:
    """Write ``tokens`` numbered cards (at most ten), ``slots`` signs for cups, and two signs."""
    deck = [f'<section><p class="big">{n}</p><p class="small">{escape(TOKENS[n])}</p></section>'
            for n in range(tokens)]  # fmt: skip
    cups = [f'<section class="cup"><p class="big">{n}</p><p class="small">slot {n}</p></section>'
            for n in range(slots)]  # fmt: skip
    asks = ["I ask: whom do I see?", "I see back to ____"]
    signs = [f'<section class="asks"><p class="big">{text}</p></section>' for text in asks]
    body = [
        '<h1 style="position:absolute;clip-path:inset(50%);width:1px;height:1px">Cards</h1>',
        '<main class="cards">', *deck, "</main>",
        '<div class="cards">', *cups, *signs, "</div>",
    ]  # fmt: skip
    return _page("Ten cards, four cups", "\n".join(body))


def _page(title: str, body: str) -> str:
    style = (resources.files(__package__) / "sheet.css").read_text(encoding="utf-8")
    return PAGE.format(title=escape(title), style=style, body=body)
