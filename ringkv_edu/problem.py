"""What a command cannot do for a reason that a person can mend."""

from __future__ import annotations

__all__ = ["Problem"]


class Problem(Exception):
    """Printed as one line, without a traceback; a notebook shows it so, too, and stops."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]
