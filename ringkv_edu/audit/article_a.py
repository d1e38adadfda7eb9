"""The rows of article A, the ring cache in decode."""

from __future__ import annotations

from . import experiments_a as run
from .row import Row

__all__ = ["ROWS"]

ROWS = (
    Row(
        "A1",
        printed="With W = 4 token 5 sees tokens 1 to 4; elsewhere token t sees t-W+1 to t.",
        right="Token 5 sees {token 5 with W = 4 sees}: t-W+1 to t.",
        verdict="half right: the two rules differ by one; the second holds",
        why="By the first a token does not see itself; the second is the one that models with a"
        " sliding window use, and the one of this course.",
        how="Both rules beside the mask of `visibility.visible`, for 40 tokens and 9 windows.",
        taught=("01 exercise 5",),
        compute=run.edge,
        figures={
            "token 5 with W = 4 sees": ("2 3 4 5", "1 2 3 4"),
            "cases where t-W to t-1 is the mask": "0",
            "cases where t-W+1 to t is the mask": ("360", "360"),
            "cases": "360",
        },
    ),
    Row(
        "A2",
        printed="Ten tokens, W = 4: 1, 2, 3 and then always 4 slots in use; positions 6 to 9 stay.",
        right="The same: slots in use {used slots}; positions {last positions} stay.",
        verdict="right",
        why="The slot follows the write number, so from the fifth write on the oldest is"
        " overwritten.",
        how="`pure.RingKVBuffer(4)` takes ten tokens; its length is noted after each.",
        taught=("01 exercise 2",),
        compute=run.table_of_ten,
        figures={
            "used slots": ("1 2 3 4 4 4 4 4 4 4", "1 2 3 4 4 4 4 4 4 4"),
            "last positions": ("6 7 8 9", "6 7 8 9"),
            "last write numbers": "6 7 8 9",
        },
    ),
    Row(
        "A3",
        printed="With W = 4 and 6 tokens, token 3 may come to lie in the slot of token 5.",
        right="Nothing moves: token 3 (position 2) stays in slot {slot of token 3}; token 5"
        " (position 4) goes to slot {slot of token 5}.",
        verdict="wrong: a wrong example of a right lesson",
        why="A ring writes one slot and leaves the others alone. That a slot is not a position is"
        " true all the same: token 5 shows it, and no move is needed for it.",
        how="Six writes to `pure.RingKVBuffer(4)`; the slot of every stored token is noted each"
        " time.",
        taught=("01 exercise 7",),
        compute=run.nothing_moves,
        figures={"moves": "0", "slot of token 3": ("2", "0"), "slot of token 5": "0"},
    ),
    Row(
        "A4",
        printed="Reading and writing the ring both cost O(1).",
        right="A write touches {slots that a write touches, W = 32} slot, whatever W is; a read"
        " needs all W values ({values that a read depends on, W = 8} of 8,"
        " {values that a read depends on, W = 32} of 32).",
        verdict="half right: a write is O(1), a read O(W)",
        why="Attention weighs every key that it sees, and no weight of a softmax is 0. Reading is"
        " O(W).",
        how="`pure.RingKVBuffer` with W = 8 and 32: which slots a write changes, and which stored"
        " values, changed one at a time, change the output.",
        taught=("01 exercise 3", "02 what a write costs"),
        compute=run.touched,
        figures={
            "slots that a write touches, W = 8": "1",
            "values that a read depends on, W = 8": "8",
            "slots that a write touches, W = 32": ("1", "1"),
            "values that a read depends on, W = 32": ("32", "1"),
        },
    ),
    Row(
        "A5",
        printed="From 1,024 to 8,192 tokens a growing cache becomes 8 times as large.",
        right="{times as large, everything kept} times; a ring of 1,024 stays as it is.",
        verdict="right",
        why="Bytes are proportional to the tokens that are kept.",
        how="2 x layers x kv_heads x head_dim x tokens x bytes, by `budget.Plan`.",
        taught=("01 exercise 1", "05 memory: flat against growing"),
        compute=run.growth,
        figures={"times as large, everything kept": ("8", "8"), "times as large, W = 1,024": "1"},
    ),
    Row(
        "A6",
        printed="Attention kernels need the window put back into order of time.",
        right="One query over a full window needs no order, rounding apart. Several queries need a"
        " mask made from positions, or the order of time where a kernel makes its mask from"
        " indices.",
        verdict="too strong: true of kernels that make their mask from indices",
        why="Softmax attention is a sum over (key, value, position), and a sum does not depend on"
        " its order. Only a mask that counts columns does.",
        how="A `NumpyRing` asked with its slots shuffled; then three queries over a wrapped ring,"
        " with a mask by index and by position, against `visibility.oracle_attention`.",
        taught=("02 exercise 4", "03 exercise 2"),
        compute=run.order,
        figures={
            "one query, slots shuffled": ("<1e-12", ">0.01"),
            "three queries, slot order, mask by index": (">0.01", ">0.01"),
            "three queries, order of time, mask by index": "<1e-12",
            "three queries, slot order, mask by position": ("<1e-12", ">0.01"),
        },
    ),
    Row(
        "A7",
        printed="After 10,000 tokens: 10,000 entries without a window, 1,024 with W = 1,024.",
        right="The same: {entries, everything kept} and {entries, W = 1,024}.",
        verdict="right",
        why="A ring holds as many tokens as it has slots.",
        how="10,000 tokens into `pure.NaiveKVBuffer` and `pure.RingKVBuffer(1024)`.",
        taught=("01 exercise 2", "05 memory: flat against growing"),
        compute=run.entries,
        figures={
            "entries, everything kept": ("10,000", "10,000"),
            "entries, W = 1,024": ("1,024", "1,024"),
        },
    ),
    Row(
        "A8",
        printed="The RoPE angle of every key must be computed again at each read.",
        right="Turning a key once, when it is written, gives the same and turns"
        " {keys turned a step, at write} key a step in place of {keys turned a step, at read}, as"
        " long as the base never changes and positions stay absolute.",
        verdict="too strong: true only when the base changes, or of ranks",
        why="The score depends on the difference of two turns, and a stored key keeps its own. Two"
        " things end that: another base (C14), and ranks in the cache in place of positions"
        " (StreamingLLM), which need unrotated keys.",
        how="Two wrapped `NumpyRing`s, keys turned by `rope.rotate` at write and at read; then the"
        " base is changed, and ranks are used.",
        taught=("04 exercise 4", "04 exercise 5", "07 case file"),
        compute=run.when_to_turn,
        figures={
            "turned at write against turned at read": ("<1e-12", ">0.01"),
            "keys turned a step, at write": "1",
            "keys turned a step, at read": "8",
            "after a change of the base": ">0.01",
            "ranks for the query, keys turned to positions": ">0.01",
        },
    ),
    Row(
        "A9",
        printed="A program begins with a position cache of zeros.",
        right="Empty is -1. With zeros {keys that pass, positions begun with 0} keys pass the mask"
        " where {keys that pass, positions begun with -1} is stored.",
        verdict="wrong: a bug in the printed code",
        why="An empty slot then claims position 0, which a query in the first window sees; and a"
        " key of zeros gets a score of 0, not a weight of 0: here three empty slots take most of"
        " the attention.",
        how="`visibility.visibility_mask` on one token in four slots, and the softmax over them.",
        taught=("01 exercise 6",),
        compute=run.empty_slots,
        figures={
            "keys that pass, positions begun with 0": ("4", "1"),
            "keys that pass, positions begun with -1": "1",
            "attention on empty slots beside a key of score 0.3, %": "69",
        },
    ),
    Row(
        "A10",
        printed="FlashAttention takes a mask of one's own for a wrapped ring.",
        right="The functions of the flash-attention package take `causal` and `window_size`, no"
        " mask: of {settings tried} window sizes {settings that give the mask, slot order} give"
        " the mask of a wrapped ring as it lies, and {settings that give the mask, order of time}"
        " in order of time.",
        verdict="wrong",
        why="With those settings a key's column is its time, so the window has to be put in order"
        " first. (A newer kernel of that package for recent devices takes a function that masks.)",
        how="Every (left, right) of 10 slots and 3 queries, beside `visibility.visibility_mask`."
        " The arguments are from `flash_attn_func` of Dao-AILab/flash-attention, read, not run.",
        taught=("02 exercise 4",),
        compute=run.settings,
        figures={
            "settings tried": "144",
            "settings that give the mask, slot order": ("0", ">0"),
            "settings that give the mask, order of time": "1",
        },
    ),
    Row(
        "A11",
        printed="Longformer has some layers that are global.",
        right="It has global tokens in layers that are all windowed. Layers that alternate are"
        " Gemma's ({global layers, Gemma 3 4B} global) and gpt-oss's"
        " ({global layers, gpt-oss 20B}).",
        verdict="wrong: a wrong example",
        why="In each of Longformer's layers a few chosen tokens see all and are seen by all (arXiv"
        " 2004.05150, section 3). Which layers are global in the other two is in their reports.",
        how="Longformer's pattern as a mask, 64 tokens and 2 global ones; `budget_presets.MODELS`.",
        taught=("02 what you have now", "07 exercise 3"),
        compute=run.global_layers,
        figures={
            "global layers, Longformer's pattern": ("0", ">0"),
            "global tokens in each of its layers, of 64": "2",
            "global layers, Gemma 3 4B": "5 of 34",
            "global layers, gpt-oss 20B": "12 of 24",
        },
    ),
    Row(
        "A12",
        printed="Keys and values older than t-W+1 are of no use any more.",
        right="In their own layer. Through L layers a token is felt L x (W-1) further on: with W ="
        " 4 at {last position that token 0 reaches, layer 1},"
        " {last position that token 0 reaches, layer 2} and"
        " {last position that token 0 reaches, layer 3}.",
        verdict="half right: in their own layer only",
        why="Each layer hands on what the one below has gathered. What travels so is faint, and"
        " the window must be the one that the model was trained with.",
        how="Three layers of `visibility.oracle_attention` with drawn weights; token 0 is changed,"
        " and outputs that differ at all are noted. Mistral 7B's figure is L x (W-1).",
        taught=("01 what you have now", "06", "07 exercise 2"),
        compute=run.reach,
        figures={
            "last position that token 0 reaches, layer 1": ("3", "3"),
            "last position that token 0 reaches, layer 2": ("6", "3"),
            "last position that token 0 reaches, layer 3": "9",
            "tokens back through all layers of Mistral 7B": "131,040",
        },
    ),
)
