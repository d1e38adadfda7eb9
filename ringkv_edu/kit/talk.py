"""Makes a talk of a lesson: what stands on each slide, and what is said beside it.

On a slide stand headings, tables, pictures, code, and of each paragraph its rule (what is set in
bold), its first sentence and what it asks for. The whole paragraph goes to the speaker's notes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..grading.release import lessons
from .reading import Block, Part, parts, sentences
from .room import GAP, HEIGHT, cut, height

__all__ = ["Slide", "lesson_names", "talk"]

ALMOST = 1.2  # a slide may be so much too full if that saves one that is nearly empty
TASKS = ("Write ", "Mend ", "Fill in", "Find ", "Give ", "Which ", "Draw ", "Return ")
POINTS_BACK = ("It ", "Its ", "That ", "They ", "This ", "These ", "There ", "So ")
FOR_NOTES = ("The last cell", "A check that fails", "When a check fails", "In the check's cases",
             "Click a cell")  # fmt: skip
CODE = re.compile(r"`[^`]*`")
WORDS_A_MINUTE = 130


@dataclass
class Slide:
    """One page of a talk. ``minutes`` is how long it takes to say, not to solve."""

    title: str
    kicker: str = ""
    blocks: list[Block] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kind: str = ""  # title, agenda, exercise, reason, or nothing
    minutes: float = 0.5

    @property
    def height(self) -> int:
        """How many pixels the blocks take, by estimate."""
        return sum(height(block) + GAP for block in self.blocks)


def talk(lesson: str, solutions: Path | None = None) -> list[Slide]:
    """Make the slides of a lesson, called by its name; the same release gives the same slides.

    With the folder ``solutions`` each exercise is followed by an answer and its reason.
    """
    every = parts(lesson, solutions)
    slides = [_title(every[0])]
    tasks = [part for part in every if part.difficulty]
    if tasks:
        slides.append(_agenda(tasks))
    begun = len(slides)
    for part in every:
        last = slides[begun:][-1:] if part.goes_on else []
        slides[len(slides) - len(last) :] = _pages(part, last)
    for slide in slides:
        words = len(" ".join([*(block.source for block in slide.blocks), *slide.notes]).split())
        slide.minutes = max(1, round(2 * words / WORDS_A_MINUTE)) / 2
    return slides


def _title(part: Part) -> Slide:
    """Make the first slide; what the lesson needs stands below its name."""
    name = re.sub(r"^(\d\d) ", r"Lesson \1: ", part.title)
    under = [b for b in part.blocks if b.kind == "text" and b.source.startswith("*")
             and not b.source.startswith("**")]  # fmt: skip
    part.blocks = [block for block in part.blocks if block not in under]
    return Slide(
        name, "", [Block("text", block.source.strip("*")) for block in under], kind="title"
    )


def _agenda(tasks: list[Part]) -> Slide:
    rows = ["| exercise | difficulty | minutes | points |", "|---|---|---|---|"]
    names = [re.sub(r"^Exercise (\d)", r"\1", part.title) for part in tasks]
    for name, part in zip(names, tasks, strict=True):
        rows.append(f"| {name} | {part.difficulty} | {part.minutes} | {part.points or '-'} |")
    total = sum(part.minutes for part in tasks), sum(part.points for part in tasks)
    said = f"In all {total[0]} minutes at the keyboard, for {total[1]} points."
    return Slide("What this lesson asks", "", [Block("table", "\n".join(rows))], [said], "agenda")


def _kicker(part: Part) -> str:
    if part.reason:
        return "One right answer, and why"
    if not part.difficulty:
        return ""
    points = f"{part.points} point{'s' * (part.points != 1)}" if part.points else "no points"
    return f"Difficulty {part.difficulty} of 5 · {part.minutes} minutes · {points}"


def _pages(part: Part, begun: list[Slide]) -> list[Slide]:
    """Fill as many slides with a part's blocks as it needs, from the one that is begun on."""
    kicker = _kicker(part)
    kind = "reason" if part.reason else "exercise" if part.difficulty else ""
    if begun:
        kicker, kind = begun[-1].kicker, begun[-1].kind
    pages = [*begun] or [Slide(part.title, kicker, kind=kind)]
    if part.minutes:
        pages[-1].notes.append(f"At the keyboard: {part.minutes} minutes.")
    for shown, said in _shown(part):
        for block in shown:
            page = pages[-1]
            if page.blocks and page.height + height(block) > HEIGHT:
                moved = [page.blocks.pop()] if _leads_in(page) else []
                pages.append(Slide(part.title, kicker, moved, kind=kind))
            pages[-1].blocks.append(block)
        pages[-1].notes += said
    return _filled([page for page in pages if page.blocks])


def _filled(pages: list[Slide]) -> list[Slide]:
    """Put what would stand nearly alone on a slide onto the one before, if it is not too much."""
    found = pages[:1]
    for page in pages[1:]:
        last = found[-1]
        pictures = any(block.picture for block in [*last.blocks, *page.blocks])
        if not pictures and last.height + page.height <= HEIGHT * ALMOST:
            last.blocks += page.blocks
            last.notes += page.notes
        else:
            found.append(page)
    return found


def _leads_in(page: Slide) -> bool:
    last = page.blocks[-1]
    return len(page.blocks) > 1 and last.kind == "text" and last.source.rstrip().endswith(":")


def _shown(part: Part) -> list[tuple[list[Block], list[str]]]:
    """Give for each block what goes on a slide, and what is said beside it."""
    found: list[tuple[list[Block], list[str]]] = []
    for block in part.blocks:
        if block.kind == "text":
            text, rest = _key(block.source)
            shown = [Block("text", text)] * (not block.source.startswith(FOR_NOTES))
            found.append((shown, [" ".join(block.source.split())] if rest or not shown else []))
        elif block.kind == "picture":
            found.append(([block], [f"The picture: {block.source}"]))
        else:
            found.append((cut(block), []))
    return found


def _key(text: str) -> tuple[str, bool]:
    """Give the sentences of a paragraph that stand on a slide, and whether others are left out."""
    every = sentences(text)
    kept = {0}
    for place, sentence in enumerate(every):
        if "**" in CODE.sub("", sentence) or sentence.startswith(TASKS) or sentence.endswith("?"):
            kept.add(place)
            if place and sentence.startswith(POINTS_BACK):
                kept.add(place - 1)
        if sentence.startswith("**") and sentence.endswith(".**") and len(sentence.split()) < 7:
            kept |= {min(place + more, len(every) - 1) for more in (1, 2)}
    if every[-1].endswith(":"):
        kept.add(len(every) - 1)
    return " ".join(every[place] for place in sorted(kept)), len(kept) < len(every)


def lesson_names() -> list[str]:
    """Give the names of the released lessons in their order."""
    return sorted(lessons())
