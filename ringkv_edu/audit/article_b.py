"""The rows of article B, the context window as a hard budget."""

from __future__ import annotations

from . import experiments_b as run
from .row import Row

__all__ = ["ROWS"]

ROWS = (
    Row(
        "B1",
        printed="32 layers 4,096 wide, 32K tokens, fp16: 17.2 GB; eight requests: 140 GB.",
        right="{one request, GB} GB ({one request, GiB} GiB); eight requests: {eight requests, GB}"
        " GB.",
        verdict="right: decimal GB",
        why="Figures in decimal GB, and the second one rounded.",
        how="2 x 32 layers x 4,096 x 32,768 tokens x 2 bytes, by `budget.Plan.cache_bytes`.",
        taught=("01 exercise 1", "08 exercise 1"),
        compute=run.one_request,
        figures={
            "one request, GB": ("17.18", "17.2"),
            "one request, GiB": "16",
            "eight requests, GB": ("137.4", "~140"),
        },
    ),
    Row(
        "B2",
        printed="The 7B model takes about 1 GB for 1K tokens, so 6 to 8 GB hold 6K to 8K.",
        right="{1,024 tokens, GiB} GiB for 1,024 tokens; 6 GB hold {tokens in 6 GB} tokens, 8 GB"
        " {tokens in 8 GB}.",
        verdict="wrong: by 2",
        why="It contradicts the article's own half MB a token (B4).",
        how="`budget.Plan.longest_context` of Llama 2 7B with 6 and 8 GB beside the weights.",
        taught=("01 exercise 1", "08 exercise 2"),
        compute=run.thousand_tokens,
        figures={
            "1,024 tokens, GiB": ("0.5", "1"),
            "tokens in 6 GB": ("11,444", "~6,000"),
            "tokens in 8 GB": ("15,258", "~8,000"),
        },
    ),
    Row(
        "B3",
        printed="From 4K to 32K tokens each new token costs 8 times the scores and 8 times the"
        " memory.",
        right="{scores of a decoded token, times} times for a decoded token. A whole prefill takes"
        " {scores of the prefill, times} times the scores and"
        " {projections and MLP of the prefill, times} times the projections and the MLP.",
        verdict="right: for decode only",
        why="A decoded token has one score a head for each token before it. A prefill has one for"
        " each pair; but every token passes through the weights once.",
        how="Entries that a query sees, by `budget.Policy`, for one query and summed over a"
        " prefill.",
        taught=("01 exercise 1", "08 exercise 5", "09 exercise 5"),
        compute=run.four_to_thirty_two,
        figures={
            "scores of a decoded token, times": ("8", "8"),
            "bytes of the cache, times": ("8", "8"),
            "scores of the prefill, times": "64",
            "projections and MLP of the prefill, times": "8",
        },
    ),
    Row(
        "B4",
        printed="A token is 262,144 numbers and 0.5 MB; 1K tokens are 512 MB, 10K are 5 GB.",
        right="{numbers a token} numbers, {a token, KiB} KiB; 1,024 tokens {1,024 tokens, MiB}"
        " MiB; 10,000 tokens {10,000 tokens, GB} GB.",
        verdict="right",
        why="The small figures are in KiB and MiB, the last one in GB.",
        how="2 x 32 layers x 32 heads x 128 numbers of 2 bytes, by `budget.Plan.token_bytes`.",
        taught=("01 exercise 1",),
        compute=run.a_token,
        figures={
            "numbers a token": ("262,144", "262,144"),
            "a token, MiB": ("0.5", "0.5"),
            "a token, KiB": "512",
            "1,024 tokens, MiB": ("512", "512"),
            "10,000 tokens, GB": ("5.24", "5"),
        },
    ),
    Row(
        "B5",
        printed="For 1K tokens: 256 MB in FP8, about 64 MB in 4 bits.",
        right="{8 bits, MiB} MiB and {4 bits, MiB} MiB.",
        verdict="half right: the 4-bit figure is wrong by 2",
        why="Four bits are half of eight. Scales come on top: one and a lowest value for each"
        " token and head of 128 make {bits a number, with scales} bits of 4.",
        how="`budget.Plan` with cached numbers of 1 and of half a byte; scales by"
        " `quantize.quantize`.",
        taught=("08 exercise 1", "09 exercise 4"),
        compute=run.fewer_bits,
        figures={
            "8 bits, MiB": ("256", "256"),
            "4 bits, MiB": ("128", "~64"),
            "bits a number, with scales": "4.25",
        },
    ),
    Row(
        "B6",
        printed="A 13B model of 32 layers x 5,120: 640 MB for 1K tokens, 20 GB at 32K; later, with"
        " 40 layers, 26.8 GB at 32K.",
        right="{32 layers, 1,024 tokens, MiB} MiB and {32 layers, 32K tokens, GiB} GiB; with its"
        " {layers of a 13B} layers {40 layers, 1,024 tokens, MiB} MiB and"
        " {40 layers, 32K tokens, GB} GB.",
        verdict="half right: the arithmetic is right; a 13B has 40 layers",
        why="Each product is right for its layers, but Llama 2 13B has 40; and the unit changes"
        " between the two, from GiB to GB.",
        how="`budget_presets.MODELS`: `article-13b` beside `llama-2-13b`.",
        taught=("01 exercise 1", "08 exercise 1"),
        compute=run.thirteen,
        figures={
            "32 layers, 1,024 tokens, MiB": ("640", "640"),
            "32 layers, 32K tokens, GiB": ("20", "20"),
            "40 layers, 1,024 tokens, MiB": "800",
            "40 layers, 32K tokens, GB": ("26.8", "26.8"),
            "layers of a 13B": ("40", "32"),
        },
    ),
    Row(
        "B7",
        printed="Reading 17 GB at 1 TB/s takes 17 ms a token; at 8K tokens 4 ms.",
        right="{cache of 32K tokens, ms} ms and {cache of 8K tokens, ms} ms for the cache alone;"
        " {with the weights, 32K tokens, ms} ms with 13.5 GB of weights.",
        verdict="right: for the cache alone",
        why="Two things are left out: a step reads the weights as well, and an A100 reads"
        " {A100 of 40 GB, TB/s} to {A100 of 80 GB, TB/s} TB a second, not 1.",
        how="Bytes over bandwidth, by `budget.Plan`; the cards from `budget_presets.CARDS`.",
        taught=("01 exercise 1", "05 the floor", "08 exercise 3"),
        compute=run.reading,
        figures={
            "cache of 32K tokens, ms": ("17.2", "17"),
            "cache of 8K tokens, ms": ("4.3", "4"),
            "with the weights, 32K tokens, ms": "30.7",
            "A100 of 40 GB, TB/s": "1.555",
            "A100 of 80 GB, TB/s": "2.039",
        },
    ),
    Row(
        "B8",
        printed="20,000 tokens have 400 million scores.",
        right="{scores a head, millions} million, for each head of each layer; a causal mask"
        " leaves {causal, millions} million.",
        verdict="right: per head",
        why="Each token has a score with each.",
        how="20,000 squared; causal, 1 + 2 + ... + 20,000.",
        taught=("08 exercise 5", "09 exercise 5"),
        compute=run.square,
        figures={"scores a head, millions": ("400", "400"), "causal, millions": "200"},
    ),
    Row(
        "B9",
        printed="80 GB less 26 GB, over 26.8 GB for 32K tokens: about 64K tokens.",
        right="{tokens, by division} by division; {whole tokens that fit} whole tokens fit.",
        verdict="right",
        why="The card is then full to the last byte: no activations, no headroom.",
        how="`budget.Plan.room` over `token_bytes`, and `longest_context`, with 26 GB of weights.",
        taught=("08 exercise 2",),
        compute=run.what_fits,
        figures={
            "K tokens": ("64", "64"),
            "tokens, by division": "65,918",
            "whole tokens that fit": "65,917",
        },
    ),
    Row(
        "B10",
        printed="One 80 GB card, a 13B model, 64K tokens, 8 requests, text compressed 4 times, the"
        " cache in 8 bits: a peak of 70 GB.",
        right="{caches, GB} GB of caches and {weights, GB} GB of weights are {peak, GB} GB.",
        verdict="wrong: does not add up without a window",
        why="It does not add up without a sliding window as well; 70 GB would leave room for"
        " {tokens a request within 70 GB} tokens a request, not 16,384.",
        how="`budget.Plan` with 40 layers, numbers of one byte, 16K tokens and a batch of 8.",
        taught=("08 exercise 2",),
        compute=run.peak,
        figures={
            "caches, GB": "53.7",
            "weights, GB": "26",
            "peak, GB": ("79.7", "70"),
            "tokens a request within 70 GB": "13,427",
        },
    ),
    Row(
        "B11",
        printed="17.2 GB of cache are more than half of the 7B model's weights.",
        right="{cache over weights} times the weights of {weights, GB} GB in fp16.",
        verdict="understated",
        why="At 32K tokens the cache is the larger part of what a step reads.",
        how="`budget.Plan.cache_bytes` over `weight_bytes`.",
        taught=("01 exercise 1", "08 exercise 3"),
        compute=run.beside_the_weights,
        figures={
            "cache, GB": ("17.18", "17.2"),
            "weights, GB": "13.5",
            "cache over weights": ("1.27", ">0.5"),
        },
    ),
    Row(
        "B12",
        printed="Keeping some layers in fp16 and the rest in 8 bits saves 30 to 40 %.",
        right="Then {kept to save 40 %} to {kept to save 30 %} of 32 layers stay in fp16.",
        verdict="right: made concrete",
        why="With all layers in 8 bits half is saved; each layer kept gives back 1/64.",
        how="`budget.Plan` in fp16 and int8, mixed by layers, solved for the layers kept.",
        taught=("09 exercise 4",),
        compute=run.mixed_layers,
        figures={
            "kept to save 40 %": "6.4",
            "kept to save 30 %": "12.8",
            "saved with 7 kept, %": ("39.06", "<40"),
            "saved with 12 kept, %": ("31.25", ">30"),
        },
    ),
    Row(
        "B13",
        printed="Sparse attention costs O(L sqrt L) or O(L log L).",
        right="Longformer and BigBird grow as L x W, Reformer as L log L, the Sparse Transformer"
        " as L sqrt L: {Longformer, scores}, {BigBird, scores}, {Reformer, sorting} and"
        " {Sparse Transformer, scores} times for a text 4 times as long.",
        verdict="half right: mixed up",
        why="The classes exist, but belong to different models: a window, a few global and a few"
        " random keys are a fixed number a token (arXiv 2004.05150, 2007.14062); strides of sqrt L"
        " are the Sparse Transformer's (1904.10509); Reformer sorts into buckets (2001.04451).",
        how="Scores of each pattern's mask counted for 256 and 1,024 tokens; for Reformer L log L.",
        taught=("09 the other roads",),
        compute=run.sparse,
        figures={
            "Longformer, scores": ("4", "8"),
            "BigBird, scores": ("4", "8"),
            "Sparse Transformer, scores": "8",
            "Reformer, sorting": ("5", "5"),
        },
    ),
    Row(
        "B14",
        printed="From FP16 to FP8 a decode step reads half.",
        right="The cache's part is halved; with the weights of the 7B model a step at 32K still"
        " reads {the whole step, of what it was} of what it did.",
        verdict="half right: of the cache only",
        why="Weights are read too, and stay as they are when only the cache has fewer bits.",
        how="`budget.Plan.step_seconds`, batch 1, with a cache of 8 bits over one of 16.",
        taught=("08 exercise 3", "09 exercise 4"),
        compute=run.eight_bit_step,
        figures={
            "the cache, of what it was": ("0.50", "0.50"),
            "the whole step, of what it was": ("0.72", "0.50"),
        },
    ),
)
