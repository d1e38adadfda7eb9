"""Pages that need no network and no script, on a screen of any width and on paper.

Every text is escaped unless it is ``Html``, which only ``tag`` and its like make.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

from ...grading.explain import clean
from ..gradebook import Book, release_digest
from .files import cleaned
from .words import share

__all__ = [
    "Html",
    "bar",
    "code",
    "how",
    "items",
    "join",
    "page",
    "person",
    "section",
    "table",
    "tag",
]

LONGEST_TITLE, BAR = 120, 10
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class Html(str):
    """Markup, with every text in it escaped."""

    __slots__ = ()


def tag(name: str, *inside: str, **attributes: str) -> Html:
    """Make an element; ``class_`` stands for ``class``, and ``aria_label`` for ``aria-label``."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{given}>{join(inside)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Put markup and texts one behind the other."""
    return Html("".join(part if isinstance(part, Html) else _escaped(part) for part in parts))


def _escaped(text: str) -> str:
    return html.escape(cleaned(text))


def person(text: str) -> Html:
    """Write a name or an id so that its direction of writing does not spread to what follows."""
    return tag("bdi", text)


def code(text: str) -> Html:
    """Write what a program printed, or a person types."""
    return tag("code", text, dir="ltr")


def items(*lines: str) -> Html:
    """Make a list."""
    return tag("ul", *(tag("li", line) for line in lines))


def bar(part: float, whole: float) -> Html:
    """Write a share in per cent, and draw it in characters before that."""
    full = round(BAR * part / whole) if whole else 0
    drawn = tag("span", "█" * full + "░" * (BAR - full), class_="bar small", aria_hidden="true")
    return join([drawn, tag("span", share(part, whole), class_="share")])


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()
) -> Html:
    """Make a table whose first cells head their lines; ``numbers`` are columns to set right.

    It can be scrolled, by keyboard too, where a screen is narrower than it is.
    """
    kinds = ["number" if place in numbers else "words" for place in range(len(head))]
    top = (tag("th", h, scope="col", class_=k) for h, k in zip(head, kinds, strict=True))
    body = (
        tag("tr", *(_cell(place, cell, kinds[place]) for place, cell in enumerate(row)))
        for row in rows
    )
    whole = tag(
        "table", tag("caption", caption), tag("thead", tag("tr", *top)), tag("tbody", *body)
    )
    return tag("div", whole, class_="wide", role="group", tabindex="0", aria_label=caption)


def _cell(place: int, cell: str, kind: str) -> Html:
    if place == 0:
        return tag("th", cell, scope="row", class_=kind)
    return tag("td", cell, class_=kind)


def section(id: str, title: str, *inside: str) -> Html:
    """Make a part of a page, named by its heading."""
    head = tag("h2", title, id=id)
    return tag("section", head, *inside, aria_labelledby=id)


def page(book: Book, title: str, head: Html, *sections: str) -> str:
    """Make a whole page; one that was not sealed says so before anything else."""
    banner = Html() if book.sealed else tag("p", book.sealing, class_="warning", role="note")
    name = clean(title if book.sealed else f"NOT SEALED: {title}", LONGEST_TITLE)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="robots" content="noindex">\n<meta name="color-scheme" content="light dark">\n'
        f"{tag('title', name)}\n<style>\n{_style()}</style>\n</head>\n<body>\n"
        f"{tag('header', banner, head)}\n{tag('main', *_lines(sections))}\n</body>\n</html>\n"
    )


def _lines(sections: Iterable[str]) -> Iterable[str]:
    return (join(["\n", one]) for one in sections)


@cache
def _style() -> str:
    return resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def how(book: Book) -> Html:
    """Say how the points came about, for a page's end."""
    kinds = {"run": "for all", "learner": "for each learner", "submission": "for each file"}
    return section(
        "how",
        "How this was graded",
        items(
            f"{book.sealing[:1].upper()}{book.sealing[1:]}.",
            "The source of the answer cells was put into the released notebook. Outputs, points "
            "and other cells of a file that is handed in count for nothing.",
            "What a graded cell prints is compared line by line with what the right answer prints. "
            "A line that any answer would print earns nothing by itself.",
            join(["Seeds were drawn ", kinds[book.seeds], " from a key with the fingerprint ",
                  code(book.key), ", out of the release ", code(release_digest()), "."]),
        ),
    )  # fmt: skip
