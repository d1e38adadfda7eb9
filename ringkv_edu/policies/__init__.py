"""What a layer keeps of the past: one policy a file, all behind ``Policy``."""

from .base import Policy, Shape
from .full import Full
from .learned import Learned
from .pooled import Pooled
from .recompute import Recompute
from .scored import Scored
from .state import State
from .window import Sinks, Window

__all__ = [
    "Full",
    "Learned",
    "Policy",
    "Pooled",
    "Recompute",
    "Scored",
    "Shape",
    "Sinks",
    "State",
    "Window",
]
