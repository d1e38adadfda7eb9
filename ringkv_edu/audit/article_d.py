"""The rows of article D, prefix sliding."""

from __future__ import annotations

from . import experiments_d as run
from .experiments_d_means import weight_of_a_mean
from .row import Row

__all__ = ["ROWS"]

ROWS = (
    Row(
        "D1",
        printed="32 layers, 32 heads of 128, fp16, 1,024 to 32,768 tokens: 0.50, 2.00, 4.00, 8.00,"
        " 16.00 GB.",
        right="{1,024 tokens, GiB}, {4,096 tokens, GiB}, {8,192 tokens, GiB}, {16,384 tokens, GiB}"
        " and {32,768 tokens, GiB} GiB.",
        verdict="right: in GiB",
        why="The unit is 2^30 bytes; in GB the last one is 17.18 (B1).",
        how="2 x 32 layers x 32 heads x 128 x tokens x 2 bytes, by `budget.Plan.cache_bytes`.",
        taught=("01 exercise 1", "08 exercise 1"),
        compute=run.sizes,
        figures={
            "1,024 tokens, GiB": ("0.50", "0.50"),
            "4,096 tokens, GiB": ("2.00", "2.00"),
            "8,192 tokens, GiB": ("4.00", "4.00"),
            "16,384 tokens, GiB": ("8.00", "8.00"),
            "32,768 tokens, GiB": ("16.00", "16.00"),
        },
    ),
    Row(
        "D2",
        printed="The sliding demo (W = 8, a summary every 4) reports a window of length 8 after"
        " token 9 has made one leave.",
        right="Its program reports {length after token 9 made one leave}; and once the window is"
        " full it makes a summary at every token: points {first points}, ..., {points by token 20}"
        " of them by token 20.",
        verdict="wrong: the print is not the program's, and the trigger is a bug",
        why="The length is taken before the new token is stored. The trigger asks whether the"
        " length is a multiple of 4, and a full window's length always is 8. A count of tokens"
        " would give {points by token 20, by a count of tokens}.",
        how="Its rules, rebuilt as `given_summaries.SlidingWindowCache`, for 20 tokens.",
        taught=("06 exercise 1",),
        compute=run.sliding_demo,
        figures={
            "length after token 9 made one leave": ("7", "8"),
            "first points": "4 8 8 8 8",
            "points by token 20": "14",
            "tokens from 8 to 20 that make one": "13",
            "points by token 20, by a count of tokens": "5",
        },
    ),
    Row(
        "D3",
        printed="The prefix demo (W = 6, every 3) makes its first summary, 1~1, at step 1; step 7"
        " evicts token 2.",
        right="The first is {first summary}, at step {step of the first summary}; step 7 evicts"
        " token {token that step 7 evicts} and makes {summary that step 7 makes}. After 15 steps:"
        " {summaries after 15 steps}.",
        verdict="wrong: the print is not the program's",
        why="A summary is due when the number of steps is a multiple of 3, and covers what the"
        " window holds at that moment.",
        how="Its rules, rebuilt as `given_summaries.PrefixSlidingCache`, tokens numbered from 1.",
        taught=("06 exercise 2",),
        compute=run.prefix_demo,
        figures={
            "step of the first summary": ("3", "1"),
            "first summary": ("1~3", "1~1"),
            "token that step 7 evicts": ("1", "2"),
            "summary that step 7 makes": "none",
            "summaries after 15 steps": "1~3, 1~6, 4~9, 7~12, 10~15",
        },
    ),
    Row(
        "D4",
        printed="The prefix demo's summaries stand for the past that was evicted, in constant"
        " memory.",
        right="Each covers the live window of its moment: a token in the window is also in"
        " {summaries that cover a token in the window} summaries, one that is gone in W/k ="
        " {summaries that cover a token that is gone}; and the list grows as t/k,"
        " {summaries after 30 steps} after 30 steps, {summaries after 300 steps} after 300.",
        verdict="wrong: the design bug that lesson 06 mends",
        why="Counted twice by accident, a token weighs twice. The course folds each token once,"
        " when it leaves, and merges neighbours: {times the course's fold counts a token} time"
        " each, {its summaries after 300 steps} summaries for ever. (Models trained with"
        " overlapping blocks exist; they learned it.)",
        how="The program's rules over 300 steps, who is covered noted (in the window: over the"
        " first 60); `summaries.fold` and `spans` over the same text.",
        taught=("06 exercise 2", "06 exercise 3", "06 exercise 4"),
        compute=run.counted,
        figures={
            "summaries that cover a token in the window": "0 to 2",
            "summaries that cover a token that is gone": ("2", "1"),
            "summaries after 30 steps": "10",
            "summaries after 300 steps": ("100", "10"),
            "times the course's fold counts a token": "1",
            "its summaries after 300 steps": "4",
        },
    ),
    Row(
        "D5",
        printed="A window makes decoding 3 times faster.",
        right="By bytes read, 7B in fp16, W = 1,024, batch 1: {times faster at 16K} times at 16K,"
        " {times faster at 32K} at 32K, {times faster at 64K} at 64K;"
        " {times faster at 16K, eight requests} at 16K with eight requests.",
        verdict="conditional: and predictable",
        why="A step reads the weights and the cache; a window shortens the second. 3 times is"
        " reached at {K tokens from which it is 3}K tokens. Memory that is freed takes more"
        " requests: {throughput at 16K, full cards, times} times the throughput of a full card at"
        " 16K.",
        how="`budget.Plan.gain`, `first_gain` in steps of 1,024 tokens, and `throughput_gain` on"
        " 80 GB.",
        taught=("08 exercise 4",),
        compute=run.faster,
        figures={
            "times faster at 16K": ("1.6", "3"),
            "times faster at 32K": ("2.2", "3"),
            "times faster at 64K": ("3.4", "3"),
            "times faster at 16K, eight requests": "4.6",
            "K tokens from which it is 3": "54",
            "throughput at 16K, full cards, times": "16",
        },
    ),
    Row(
        "D6",
        printed="A pooled summary token takes part in attention like any token.",
        right="Then a mean of 16 keys with equal scores gets {share of their mean alone, %} %"
        " where its tokens have {share of 16 tokens, %} %. With log 16 added it gets"
        " {share of their mean with log 16, %} %.",
        verdict="incomplete: without log n it has the weight of one token",
        why="log n is exact when the n scores are equal. Otherwise the mean of turned keys gets"
        " too little, never too much (Jensen: the mean of exponentials is at least the exponential"
        " of the mean), and what is missing is, first of all, half the scores' variance. Turned at"
        " the centre of its block there is no such bound.",
        how="A `NumpySummaryRing` whose values are 1 for the folded tokens and 0 for the others,"
        " so that its output is their mass, beside `visibility.oracle_attention`: equal scores,"
        " 100 draws, and scores close together.",
        taught=("06 exercise 5", "06 exercise 6"),
        compute=weight_of_a_mean,
        figures={
            "share of 16 tokens, %": "50.0",
            "share of their mean with log 16, %": "50.0",
            "share of their mean alone, %": ("5.9", "50.0"),
            "draws": "100",
            "draws above the true share, keys as they are": "0",
            "draws above the true share, mean of turned keys": "0",
            "draws above the true share, turned at the centre": ">0",
            "what is missing, over half the scores' variance": "1.00",
        },
    ),
    Row(
        "D7",
        printed="Speculative decoding does not conflict with a sliding window.",
        right="Rejected drafts have overwritten the oldest keys"
        " ({keys of the window overwritten, no slack} of 8 here): a ring needs slack, or has to"
        " refuse.",
        verdict="wrong",
        why="A draft is written before it is judged, and its slot held a key that the shorter text"
        " still sees. With as many slots more as there are drafts nothing is lost.",
        how="Three drafts over a full `NumpyRing(8)`, taken back by `rewind`, without slack and"
        " with 3.",
        taught=("03 exercise 4",),
        compute=run.drafts,
        figures={
            "three drafts, no slack": ("refused", "taken back"),
            "keys of the window overwritten, no slack": "3",
            "three drafts, slack 3": "taken back",
            "keys of the window overwritten, slack 3": "0",
            "output afterwards, against no drafts at all": "<1e-12",
        },
    ),
    Row(
        "D8",
        printed="Prefix caching can be used together with it.",
        right="Only while the last W - 1 tokens of the prefix are still held: a sequence with W ="
        " 4 leaves a prefix of {tokens reused with W = 4, after W = 4} tokens for W = 4, and none"
        " for W = 6 or without a window.",
        verdict="half right: while the end of the prefix is held",
        why="The next token sees the last W - 1 of the prefix, and what lies before them is not"
        " needed. A long talk is past that for every wider window.",
        how="14 tokens in pages of 4, kept whole and with W = 4, looked up in a"
        " `paged_serving.PrefixIndex` with three windows.",
        taught=("03 exercise 4", "09 exercise 3"),
        compute=run.prefixes,
        figures={
            "tokens reused, all kept": "12",
            "tokens reused with W = 4, after W = 4": ("12", "12"),
            "tokens reused with W = 6, after W = 4": ("0", "12"),
            "tokens reused without a window, after W = 4": ("0", "12"),
        },
    ),
    Row(
        "D9",
        printed="A method called prefix sliding, from Stanford, 3 times as fast.",
        right="Unverified: the article says that its author saw no paper, and we traced none.",
        verdict="unverified",
        why="There is nothing to compute. That a paper was not found does not show that there is"
        " none, and no run of a program can settle who first did what. Where 3 times can come from"
        " is D5; the idea itself is older (Compressive Transformer, arXiv 1911.05507).",
        how="None. Whoever knows the paper can settle this row; until then the name is not used as"
        " a fact.",
        taught=("06",),
        compute=run.nothing,
        figures={},
    ),
    Row(
        "D10",
        printed="The time to the first token hardly changes; the time of each further one and the"
        " peak memory fall.",
        right="The same for prompts of a few thousand tokens. With W = 1,024 on the 7B model a"
        " prefill of 4K takes {prefill of 4K, of what it was} of the arithmetic that it did, a"
        " step after 16K {step after 16K, of what it was} of the time, its cache"
        " {cache after 16K, of what it was} of the bytes.",
        verdict="right: while prompts are not very long",
        why="A prefill passes every token through all weights, whatever is kept. Only its scores"
        " get fewer, where tiles outside the window are skipped, and they are most of the work in"
        " long prompts alone: {prefill of 16K, of what it was} at 16K. If the time of a further"
        " token does not fall in a long text, the window is not on.",
        how="Multiplications of a prefill (weights and scores), bytes of a step by `budget.Plan`,"
        " and the tiles that `tiled.tiled_attention` computes for 64 tokens with W = 8 and"
        " without.",
        taught=("07 exercise 6", "08 exercise 5"),
        compute=run.first_and_further,
        figures={
            "prefill of 4K, of what it was": ("0.96", ">0.9"),
            "prefill of 16K, of what it was": "0.79",
            "step after 16K, of what it was": ("0.64", "<0.9"),
            "cache after 16K, of what it was": ("0.06", "<0.9"),
            "tiles with a window and without": "15 and 36",
        },
    ),
)
