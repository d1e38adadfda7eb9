"""Lesson 05: the decode step of rows of different ages, with grouped heads."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from . import lesson_05_step_mistakes as wrong
from .lesson_05_common import HOST, form_of, reads_case, torch_case
from .lesson_05_step_mistakes import decode_step
from .model import Case, Exercise, Mutant, answers

__all__ = ["STEP"]


def _step_cases(rng: Random) -> list[Case]:
    """Draw (seen, window, heads, kv_heads, head_dim, tokens); a last slot still empty is stale."""
    runs: list[tuple[list[int], int, int, int, int, int]] = [
        ([10, 6, 3], 4, 1, 1, 2, 1), ([10, 6, 3], 4, 4, 2, 2, 1), ([0, 5], 3, 2, 1, 4, 2),
        ([0, 0, 1], 3, 3, 3, 2, 1), ([2, 9], 5, 6, 2, 3, 3), ([4, 0], 1, 4, 2, 2, 2),
        ([7], 4, 2, 2, 2, 2),
    ]  # fmt: skip
    seen = [rng.randrange(12) for _ in range(rng.randrange(2, 4))]
    runs.append((seen, rng.randrange(2, 5), 6, 3, 2, 2))
    cases = [_step_case(seed, *run) for seed, run in enumerate(runs)]
    made = 'filled_rows([6, 3], draw(1, "tr6"), 8, 2, 4)'
    sizes = 'drawn(draw(2, "tr6"), 2, 4, 4), *drawn(draw(3, "tr6"), 2, 2, 2, 4)'
    large = f"rows = {made}; decode_step(rows, {sizes})"
    return [*cases, _large_case(large), reads_case(f"decode_step({made}, {sizes})", "decode_step")]


def _step_case(
    seed: int, seen: list[int], window: int, heads: int, kv_heads: int, head_dim: int, tokens: int
) -> Case:
    batch = len(seen)
    made = f"filled_rows({seen}, rng, {window}, {kv_heads}, {head_dim})"
    stale = [row for row, count in enumerate(seen) if count + tokens < window][:1]
    for row in stale:  # an empty slot may hold old numbers
        made += f"; rows.keys[{row}, :, -1], rows.values[{row}, :, -1] = 2, 3"
    q = f"drawn(rng, {batch}, {heads}, {head_dim})"
    call = f"decode_step(rows, {q}, *drawn(rng, 2, {batch}, {kv_heads}, {head_dim}))"
    out = f"outs = [{call} for _ in range({tokens})]" if tokens > 1 else f"outs = [{call}]"
    shape = [batch, heads, head_dim]

    def look(space: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for number, result in enumerate(space["outs"], 1):
            found |= _heads(result, shape, "result" if number == 1 else f"result {number}")
        rows = space["rows"]
        memory = {name: getattr(rows, name) for name in ("positions", "seen", "keys", "values")}
        return {**found, **memory}

    line = f'rng = draw({seed}, "tr6"); rows = {made}; {out}'
    return torch_case(line, "decode_step", look, may_change=(0,))


def _heads(result: Any, shape: list[int], label: str) -> dict[str, Any]:
    """Give an output head by head, or what is wrong with its shape."""
    form = form_of(result)
    if form != f"shape {shape}":
        return {label: form}
    heads = {
        f"{label}, row {row}, head {head}": result[row, head]
        for row in range(shape[0])
        for head in range(shape[1])
    }
    return {label: form, **heads}


def _large_case(line: str) -> Case:
    """Ask one thing alone: is anything made that is larger than the keys?"""

    def look(space: dict[str, Any]) -> Mapping[str, Any]:
        return {}

    case = torch_case(line, "decode_step", look, may_change=(0,))

    def run(answer: Any) -> Mapping[str, Any]:
        from ..given_spy import Spy

        sizes: list[bool] = []

        def watched(rows: Any, *given: Any) -> Any:
            with Spy() as spy:
                result = answer.decode_step(rows, *given)
            sizes.append(spy.largest > rows.keys.nbytes)
            return result

        case.run(type(answer)(decode_step=watched))
        return {"tensors made that are larger than the keys": "some" if any(sizes) else "none"}

    return Case(line, run)


SCALE = "scores are divided by the root of head_dim, the length of one vector"

STEP = Exercise(
    id="tr6-step",
    names=("decode_step",),
    cases=_step_cases,
    reference=answers(decode_step),
    mutants=(
        Mutant(
            "attends-first",
            "the query attends before its token is written: it must see its own key, and an empty "
            "row has none at all, which gives NaN",
            answers(decode_step=wrong.attends_first),
        ),
        Mutant(
            "mask-first",
            "the mask is made before the token is written: it does not know the new position",
            answers(decode_step=wrong.mask_before_writing),
        ),
        Mutant(
            "old-keys",
            "keys and values are copied before the token is written: the query does not see its "
            "own",
            answers(decode_step=wrong.old_keys),
        ),
        Mutant(
            "never-written",
            "the token is never written: `put` does that",
            answers(decode_step=wrong.never_written),
        ),
        Mutant(
            "not-written",
            "the token is seen and then lost: write it into the rows",
            answers(decode_step=wrong.not_written),
        ),
        Mutant(
            "written-twice",
            "the token is written twice: `seen` counts it two times",
            answers(decode_step=wrong.written_twice),
        ),
        Mutant(
            "swapped",
            "keys and values are swapped",
            answers(decode_step=wrong.swapped),
        ),
        Mutant(
            "cycled",
            "query head h asks key/value head h % kv_heads: neighbours share one, h // group",
            answers(decode_step=wrong.cycled),
        ),
        Mutant(
            "cycled-and-joined",
            "q is folded as (group, kv_heads): the key/value head comes first, (kv_heads, group)",
            answers(decode_step=wrong.cycled_and_joined),
        ),
        Mutant(
            "joined-otherwise",
            "the heads are joined in another order than they were folded: head h is "
            "(h // group, h % group)",
            answers(decode_step=wrong.joined_otherwise),
        ),
        Mutant(
            "first-kv-head",
            "every query head asks key/value head 0",
            answers(decode_step=wrong.first_kv_head),
        ),
        Mutant(
            "not-joined",
            "the heads are left folded: the result has the shape of q",
            answers(decode_step=wrong.not_joined),
        ),
        Mutant(
            "values-from-keys",
            "keys stand where the values belong",
            answers(decode_step=wrong.values_from_keys),
        ),
        Mutant(
            "no-mask",
            "no mask is used: empty slots take part, and a zero score is not a zero weight",
            wrong.weighing(wrong.no_mask),
        ),
        Mutant(
            "mask-after",
            "the mask comes after the softmax: what is left of the weights no longer sums to 1",
            wrong.weighing(wrong.after_the_softmax),
        ),
        Mutant(
            "times-mask",
            "scores are multiplied by the mask: a zero score is not a zero weight. Put -inf there",
            wrong.weighing(wrong.times_mask),
        ),
        Mutant(
            "mask-added",
            "the mask is added to the scores: True counts as 1. Put -inf where it is False",
            wrong.weighing(wrong.added),
        ),
        Mutant(
            "inverted",
            "the mask is turned round: True means seen, and -inf belongs where it is False. A row "
            "with nothing left gives NaN",
            wrong.weighing(wrong.inverted),
        ),
        Mutant(
            "first-mask",
            "row 0's mask serves every row: each row has its own",
            wrong.weighing(wrong.first_mask),
        ),
        Mutant(
            "mask-without-axes",
            "the mask (batch, window) meets the last two axes of the scores, (group, window): give "
            "it two more, mask[:, None, None]. Without them, an error is the lucky case",
            wrong.weighing(wrong.mask_without_axes),
        ),
        Mutant(
            "softmax-over-group",
            "the softmax runs over the heads of a group: it runs over the slots, the last axis",
            wrong.weighing(wrong.over(2)),
        ),
        Mutant(
            "softmax-over-heads",
            "the softmax runs over the heads: it runs over the slots, the last axis",
            wrong.weighing(wrong.over(1)),
        ),
        Mutant(
            "softmax-over-batch",
            "the softmax runs over the batch: it runs over the slots, the last axis",
            wrong.weighing(wrong.over(0)),
        ),
        Mutant(
            "no-softmax",
            "there is no softmax: scores are not weights",
            wrong.weighing(wrong.no_softmax),
        ),
        Mutant(
            "not-divided",
            "the weights do not sum to 1: divide by their sum, as softmax does",
            wrong.weighing(wrong.not_divided),
        ),
        Mutant("no-scale", SCALE, wrong.scaled(lambda heads, d: 1.0)),
        Mutant("scale-no-root", SCALE, wrong.scaled(lambda heads, d: 1 / d)),
        Mutant("scale-times", SCALE, wrong.scaled(lambda heads, d: d**0.5)),
        Mutant("scale-heads", SCALE, wrong.scaled(lambda heads, d: float(heads**-0.5))),
        Mutant("scale-kv-heads", SCALE, answers(decode_step=wrong.scaled_by_kv_heads)),
        Mutant("no-return", "nothing is returned", answers(decode_step=wrong.no_return)),
        Mutant(
            "repeated",
            "keys are copied for every query head (repeat_interleave, repeat, or an expand that "
            "is then reshaped): that moves the ring several times over. Fold the queries",
            answers(decode_step=wrong.repeated),
        ),
        Mutant("host", HOST, answers(decode_step=wrong.read_by_the_host)),
    ),
)
