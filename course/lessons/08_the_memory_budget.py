# %% [markdown] id="start"
# # 08 The memory budget
#
# *80 minutes. What you write needs only the standard library; one cell that measures a small
# decoder needs torch.*
#
# How many chats fit on a card, how fast can each be at best, and what does a window change? No model has to run
# for that. It takes the shape of a model, the size and speed of a memory, and arithmetic.
#
# The articles behind this course do such arithmetic. Of the 50 statements in `course/source_audit.md`, 14 hold as
# they stand. Here you work out some of the others; each row of the audit is named in brackets.
#
# Two kinds of units are in use. **GB** is 10^9 bytes and **GiB** 2^30, 7 % more; MiB are 5 % more than MB. The
# articles write GB for both. Lengths go by powers of two: 16K tokens are 16,384.

# %% id="setup"
from ringkv_edu import scenes_08 as scenes
from ringkv_edu.given_budget import CARD, GB, GEMMA, GIB, KIB, MIB, SEVEN, THIRTEEN, Card, Shape
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work

# %% [markdown] id="bg1-cache-why"
# ## Exercise 1: what a cache weighs
#
# *Difficulty 2 of 5 · 9 minutes · 3 points*
#
# Lesson 01 counted a token: a key and a value in each layer, `kv_heads` heads of `head_dim` numbers. A planner
# needs what servers add: layers with a window and without, sinks, slack, batches, numbers of other sizes.
#
# A `Shape` has `windows` (one for each layer; `None` sees everything), `heads`, `kv_heads`, `head_dim`, and
# `weights`, in bytes. Three are given:
#
# | | layers | heads, with keys | a token, fp16 | 32K tokens |
# |---|---|---|---|---|
# | `SEVEN` | 32 | 32, 32 | 512 KiB | 16 GiB |
# | `THIRTEEN` | 40 | 40, 40 | 800 KiB | 25 GiB |
# | `GEMMA`, if all were global | 34 | 8, 4 | 136 KiB | 4.25 GiB |
# | `GEMMA`, 29 of them sliding, W = 1,024 | 34 | 8, 4 | | 0.74 GiB, 17 % |
#
# The 16 GiB are in print, too, as 17.2 GB and as 16 (B1, D1). One article gives the 13B model 32 layers, so
# 640 KiB and 20 GiB (B6). It halves the bytes for 8 bits and quarters those for 4: 256 MB and 64 MB for 1K tokens of
# the 7B model, where it is 128 MiB (B5). Another takes numbers for bytes: 524 million of them, one layer's keys of
# 128,000 tokens, are 1.05 GB (C2).
#
# Write `planned_bytes(shape, tokens, batch, sinks, slack, number)`: the bytes of the caches of `batch` requests of
# `tokens` tokens each. `number` is the bytes of one number; for 4 bits it is 0.5. A sliding layer has slots for its
# sinks, its W and its slack. But **n tokens fill n slots at most**: a planner who knows how long requests may get
# makes no ring longer. (In lesson 07 a ring was made before anybody knew.)


# %% id="bg1-cache" role="answer"
def planned_bytes(shape, tokens, batch=1, sinks=0, slack=0, number=2):
    """Bytes of the keys and values of `batch` requests, in all layers."""
    ### BEGIN SOLUTION
    slots = sum(
        tokens if window is None else min(tokens, sinks + window + slack)
        for window in shape.windows
    )
    return batch * slots * 2 * shape.kv_heads * shape.head_dim * number
    ### END SOLUTION


