"""Known bugs of real ring caches, as tests that anyone can aim at their own cache.

Each case is one public bug report turned into a recipe: what to append, and what every query must
then see. The expected attention comes from the whole history, which the suite keeps itself; it is
never computed from the cache.

::

    ringkv cases ringkv_edu.numpy_ring:NumpyRing
    ringkv cases path/to/file.py:MyAdapter

A cache needs five methods: ``append``, ``step``, ``positions``, ``rewind`` and ``reset``; see
``Adapter``. What it cannot do is reported as not asked, never as holding.
"""

from __future__ import annotations

from .adapter import Adapter, load
from .run import CASES, Case, Result, run

__all__ = ["CASES", "Adapter", "Case", "Result", "load", "run"]
