"""Live figures: the slot-versus-position theatre."""

from .theatre import Theatre, compare, show

__all__ = ["Theatre", "compare", "show"]