# %% id="bg1-cache-check" role="check"
check("bg1-cache")
# hint("bg1-cache", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="bg1-cache-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "bg1-cache")
shapes = [Shape([8, None], 4, 2, 8), Shape([8, 8, None], 8, 2, 64), SEVEN, GEMMA]
shapes.append(Shape([rng.randrange(4, 40), 16, None], 8, rng.choice([1, 2, 4]), 96))
for shape in shapes:
    print(shape)
    for tokens in (9, 40, 100 + rng.randrange(30000)):
        kept = dict(batch=rng.randrange(2, 9), sinks=rng.randrange(1, 5), slack=rng.randrange(1, 9))
        kept["number"] = 0.5 if tokens == 40 else rng.choice([1, 2])
        bare = planned_bytes(shape, tokens)
        print(
            f"  {tokens} tokens: {plain(round(bare))} bytes; with",
            *(f"{key} {value}" for key, value in kept.items()),
        )
        print("   ", plain(round(planned_bytes(shape, tokens, **kept))))

# %% [markdown] role="hint" exercise="bg1-cache"
# How many slots has each layer for one request? Which of the arguments matter to a global layer?

# %% [markdown] role="hint" exercise="bg1-cache"
# Go over `shape.windows`. A global layer has `tokens` slots, a sliding one the smaller of `tokens` and sinks + W +
# slack. Add them up. A slot is a key and a value of `kv_heads` times `head_dim` numbers. Do not round `number`.

# %% [markdown] role="hint" exercise="bg1-cache"
# `slots = sum(tokens if w is None else min(tokens, sinks + w + slack) for w in shape.windows)` and
# `return batch * slots * 2 * shape.kv_heads * shape.head_dim * number`.

# %% [markdown] role="solution" exercise="bg1-cache"
# Only `kv_heads` is in it: query heads ask and are not kept. In Gemma 3 4B the 5 global layers hold 85 % of what
# is held at 32K, and from there on nothing else grows. Scales of quantised numbers are not counted here; 4 bits
# with scales take a little more (lesson 09).

# %% [markdown] id="bg2-fits-why"
# ## Exercise 2: what fits
#
# *Difficulty 3 of 5 · 14 minutes · 4 points*
#
# A card holds the weights, the caches, and what a step needs on the way. For the last, servers leave some 10 to
# 20 % alone: they use a **share** of 0.9 or 0.8. What that share has left under the weights is the **room**.
#
# | | printed | right |
# |---|---|---|
# | 7B: tokens in 6 GB and 8 GB (B2) | 6K to 8K, "1 GB for 1K" | 11,444 and 15,258 |
# | 13B, 26 GB of weights, on 80 GB: tokens (B9) | about 64K | 65,917; with a share of 0.9 56,152 |
# | 13B: 8 requests of 16K in 8 bits, and the weights (B10) | 70 GB | 79.7 GB |
#
# A whole unit goes wrong as easily. A card of 24 GiB has room for 18,531 tokens of the 7B model at a share of 0.9;
# take them for 24 GB, and it is 15,493.
#
# Write three functions. `cache` is a function: `cache(n)` gives the bytes of a request of n tokens, sinks and slack
# included. It never falls as n grows, but it may stop growing.
#
# - `room(memory, unit, weights, use)`: bytes for caches on a card of `memory` `"GB"` or `"GiB"`; 0 where the
#   weights do not fit.
# - `most_requests(left, cache, tokens)`: how many requests of `tokens` tokens fit into `left` bytes.
# - `longest_context(left, cache, requests, most)`: the most tokens that each of `requests` requests can have, up to
#   `most`; 0 if not one fits. `most` may be 2^40, so do not try every length.


# %% id="bg2-fits" role="answer"
def room(memory, unit, weights, use):
    """Bytes left for caches on a share `use` of a card."""
    ### BEGIN SOLUTION
    size = memory * {"GB": 10**9, "GiB": 2**30}[unit]
    return max(0, size * use - weights)
    ### END SOLUTION


