"""Known bugs rebuilt on our own ring, each in a few lines: what the cases are there to catch.

``ringkv cases ringkv_edu.cases.broken:WriteFirst`` shows one. Each class names, in ``case``, the
case that is about it; others may fail with it.
"""

from __future__ import annotations

from typing import Any

from . import going_back, keeping, seeing
from .going_back import *  # noqa: F403
from .keeping import *  # noqa: F403
from .seeing import *  # noqa: F403

BROKEN: tuple[Any, ...] = tuple(
    getattr(module, name) for module in (seeing, keeping, going_back) for name in module.__all__
)
