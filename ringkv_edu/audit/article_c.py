"""The rows of article C, the hardware-level bottleneck."""

from __future__ import annotations

from . import experiments_c as run
from .row import Row

__all__ = ["ROWS"]

ROWS = (
    Row(
        "C1",
        printed="The scores of 128K by 128K tokens in fp16 take 16 GB.",
        right="{scores, GB} GB ({scores, GiB} GiB) for each head of each layer; a causal mask"
        " leaves {causal, GiB} GiB.",
        verdict="wrong: by 2",
        why="131,072 squared, times 2 bytes. What is printed is what the causal half takes.",
        how="Tokens squared x 2 bytes; causal, half of the pairs and the diagonal.",
        taught=("08 exercise 5", "09 exercise 5"),
        compute=run.all_scores,
        figures={"scores, GB": "34.4", "scores, GiB": ("32", "16"), "causal, GiB": "16"},
    ),
    Row(
        "C2",
        printed="The keys of one layer, 32 heads of 128, at 128K tokens take 524 MB; of 32 layers"
        " 16 GB.",
        right="{a layer's keys, millions of numbers} million numbers (128K read as 128,000) are"
        " {a layer's keys, GB} GB in fp16, and {keys of 32 layers, GB} GB for 32 layers; keys and"
        " values twice that, {keys and values of 32 layers, GB} GB.",
        verdict="wrong: numbers counted as bytes",
        why="A number in fp16 takes two bytes.",
        how="32 x 128 x 128,000 numbers, and their bytes by `budget.Plan.cache_bytes`, halved for"
        " the keys alone.",
        taught=("01 exercise 1", "08 exercise 1"),
        compute=run.keys_alone,
        figures={
            "a layer's keys, millions of numbers": "524",
            "a layer's keys, GB": ("1.05", "0.52"),
            "keys of 32 layers, GB": ("33.6", "16"),
            "keys and values of 32 layers, GB": "67.1",
        },
    ),
    Row(
        "C3",
        printed="RoPE raises the hit rate of a KV cache from 63 % to 91 %, and so 91 % of QK^T are"
        " skipped.",
        right="A KV cache is always reused whole, with RoPE or without:"
        " {old tokens not projected again, RoPE, %} % of the old tokens are not projected again,"
        " and {scores skipped, RoPE, %} % of the scores are skipped.",
        verdict="wrong: not meaningful",
        why="What a cache saves is projecting old tokens again: here"
        " {tokens projected with a cache} projections in place of"
        " {tokens projected without a cache}. The new query's scores with all keys are new"
        " numbers, and are always computed.",
        how="A layer that counts decodes 20 tokens after a prompt of 100, with a `NumpyRing` and"
        " by `visibility.oracle_attention` from everything anew, turned and not turned.",
        taught=("01 exercise 1", "09 exercise 3"),
        compute=run.what_a_cache_saves,
        figures={
            "old tokens not projected again, no RoPE, %": ("100", "63"),
            "scores skipped, no RoPE, %": "0",
            "old tokens not projected again, RoPE, %": ("100", "91"),
            "scores skipped, RoPE, %": ("0", "91"),
            "tokens projected without a cache": "2,210",
            "tokens projected with a cache": "20",
            "largest difference of outputs": "<1e-12",
        },
    ),
    Row(
        "C7",
        printed="164 KB of shared memory hold five 128 x 128 tiles in fp16, or one of 256 x 256.",
        right="{tiles of 128 x 128} and {tiles of 256 x 256}; but Q, K and V tiles share it:"
        " {sets of Q, K and V, 128 x 128} set of 128 x 128 and {sets of Q, K and V, 256 x 256} of"
        " 256 x 256.",
        verdict="half right: the arithmetic is; nothing can be computed with one tile",
        why="A step of tiled attention needs a tile of Q, one of K and one of V. The scores live"
        " in registers and take no place there.",
        how="164 KiB over the bytes of a tile, by `tiled.shared_tiles`; a set is three tiles.",
        taught=("09 exercise 5",),
        compute=run.shared_memory,
        figures={
            "tiles of 128 x 128": ("5", "5"),
            "tiles of 256 x 256": ("1", "1"),
            "sets of Q, K and V, 128 x 128": "1",
            "sets of Q, K and V, 256 x 256": ("0", "1"),
        },
    ),
    Row(
        "C8",
        printed="32 heads become 8, 128 dimensions 64, fp16 int8; how much smaller that is, is not"
        " said.",
        right="1/{times smaller} of the bytes; 1/{times smaller, scales counted} with a scale and"
        " a lowest value for each token and head.",
        verdict="right: not stated there",
        why="4 x 2 x 2.",
        how="`budget.Plan.token_bytes` before and after; the scales by `quantize.quantize`.",
        taught=("09 exercise 4",),
        compute=run.smaller,
        figures={"times smaller": ("16", ">1"), "times smaller, scales counted": "15.1"},
    ),
    Row(
        "C9",
        printed="Tiled attention turns O(N^2) into O(N).",
        right="The extra memory, yes; the arithmetic stays O(N^2). With twice as many tokens a"
        " block of queries holds as many numbers as before ({numbers held, times} times), and"
        " {tiles, times} times the tiles are computed ({tiles computed, causal} if causal).",
        verdict="half right: memory, not arithmetic",
        why="No row of scores is ever whole, but each score is still computed once.",
        how="`tiled.tiled_attention` over 64 and 128 tokens in tiles of 8 x 8, which counts its"
        " work; its output against the plain softmax.",
        taught=("09 the other roads",),
        compute=run.tiles,
        figures={
            "difference from the plain softmax": "<1e-12",
            "numbers held, times": ("1", "<2.01"),
            "tiles, times": ("4", "<2.01"),
            "tiles computed, causal": "36 and 136",
        },
    ),
    Row(
        "C10",
        printed="A token's cache comes in packets of about 2 KB, a layer's weights are 100 MB.",
        right="7B in fp16: {a token in a layer, KiB} KiB for a token and layer,"
        " {a layer's weights, MB} MB for a layer.",
        verdict="wrong: by 8 and by 4",
        why="A key and a value of 4,096 numbers each take 16 KiB; a layer of Llama 2 7B has 202"
        " million weights.",
        how="`budget.Plan.entry_bytes`; the weights of Llama 2 7B less two tables of 32,000 words"
        " and the last norm, over 32 layers.",
        taught=("01 exercise 1", "08 exercise 3"),
        compute=run.traffic,
        figures={"a token in a layer, KiB": ("16", "~2"), "a layer's weights, MB": ("405", "~100")},
    ),
    Row(
        "C11",
        printed="The page size is ceil(max_len x hidden / 1024) x 1024.",
        right="For 128K x 4,096 that is one page of {a page, MiB} MiB: no paging at all.",
        verdict="wrong",
        why="A page as large as the longest request reserves for each request what the longest one"
        " would take. Pages hold a fixed few tokens, such as 16.",
        how="The formula, and `paged_serving.fragmentation` for a request of 1,000 tokens with"
        " that page and with pages of 16; `paged.pages_needed` for a window.",
        taught=("09 pages",),
        compute=run.page_size,
        figures={
            "a page, MiB": "512",
            "pages that the longest request fills": ("1", ">1"),
            "places taken by 1,000 tokens, that page": "131,072",
            "places taken by 1,000 tokens, reserved": "131,072",
            "places taken by 1,000 tokens, pages of 16": "1,008",
            "pages of 16 for a window of 1,024": "65",
        },
    ),
    Row(
        "C13",
        printed="Hot, warm and cold tiers bring 128K from 48 GB to 19 GB for 11 % more time.",
        right="96K cold tokens of a 7B are {96K tokens, GB} GB: {reading them, seconds} s a token"
        " at 64 GB/s, if they are read.",
        verdict="conditional: only if most of them are not read",
        why="A step with all 128K on a device of 1 TB/s takes {step, all on the device, ms} ms, so"
        " 11 % more leave time for {cold tokens readable in 11 %, %} % of the cold tokens."
        " Attention to everything reads them all.",
        how="Bytes over bandwidth, by `budget.Plan`; and how much of its cold file a"
        " `tiers.TieredCache` reads for one query.",
        taught=("09 three tiers",),
        compute=run.cold,
        figures={
            "96K tokens, GB": "51.5",
            "reading them, seconds": "0.81",
            "step, all on the device, ms": "82.2",
            "longer if all are read, %": ("980", "11"),
            "longer if 1.1 % are read, %": ("11", "11"),
            "cold tokens readable in 11 %, %": "1.1",
            "share of the cold tier that a query reads": "1.0",
        },
    ),
)
