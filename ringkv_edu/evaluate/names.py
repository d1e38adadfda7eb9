"""Policies by short names, as a command line writes them.

``full``, ``window:256``, ``sinks:252+4`` (window and sinks), ``sinks-cache:252+4`` (at the
distances of StreamingLLM), ``pooled:220+4+32x16`` (window, sinks, summaries of blocks of 16) and
``pooled-centre:220+4+32x16`` (keys averaged unturned, then turned to the centre of their block),
and ``scored:256/128+4`` (so many kept in all, of them the newest and the sinks).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .. import policies
from ..policies import Full, Policy, Pooled, Sinks, Window
from ..problem import Problem

__all__ = ["EXAMPLES", "name_of", "policies_of", "policy_of"]

Made = Callable[..., Policy]
KINDS: dict[str, tuple[str, Made]] = {
    "full": (r"", Full),
    "window": (r"(\d+)", Window),
    "sinks": (r"(\d+)\+(\d+)", Sinks),
    "sinks-cache": (r"(\d+)\+(\d+)", lambda w, s: Sinks(w, s, "cache")),
    "pooled": (r"(\d+)\+(\d+)\+(\d+)x(\d+)", Pooled),
    "pooled-centre": (
        r"(\d+)\+(\d+)\+(\d+)x(\d+)",
        lambda w, s, n, b: Pooled(w, s, n, b, pool="centre"),
    ),
}
if hasattr(policies, "Scored"):
    KINDS["scored"] = (r"(\d+)/(\d+)\+(\d+)", policies.Scored)
WHAT = ("window", "sinks", "summaries", "block")
ALL = ("full", "window:256", "sinks:252+4", "sinks-cache:252+4", "pooled:220+4+32x16",
       "pooled-centre:220+4+32x16", "scored:256/128+4")  # fmt: skip
EXAMPLES = "full, window:256, sinks:252+4, sinks-cache:252+4, pooled:220+4+32x16"


def policy_of(text: str) -> Policy:
    """Read one policy; raises ``Problem`` for what is none."""
    kind, _, sizes = text.strip().partition(":")
    if kind not in KINDS:
        raise Problem(f"no policy is called {text.strip()!r}; give some of {EXAMPLES}")
    pattern, make = KINDS[kind]
    found = re.fullmatch(pattern, sizes)
    if not found:
        like = next(example for example in ALL if example.partition(":")[0] == kind)
        raise Problem(f"the policy {text.strip()!r} has no such sizes; write it like {like}")
    numbers = [int(number) for number in found.groups()]
    names = ("budget", "recent", "sinks") if kind == "scored" else WHAT
    for name, number in zip(names, numbers, strict=False):
        least = 0 if name == "sinks" else 1
        if not least <= number <= 2**24:
            raise Problem(f"the policy {text.strip()!r} has {name} {number}; give {least} or more")
    try:
        return make(*numbers)
    except ValueError as error:  # sizes that do not go together
        raise Problem(f"the policy {text.strip()!r}: {error}") from None


def policies_of(text: str) -> dict[str, Policy]:
    """Read several, with commas between, each once."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise Problem(f"no policies were given; give some of {EXAMPLES}")
    return {part: policy_of(part) for part in parts}


def name_of(policy: Policy) -> str:
    """Name a policy by its sizes, as `policy_of` reads it where it can."""
    get = vars(policy).get
    if isinstance(policy, Window):
        return f"window:{policy.window}"
    if isinstance(policy, Sinks):
        kind = "sinks-cache" if policy.positions == "cache" else "sinks"
        return f"{kind}:{policy.window}+{policy.sinks}"
    if type(policy) is Pooled and policy.merge == "oldest":
        kind = "pooled-centre" if policy.pool == "centre" else "pooled"
        return f"{kind}:{policy.window}+{policy.sinks}+{policy.summaries}x{policy.block}"
    if policy.name == "scored":
        return f"scored:{get('budget')}/{get('recent')}+{get('sinks')}"
    sizes = ", ".join(f"{n} {get(n)}" for n in ("window", "sinks", "budget") if get(n) is not None)
    return f"{policy.name} ({sizes})" if sizes else policy.name
