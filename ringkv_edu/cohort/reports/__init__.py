"""Everything that is written from a cohort's results."""

from __future__ import annotations

import json
from pathlib import Path

from ..gradebook import Book

__all__ = ["write_all"]


def write_all(book: Book, folder: Path) -> list[str]:
    """Write every report below ``folder``; give lines for the terminal."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(book.to_dict(), indent=1, ensure_ascii=False) + "\n"
    (folder / "grades.json").write_text(text, encoding="utf-8")
    return [f"{learner.id}: {book.earned(learner):g}/{book.worth}" for learner in book.everyone()]
