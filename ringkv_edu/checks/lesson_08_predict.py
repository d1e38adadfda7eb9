"""Lesson 08: two gains of one window, foretold."""

from __future__ import annotations

from random import Random

from ..given_budget import CARD, SEVEN
from .lesson_08_gain import latency_gain, throughput_gain
from .model import Case, Exercise, Mutant

__all__ = ["PREDICT", "gains"]

NAMES = ("latency", "latency_of_8", "throughput")


def gains() -> tuple[float, float, float]:
    """Give the gains of W = 1,024 at 16K: latency alone and in a batch of 8, and throughput."""
    token = 2 * len(SEVEN.windows) * SEVEN.kv_heads * SEVEN.head_dim * 2
    sizes = (SEVEN.weights, token, 1024, 16384)
    more = throughput_gain(*sizes, CARD.memory - SEVEN.weights)
    assert more
    return latency_gain(*sizes, 1), latency_gain(*sizes, 8), more


FACTS = {name: round(gain, 1) for name, gain in zip(NAMES, gains(), strict=True)}
REFERENCE = {**FACTS, "throughput": 16}


def _cases(rng: Random) -> list[Case]:
    def run(answer: object) -> dict[str, object]:
        return {name: getattr(answer, name) for name in NAMES}

    return [Case("W = 1,024 against everything, after 16,384 tokens", run)]


PREDICT = Exercise(
    id="predict08",
    names=NAMES,
    cases=_cases,
    reference=REFERENCE,
    mutants=(
        Mutant(
            "sixteen-for-all",
            "the caches are compared, 16 to 1: a step reads the weights as well, and they stay",
            {"latency": 16, "latency_of_8": 16},
        ),
        Mutant(
            "batch-forgotten",
            "the batch makes no difference to the latency: eight caches are read, and the weights "
            "once",
            {"latency_of_8": 1.6},
        ),
        Mutant(
            "swapped",
            "one request and eight have changed places: with more requests the caches weigh more",
            {"latency": 4.6, "latency_of_8": 1.6},
        ),
        Mutant(
            "throughput-as-latency",
            "throughput is thought to gain what a step gains: the card takes more requests, too",
            {"throughput": 1.6},
        ),
        Mutant(
            "throughput-of-8",
            "the throughput of eight requests is taken for the card's: many more fit",
            {"throughput": 4.6},
        ),
        Mutant(
            "nothing-alone",
            "one request is thought to gain nothing: its cache is more than a third of what a step "
            "reads",
            {"latency": 1},
        ),
        Mutant(
            "both-gains",
            "latency and throughput have changed places: a request waits a little less, and many "
            "more are served",
            {"latency": 16, "latency_of_8": 16, "throughput": 1.6},
        ),
    ),
)
