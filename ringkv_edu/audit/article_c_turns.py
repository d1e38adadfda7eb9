"""The rows of article C that are about positions: rotation, its base, reuse."""

from __future__ import annotations

from . import experiments_c_turns as turns
from .row import Row

__all__ = ["ROWS"]

ROWS = (
    Row(
        "C4",
        printed="Keys and values are stored turned by R_m, and turned back by R_n^-1 when they are"
        " read.",
        right="For keys it equals turning the query, but turns {vectors turned a step, keys}"
        " vectors a step in place of {vectors turned a step, query}. Values are not turned in a"
        " Llama-style model.",
        verdict="half right: right for K, but costly; wrong for V here",
        why="q . R_n^-1 R_m k is R_n q . R_m k. A value that is turned by R_m and back by R_n is"
        " left turned by its distance, and the output changes. (A model with one turned tensor for"
        " K and V turns its output back, and was trained so.)",
        how="Eight keys and values far from position 0, turned by `rope.rotate`; scores and"
        " outputs against those of a turned query and of plain values.",
        taught=("04 exercise 2", "04 exercise 4"),
        compute=turns.turned_back,
        figures={
            "scores, keys turned back against the query turned": ("<1e-12", "<1e-12"),
            "vectors turned a step, keys": "8",
            "vectors turned a step, query": "1",
            "output, values turned": ">0.01",
            "output, values turned and turned back": (">0.01", "<1e-12"),
            "the same, against values turned by their distance": "<1e-12",
        },
    ),
    Row(
        "C5",
        printed="R_m R_n^T = R_(m-n).",
        right="The same, so a score depends on the distance alone.",
        verdict="right",
        why="Angles add up, and the transpose of a rotation turns back.",
        how="`rope.rotate` by m and by -n against by m - n, and scores of pairs moved 5,000"
        " positions on, for positions up to 10,000.",
        taught=("04 exercise 2",),
        compute=turns.differences,
        figures={
            "R_m then R_n^T against R_(m-n)": ("<1e-12", "<1e-12"),
            "scores, both 5,000 further on": ("<1e-12", "<1e-12"),
            "scores, one of them 1 further on": ">0.01",
        },
    ),
    Row(
        "C6",
        printed="NTK: base x (L_new / L_train)^alpha, and an alpha of 0.5 serves better than 1.0.",
        right="The usual form is base x s^(d/(d-2)); for d = 128 the power is"
        " {power of s, usual form}. It slows the slowest pair {slowest pair, usual form} times at"
        " s = 4 and the fastest {fastest pair, usual form} times; alpha 0.5 slows the slowest"
        " {slowest pair, alpha 0.5} times only.",
        verdict="wrong: against the derivation",
        why="The power is chosen so that the slowest pair is slowed by s, and alpha 1.0 is near it"
        " ({slowest pair, alpha 1.0} times). Inside a window none of it is needed: no distance"
        " exceeds W - 1.",
        how="`rope.frequencies` with `rope.ntk_base` and `rope.article_base`; distances by"
        " `visibility.visible`.",
        taught=("04 exercise 6",),
        compute=turns.slower,
        figures={
            "power of s, usual form": "1.016",
            "slowest pair, usual form": "4.00",
            "fastest pair, usual form": "1.00",
            "slowest pair, alpha 0.5": ("1.98", "4.00"),
            "slowest pair, alpha 1.0": "3.91",
            "largest distance inside W = 4,096, token 100,000": "4,095",
        },
    ),
    Row(
        "C12",
        printed="With absolute position encodings a cache cannot be reused.",
        right="A causal prefix that stays where it was is reusable under any encoding.",
        verdict="wrong",
        why="Its keys depend on nothing that follows. What breaks is a prefix put elsewhere, a"
        " position past the end of a table, or a base that changes (C14).",
        how="A causal layer with a table of 32 positions: keys of 12 tokens before and after more"
        " text, outputs of a `NumpyRing` that starts from them, the same tokens 5 places on, token"
        " 33.",
        taught=("04 when the base changes",),
        compute=turns.reuse,
        figures={
            "change of a prefix's keys when text follows": ("<1e-12", ">0.01"),
            "outputs, prefix reused against everything anew": "<1e-12",
            "change of its keys 5 places further on": ">0.01",
            "a position past the table": "refused",
        },
    ),
    Row(
        "C14",
        printed="A dynamic NTK base may be put in while the model runs.",
        right="Keys already turned with the old base are stale, and scores are wrong, unless"
        " unrotated keys are kept or every stored key is turned back and anew.",
        verdict="wrong: a bug in the making",
        why="A score takes the difference of two turns, and that means a distance only when both"
        " have the same base.",
        how="A wrapped `NumpyRing` of turned keys and one of unrotated keys, asked after the"
        " change, against `visibility.oracle_attention` with the new base throughout.",
        taught=("04 when the base changes",),
        compute=turns.stale,
        figures={
            "output, keys of the old base": (">0.01", "<1e-12"),
            "output, unrotated keys turned at read": "<1e-12",
            "output, keys turned back and anew": "<1e-12",
            "keys turned again at the change": "8",
        },
    ),
)
