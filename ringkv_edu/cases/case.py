"""What a case is, and how a recipe becomes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .adapter import Subject

__all__ = ["Case", "Collector"]

Recipe = Callable[[Subject], None]


@dataclass(frozen=True)
class Case:
    """One known bug. ``source`` is where it was reported, ``says`` what must hold instead."""

    id: str
    source: str
    says: str
    needs: frozenset[str]
    ask: Recipe


class Collector(list[Case]):
    """Collects the recipes of one module, in order."""

    def case(self, id: str, source: str, says: str, *needs: str) -> Callable[[Recipe], Recipe]:
        """Turn a function into a case; it raises ``Differs`` when the cache has the bug."""

        def add(recipe: Recipe) -> Recipe:
            self.append(Case(id, source, says, frozenset(needs), recipe))
            return recipe

        return add
