"""The rules of the triage: what in a log is a sign of what, why that is so, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import signs
from .log import Log

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True)
class Rule:
    """A sign of trouble. Where one of ``follows_from`` was found, this one is its consequence."""

    trouble: str
    source: str
    finds: Callable[[Log], str | None]
    reason: str
    advice: str
    follows_from: tuple[str, ...] = ()


NO_EVICTION = ("no speed-up", "memory does not fall", "out of memory")
RULES = (
    Rule(
        "out of memory", "S22", signs.memory,
        "Capacity: what is kept grows with every token and row, until the budget is reached.",
        "Keep a window; or fewer rows, fewer key/value heads, fewer bits a number.",
    ),
    Rule(
        "no speed-up", "S40, D10", signs.not_on,
        "A step reads what is held. While nothing has left, a window reads as much as a cache that "
        "keeps everything: the window is not on.",
        "First prove that eviction happens: decode a text longer than the window, or make the "
        "window smaller.",
    ),
    Rule(
        "memory does not fall", "S40", signs.never_evicts,
        "Memory is what storage is kept alive, not what a mask lets a query see: a mask evicts "
        "nothing, and a view of the last tokens keeps the whole buffer.",
        "Look at what is stored: the slots must be as many as sinks and window, made once and "
        "written again.",
    ),
    Rule(
        "framework mismatch", "S40", signs.mismatch,
        "Before anything has left, every policy is the full cache, so the window cannot be the "
        "cause: cache and framework disagree on who turns keys, on positions, on the order of "
        "slots that a mask assumes, on grouped heads or on the dtype.",
        "Compare one layer's output for one token with plain attention, then for two; `ringkv "
        "cases` asks a cache for the known disagreements.",
    ),
    Rule(
        "memory creeps", "S38, D4", signs.creeps,
        "Something besides the window is kept for each token or block: a list that nobody cuts.",
        "Give what is kept a fixed number of slots; when they are full, merge two.",
        follows_from=NO_EVICTION,
    ),
    Rule(
        "summaries too often", "S40, D2", signs.too_often,
        "A trigger on the window's length fires at every token once the window is full, because "
        "its length no longer changes. Blocks of one token summarise nothing and merge early.",
        "Count the tokens that have left, and close a block when it has as many as it should.",
    ),
    Rule(
        "output jitters", "S40", signs.jitters,
        "Several tokens leave at once, so what neighbouring queries see differs by many tokens and "
        "the output changes with the cut, not with the text.",
        "Let one token leave for each that comes: a ring does nothing else.",
    ),
    Rule(
        "score peaks", "S13, S45", signs.peaks,
        "A score far above all others takes the whole softmax: a key or a scale is damaged, or a "
        "number has overflowed.",
        "Look at the keys' largest magnitude in the log, layer by layer, where the peak begins.",
        follows_from=("framework mismatch",),
    ),
    Rule(
        "quality drops", "S40, S23", signs.quality,
        "What has left is missing. A model trained without a window leans on the first tokens, "
        "whatever they say; and a fact that has left cannot be found again.",
        "Keep the first four tokens as sinks; then a larger window; then summaries the model was "
        "trained with. Fall back to the full cache meanwhile.",
        follows_from=(
            "framework mismatch", "summaries too often", "output jitters", "memory creeps",
            "score peaks",
        ),
    ),
    Rule(
        "slow first token", "S22", signs.first_token,
        "Prefill computes: every token of the prompt goes through every layer, and scores grow "
        "with the square of its length. A decode cache does not change that.",
        "A shorter prompt, a shared prefix that is computed once, or more arithmetic a second.",
    ),
    Rule(
        "slows half way", "S22", signs.half_way,
        "More rows share each step: a step takes longer, though a row's share of it is less. "
        "Fragmented storage looks the same without new rows.",
        "Set how many rows may run by the time that a step may take.",
    ),
    Rule(
        "slow while memory is free", "S22, S16", signs.bandwidth,
        "Bandwidth: a decoded token reads all that is kept, so its time grows with the cache long "
        "before the memory is full.",
        "Keep less: a window, fewer key/value heads, fewer bits. More memory does not help.",
        follows_from=(*NO_EVICTION, "memory creeps"),
    ),
)  # fmt: skip
