"""Points inside nbgrader's kernel: the text of ``_points`` goes into each graded cell.

So it needs nothing but the standard library. It counts as `grading.sealed.credit` does.
"""

from __future__ import annotations

__all__: list[str] = []


def _points(cell: str, seed: int, worth: int, want: list[str], telling: list[bool]) -> float:
    import contextlib
    import io
    import math
    import textwrap
    from fractions import Fraction

    body = textwrap.indent(cell.replace("SEED = 0\n", f"SEED = {seed}\n"), "    ")
    out, raised = io.StringIO(), ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(f"def _graded():\n{body}\n\n\n_graded()", dict(globals()))
        except Exception as error:
            raised = f"; raises {type(error).__name__}: {error}"
    got = out.getvalue().splitlines()
    right = [i < len(got) and got[i] == line for i, line in enumerate(want)]
    print(f"{sum(right)} of {len(want)} lines right{raised}")
    if got == want:
        return float(worth)
    earned = sum(ok for ok, tells in zip(right, telling, strict=True) if tells)
    lost = sum(not ok for ok, tells in zip(right, telling, strict=True) if not tells)
    lost += max(0, len(got) - len(want))
    share = Fraction(max(0, earned - lost), max(1, sum(telling)))
    share = min(share, Fraction(len(want) - 1, len(want) or 1))
    return math.floor(worth * share * 100) / 100
