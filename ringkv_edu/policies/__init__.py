"""What a layer keeps of the past: one policy a file, all behind ``Policy``."""

from .base import Policy, Shape
from .full import Full
from .pooled import Pooled
from .window import Sinks, Window

__all__ = ["Full", "Policy", "Pooled", "Shape", "Sinks", "Window"]
