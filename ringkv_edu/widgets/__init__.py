"""Live figures: the slot-versus-position theatre."""

from .showing import compare, show
from .theatre import Theatre

__all__ = ["Theatre", "compare", "show"]