def most_requests(left, cache, tokens):
    """How many requests of `tokens` tokens fit into `left` bytes."""
    ### BEGIN SOLUTION
    return int(left // cache(tokens))
    ### END SOLUTION


def longest_context(left, cache, requests, most):
    """The most tokens that each request can have, at most `most`."""
    ### BEGIN SOLUTION
    low, high = 0, most
    while low < high:  # low fits, high + 1 does not
        middle = (low + high + 1) // 2
        if requests * cache(middle) <= left:
            low = middle
        else:
            high = middle - 1
    return low
    ### END SOLUTION


# %% id="bg2-fits-check" role="check"
check("bg2-fits")
# hint("bg2-fits", 1)

# %% id="bg2-fits-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "bg2-fits")
for memory, unit, use in ((80, "GB", 1), (24, "GiB", 0.75), (rng.randrange(8, 60), "GiB", 0.5)):
    for weights in (2 * GIB, 14 * GB, 30 * GB):
        left = room(memory, unit, weights, use)
        print(f"{memory} {unit}, share {use}, {weights} bytes of weights: {plain(round(left))}")
token, window = rng.randrange(5, 60), rng.randrange(10, 40)
caches = {
    "grows": lambda n: token * n,
    "stops": lambda n: token * min(n, window),
    "mixed": lambda n: 4 * n + token * min(n, window),
}
for name, cache in caches.items():
    for left in (3 * cache(90), 2 * cache(90) + 1, 4 * token - 1):
        print(f"{name}, {left} bytes: {plain(most_requests(left, cache, 90))} requests of 90,")
        found = [longest_context(left, cache, many, 10**6) for many in (1, 2, 5)]
        found.append(longest_context(left, cache, 1, 50))
        print("  longest for 1, 2, 5:", plain(found[:3]), "up to 50:", plain(found[3]))

# %% [markdown] role="hint" exercise="bg2-fits"
# Write down what takes part in each: which bytes are there, which go away first, and what is each request's part?
# For the longest context: if a length fits, what about all shorter ones?

# %% [markdown] role="hint" exercise="bg2-fits"
# The share is one of the whole card; the weights come off afterwards. Requests are a whole division. For the
# context keep two bounds, a length that fits (0 at first) and one that is the most it can be; try the middle; move
# one of the bounds; stop when they meet.

# %% [markdown] role="hint" exercise="bg2-fits"
# `max(0, memory * {"GB": 10**9, "GiB": 2**30}[unit] * use - weights)`; `int(left // cache(tokens))`; and while
# `low < high`: `middle = (low + high + 1) // 2`, then `low = middle` if `requests * cache(middle) <= left`, otherwise
# `high = middle - 1`.

# %% [markdown] role="solution" exercise="bg2-fits"
# Forty halvings find one length among 2^40. Dividing the room by one token's bytes works for a cache that grows
# in proportion, and for no other. Where all layers slide there is no longest context: `most` comes back. And a plan to
# the last byte, as B9's, fits on paper only: nothing is left for the step itself.

# %% [markdown] id="bg3-floor-why"
# ## Exercise 3: the least time of a step
#
# *Difficulty 2 of 5 · 8 minutes · 2 points*
#
# A decode step multiplies each weight once for each request. That is so little work for each byte that, until
# batches get large, it waits for memory: no step is faster than **what it reads, over the bandwidth**. It reads the
# weights **once**, for all requests together, and of each request what its newest query sees.
#
# The 7B model at 1 TB/s (B7, B14; an A100 of 80 GB reads 2 TB/s):
#
# | caches | caches alone | with 13.5 GB of weights | tokens a second |
# |---|---|---|---|
# | 1 of 8K | 4.3 ms | 17.8 ms | 56 |
# | 1 of 32K | 17.2 ms | 30.7 ms | 33 |
# | 1 of 32K, in 8 bits | 8.6 ms | 22.1 ms, 0.72 of it, not half | 45 |
# | 8 of 4K | 17.2 ms | 30.7 ms | 261 |
#
# (A cache of 32K is 1.27 times the weights, "more than half" in print, B11. In a layer a token has 16 KiB, the
# weights 405 MB; 2 KB and 100 MB in print, C10.)
#
# Write `step_seconds(weights, token, window, lengths, bandwidth)`. `token` is the bytes of a token's keys and values
# in all layers, `window` the W of all layers or `None`, `lengths` how many tokens each request has (the newest
# included). And `tokens_a_second`, of the same arguments, all requests together.


# %% id="bg3-floor" role="answer"
def step_seconds(weights, token, window, lengths, bandwidth):
    """The least time of a decode step, in seconds."""
    ### BEGIN SOLUTION
    read = sum(n if window is None else min(n, window) for n in lengths)
    return (weights + token * read) / bandwidth
    ### END SOLUTION


def tokens_a_second(weights, token, window, lengths, bandwidth):
    """The most tokens a second, of all requests together."""
    ### BEGIN SOLUTION
    return len(lengths) / step_seconds(weights, token, window, lengths, bandwidth)
    ### END SOLUTION


# %% id="bg3-floor-check" role="check"
check("bg3-floor")
# hint("bg3-floor", 1)

# %% id="bg3-floor-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "bg3-floor")
for window in (None, 1024, rng.randrange(200, 900)):
    lengths = [
        100 + rng.randrange(90),
        *(1200 + rng.randrange(9000) for _ in range(rng.randrange(2, 5))),
    ]
    rng.shuffle(lengths)
    weights, token = rng.randrange(3, 30) * GB, rng.choice([64, 128, 512]) * KIB
    sizes = (weights, token, window, lengths, rng.choice([1, 2, 3]) * 1000 * GB)
    print(f"{weights // GB} GB, {token // KIB} KiB a token, window {window}, {lengths}")
    milliseconds = 1000 * step_seconds(*sizes)
    print("  ms", fixed(milliseconds), "tokens a second", fixed(tokens_a_second(*sizes), 2))

# %% [markdown] role="hint" exercise="bg3-floor"
# Which of the arguments is read once, which once for each request, and how much of a long request does a query see?

# %% [markdown] role="hint" exercise="bg3-floor"
# Add up, over the requests, the smaller of its length and W. Times `token`, plus the weights: the bytes. Over the
# bandwidth: the seconds. In that time every request gets one token.

# %% [markdown] role="hint" exercise="bg3-floor"
# `read = sum(n if window is None else min(n, window) for n in lengths)`;
# `return (weights + token * read) / bandwidth`; `return len(lengths) / step_seconds(...)`.

# %% [markdown] role="solution" exercise="bg3-floor"
# Eight requests of 4K read what one of 32K reads, and give eight tokens for it. That is why servers want large
# batches, and why freed memory becomes speed. It is a floor: lesson 05 measured how near a step comes. With
# sinks a query sees S more; slack is stored and not read.

# %% [markdown] id="predict08-why"
# ### Predict first
#
# *Difficulty 2 of 5 · 7 minutes · no points*
#
# The 7B model, requests of 16,384 tokens, and a window of 1,024 in every layer. Each cache is a sixteenth of what it
# was. How many times better is each of these? Choose among 1, 1.6, 4.6 and 16; a number may be used twice.
#
# 1. `latency`: the step of one request alone;
# 2. `latency_of_8`: the step of a batch of 8, the same 8 before and after;
# 3. `throughput`: tokens a second of a card of 80 GB, which takes as many requests as fit, before and after.

# %% id="predict08" role="answer"
### BEGIN SOLUTION
latency = 1.6
latency_of_8 = 4.6
throughput = 16
### STUB
# latency = ...
# latency_of_8 = ...
# throughput = ...
### END SOLUTION

# %% id="predict08-check" role="check"
check("predict08")
# hint("predict08", 1)

# %% [markdown] role="hint" exercise="predict08"
# A step reads two things. Which of them gets smaller, and which of them is larger to begin with?

# %% [markdown] role="hint" exercise="predict08"
# In GB: the weights are 13.5, one cache of 16K is 8.6, one of 1,024 tokens 0.54. Add up before and after, for one
# request and for eight. For the throughput, ask how many caches fit into 66.5 GB.

# %% [markdown] role="hint" exercise="predict08"
# (13.5 + 8.6) / (13.5 + 0.54); (13.5 + 8 x 8.6) / (13.5 + 8 x 0.54); and 7 requests become 123, while the step
# takes about as long.

# %% [markdown] role="solution" exercise="predict08"
# 1.6, 4.6 and 16. People say 16 for all of them. One request waits for the weights above all. The card was full
# before and is full after; so a step reads about as much, and in the same time 123 requests get a token instead
# of 7.

# %% [markdown] id="two-gains"
# ## One window, two gains
#
# ![](figure:gain.png)
#
# | tokens | latency, one request | latency, batch of 8 | throughput, full card |
# |---|---|---|---|
# | 4K | 1.1 | 1.7 | 4.0 |
# | 16K | 1.6 | 4.6 | 16.3 |
# | 64K | 3.4 | 16.2 | 74.0 |
#
# At 16K the full card went from 7 requests and 73.6 ms a step to 123 and 79.5 ms. So "3 times faster" (D5) is
# neither right nor wrong. It depends on length and batch, and can be foretold. (Dotted: 8 requests of 16K without a
# window need a larger card.)

# %% [markdown] id="bg4-gain-why"
# ## Exercise 4: from which length on?
#
# *Difficulty 4 of 5 · 16 minutes · 4 points*
#
# All requests have the same length; `token` and `window` are as in exercise 3. The bandwidth cancels. Write:
#
# - `latency_gain(weights, token, window, tokens, batch)`: the step's time without the window over that with it.
# - `throughput_gain(weights, token, window, tokens, left)`: tokens a second with the window over those without,
#   each with as many requests as fit into `left` bytes, whole ones. `None` where not one fits without.
# - `first_length(weights, token, window, wanted, batch, most)`: the first whole number of tokens at which the latency
#   gain is at least `wanted` (above 1); `None` if that is beyond `most`, the longest text the model takes.
#
# With W = 1,024 the 7B model is 3 times as fast from 54,483 tokens on, in a batch of 8 from 9,499. Llama 2 was trained
# for 4,096: alone it never gets there. A batch of 64 does, at 3,876, on a card with room for 130 GB of caches.


# %% id="bg4-gain" role="answer"
from math import ceil


def latency_gain(weights, token, window, tokens, batch):
    """How many times shorter a step is with the window."""
    ### BEGIN SOLUTION
    before = weights + batch * token * tokens
    return before / (weights + batch * token * min(tokens, window))
    ### END SOLUTION


def throughput_gain(weights, token, window, tokens, left):
    """How many times more tokens a second, with all requests that fit; None if none did."""
    ### BEGIN SOLUTION
    rates = []
    for held in (tokens, min(tokens, window)):
        requests = left // (token * held)
        if requests == 0:
            return None
        rates.append(requests / (weights + requests * token * held))
    return rates[1] / rates[0]
    ### END SOLUTION


def first_length(weights, token, window, wanted, batch, most):
    """The first length with a latency gain of at least `wanted`, None beyond `most`."""
    ### BEGIN SOLUTION
    with_window = weights + batch * token * window
    tokens = ceil((wanted * with_window - weights) / (batch * token))
    return tokens if tokens <= most else None
    ### END SOLUTION


# %% id="bg4-gain-check" role="check"
check("bg4-gain")
# hint("bg4-gain", 1)

# %% id="bg4-gain-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "bg4-gain")
for _ in range(3):
    window = rng.randrange(20, 60)
    sizes = (6 * rng.randrange(350, 1500) + 1, rng.choice([2, 4, 6]), window)
    print("weights, token, window:", plain(sizes))
    for tokens in (window // 2, 5 * window + 3, 20 * window):
        gains = [latency_gain(*sizes, tokens, batch) for batch in (1, 6)]
        print(f"  {tokens} tokens: latency", plain(gains), end="")
        lefts = (sizes[1] * tokens - 1, 3 * sizes[1] * tokens + 50)
        print(" throughput", plain([throughput_gain(*sizes, tokens, left) for left in lefts]))
    lengths = [
        first_length(*sizes, wanted, batch, 10**6) for wanted in (1.5, 3) for batch in (1, 9)
    ]
    print("  first lengths", plain(lengths))
for most in (119, 120, 10**6):
    print(f"up to {most}:", plain(first_length(1000, 10, 10, 2, 1, most)))

# %% [markdown] role="hint" exercise="bg4-gain"
# Write down the bytes of a step before and after. Which part of them does not change? For the first length: which
# equation holds where the gain is exactly `wanted`?

# %% [markdown] role="hint" exercise="bg4-gain"
# A step reads weights + requests x token x what each holds. Throughput is requests over that; do it twice, with the
# whole division `left // (token * held)` as requests. A gain above 1 needs a text longer than W, so
# weights + batch x token x n = wanted x (weights + batch x token x W). Solve for n and round up; or try lengths by
# halving.

# %% [markdown] role="hint" exercise="bg4-gain"
# `(weights + batch * token * tokens) / (weights + batch * token * min(tokens, window))`; for `held` in `tokens` and
# `min(tokens, window)`: `requests = left // (token * held)`, rate `requests / (weights + requests * token * held)`;
# `ceil((wanted * (weights + batch * token * window) - weights) / (batch * token))`.

# %% [markdown] role="solution" exercise="bg4-gain"
# Solved for n, the first length is `wanted x W + (wanted - 1) x weights / (batch x token)`: the second part is what
# the weights cost, and a batch divides it. With endless batches three windows of text would do. The throughput has no
# such part, since a full card is read whole before and after. It gains about n / W at once. But whoever waits for one
# answer waits by the first formula.

# %% [markdown] id="bg5-prefill-why"
# ## Exercise 5: what a window saves in a prefill
#
# *Difficulty 3 of 5 · 10 minutes · 3 points*
#
# A prefill multiplies, and reads little. Each token passes through all weights; and each query is scored with every
# key that it sees. Only the scores get fewer. For each head of each layer:
#
# | | pairs of query and key |
# |---|---|
# | 20,000 tokens, all with all (B8) | 400 million |
# | causal | 200 million |
# | W = 1,024 | 20 million |
# | 4K to 32K, causal (B3) | 64 times; passes through the weights 8 times |
#
# 128K tokens by 128K are 34.4 GB of scores in fp16; the 16 GB that are printed (C1) are the causal half, in GiB.
#
# With W = 4 and no sinks, six queries see 1, 2, 3, 4, 4 and 4 keys: 18 pairs. With two sinks the fifth sees token 0
# as well and the sixth tokens 0 and 1, so 21 pairs, as without a window. Ten queries score 45 pairs of 55.
#
# Write `scored_pairs(n, window, sinks)`, `window` `None` for causal, by a formula: n may be ten million.
# And `work_left(weights, each, n, window, sinks)`: the multiplications of a prefill with the window, as a share of
# those without. Here `weights` is their **number**; each token takes one multiplication with each. `each` is what
# one pair takes in all heads and layers: `2 * layers * heads * head_dim`, for the score and the value.


# %% id="bg5-prefill" role="answer"
def scored_pairs(n, window=None, sinks=0):
    """Pairs of query and key in a prefill of n tokens, for one head."""
    ### BEGIN SOLUTION
    unseen = 0 if window is None else max(0, n - window - sinks)
    return n * (n + 1) // 2 - unseen * (unseen + 1) // 2
    ### END SOLUTION


def work_left(weights, each, n, window, sinks=0):
    """Multiplications of a prefill with the window, over those without."""
    ### BEGIN SOLUTION
    with_window = weights * n + each * scored_pairs(n, window, sinks)
    return with_window / (weights * n + each * scored_pairs(n))
    ### END SOLUTION


# %% id="bg5-prefill-check" role="check"
check("bg5-prefill")
# hint("bg5-prefill", 1)

# %% id="bg5-prefill-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "bg5-prefill")
for n, window, sinks in (
    (10, 4, 2),
    (5, 4, 2),
    (2, 8, 3),
    (rng.randrange(40, 90), 9, 3),
    (10**7, 4096, 4),
):
    found = [scored_pairs(n), scored_pairs(n, window), scored_pairs(n, window, sinks)]
    print(f"{n} tokens: causal, W = {window}, and {sinks} sinks:", plain(found))
for n in (2, 30, 402 + 4 * rng.randrange(50)):
    weights, each = 2 * rng.randrange(100, 450) + 1, 2 * rng.randrange(1, 10) + 1
    window = rng.randrange(4, 20)
    shares = [work_left(weights, each, n, window), work_left(weights, each, n, window, 3)]
    print(f"{weights} weights, {each} a pair, {n} tokens, W = {window}:", plain(shares, 4))
print(
    "7B:", plain([work_left(SEVEN.weights // 2, 2 * 32 * 32 * 128, n, 1024) for n in (4096, 16384)])
)

# %% [markdown] role="hint" exercise="bg5-prefill"
# Count what is **not** seen. With W = 4 and one sink, how many keys does query 5 miss, how many query 6, query 7?

# %% [markdown] role="hint" exercise="bg5-prefill"
# Causal it is 1 + 2 + ... + n = n (n + 1) / 2. Query i misses i + 1 - W - S keys, if that is above 0: for the
# queries up to n - 1 that makes 1 + 2 + ... + (n - W - S). Take it off, where n is larger than W + S.

# %% [markdown] role="hint" exercise="bg5-prefill"
# `unseen = 0 if window is None else max(0, n - window - sinks)`;
# `n * (n + 1) // 2 - unseen * (unseen + 1) // 2`; and
# `(weights * n + each * scored_pairs(n, window, sinks)) / (weights * n + each * scored_pairs(n))`.

# %% [markdown] role="solution" exercise="bg5-prefill"
# What is missed is a triangle again, smaller by W + S: sinks and window count alike. For the 7B model 0.96 of the
# work is left at 4K and 0.79 at 16K (D10), so the first token comes hardly earlier unless prompts are very long. At
# 128K it is 0.29.

# %% [markdown] id="planner-why"
# ## The planner, tiles, and a measurement
#
# `ringkv budget` does the arithmetic of exercises 1 to 4 for named models, or for a `config.json`.
#
# Kernels score in **tiles**, and save only tiles that no query sees: one that computes all of them and masks
# afterwards saves nothing. Last, a decoder small enough for any machine is timed. It has few weights, so its
# prefill gets shorter, too.

# %% id="planner" role="volatile"
scenes.planned("--card", "article-80gb", "--context", "16k", "--windows", "1024", "--use", "1")
print()
scenes.tiles(64, window=8, tile=8)
print()
scenes.measured()

# %% [markdown] id="triage"
# ## Which budget is spent?
#
# | what is seen | what is short |
# |---|---|
# | out of memory, or requests wait while steps are quick | capacity: exercise 2 |
# | every token slow, memory free | bandwidth: exercise 3 |
# | the first token slow, the others not | the prefill's arithmetic: exercise 5 |
# | slower and slower along a text | the cache that is read grows: is the window on? |
#
# `ringkv diagnose` asks this of a recorded run.

# %% [markdown] id="case08-hybrid-why"
# ## Case file: the layers that were budgeted as full
#
# *Difficulty 3 of 5 · 10 minutes · 2 points*
#
# A server's planner gave each of Gemma 4 31B's 60 layers pages for the longest text, though 50 slide with W = 1,024
# (tenstorrent/tt-xla#5727; vllm-project/vllm#39254 reports the same). At 128K that is nearly six times too much. The
# first mend made rings of W slots for every request, so at 128 tokens it asked for more than
# before (tt-xla#5834). Another tool left sliding layers out (alvarobartt/hf-mem#60).
#
# This is a toy. Memory is a pool of `pages`; a page holds `page` tokens of **one** layer of one request.
# Requests may have `longest` tokens. A sliding layer gives a page back when its last token has left the window. Its W
# tokens need not begin where a page begins, so they can lie in `1 + ceil((W - 1) / page)` pages:
#
# | W = 5, pages of 4 | pages |
# |---|---|
# | positions 0 to 4 | 0 and 1 |
# | positions 3 to 7 | 0 and 1 |
#
# | W = 6, pages of 4 | pages |
# |---|---|
# | positions 3 to 8 | 0, 1 and 2 |
#
# Mend `requests_at_once(windows, longest, page, pages)`: how many requests are sure to fit at once. Prefills that
# need more for a moment are left out of it.


# %% id="case08-hybrid" role="answer"
from math import ceil


def requests_at_once(windows, longest, page, pages):
    """How many requests of `longest` tokens a pool of pages is sure to hold."""
    ### BEGIN SOLUTION
    whole = ceil(longest / page)
    each = 0
    for window in windows:
        each += whole if window is None else min(whole, 1 + ceil((window - 1) / page))
    return pages // each
    ### STUB
    # whole = ceil(longest / page)
    # return pages // (len(windows) * whole)
    ### END SOLUTION


# %% id="case08-hybrid-check" role="check"
check("case08-hybrid")
# hint("case08-hybrid", 1)

# %% id="case08-hybrid-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "case08-hybrid")
asked = [([5, None], 100, 4, 540), ([5, 5], 98, 4, 37), ([64, 64, None], 40, 16, 90)]
asked += [([4, None], 100, 4, 1000), ([None, None], 37, 16, 63), ([6, None], 100, 4, 561)]
for longest in (128, 32768, 131072):
    asked.append((([1024] * 5 + [None]) * 10, longest, 16, 10**6 + rng.randrange(10**6)))
for _ in range(3):
    windows = [rng.randrange(3, 40), None, rng.randrange(3, 90)]
    asked.append((windows, rng.randrange(50, 400), rng.choice([4, 8]), rng.randrange(2000, 9000)))
for windows, longest, page, pages in asked:
    shown = windows if len(windows) < 9 else f"{len(windows)} layers"
    print(f"{shown}, {longest} tokens, {pages} pages of {page}: ", end="")
    print(plain(requests_at_once(windows, longest, page, pages)))

# %% [markdown] role="hint" exercise="case08-hybrid"
# How many pages does one request need in each layer? Ask it three times: global, sliding with a long text, sliding
# with a text shorter than its window.

# %% [markdown] role="hint" exercise="case08-hybrid"
# Go over `windows` and add up pages: `ceil(longest / page)` for a global layer; for a sliding one the smaller of that
# and what W tokens can lie in. Then one whole division.

# %% [markdown] role="hint" exercise="case08-hybrid"
# `each += whole if window is None else min(whole, 1 + ceil((window - 1) / page))`, and `return pages // each`.

# %% [markdown] role="solution" exercise="case08-hybrid"
# One number can be wrong in both directions. Too much, and requests wait beside free memory; too little, and a server
# that was sure runs out. A planner must count what its **allocator** takes: where an engine gives sliding layers pages for
# the whole text after all, the plan has to say so as well (vllm-project/vllm#19029). The test is two lines: plan for
# texts shorter than the window and for longer ones, and compare with what is taken.

# %% [markdown] id="end"
# ## What you have now
#
# - Bytes of any cache: layers of both kinds, heads that share, sinks, slack, bits.
# - What fits, in GB or in GiB.
# - A floor for each step. The weights are read once for all, each cache for its own request.
# - A window's two gains: in latency held back by the weights, in throughput about n / W.
# - A prefill counted: the scores get fewer, the passes through the weights do not.
#
# Lesson 09 looks beyond the ring: pages, layers that mix, fewer bits, tiers, and caches that choose what to keep.
# The last cell keeps in `my_ringkv.py` what is right.

# %% id="save" role="volatile"
save_work(
    "planned_bytes",
    "room",
    "most_requests",
    "longest_context",
    "step_seconds",
    "tokens_a_second",
    "latency_gain",
    "throughput_gain",
    "first_length",
    "scored_pairs",
    "work_left",
    "requests_at_once",
)
