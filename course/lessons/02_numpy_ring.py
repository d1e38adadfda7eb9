# %% [markdown] id="start"
# # 02 The NumPy ring
#
# *75 minutes. Needs NumPy and, for one picture that your own code draws, matplotlib.*
#
# The ring of lesson 01 held lists: one token, one key, one value. A real layer has several key/value
# heads, and its attention compares a query with **all** slots of a head in one matrix product. For that,
# the keys of a head must lie together in one array.
#
# | array | shape | what it holds |
# |---|---|---|
# | `keys`, `values` | `(kv_heads, slots, head_dim)` | one vector in each slot of each head |
# | `positions` | `(slots,)` | the position that each slot holds, -1 when it is empty |
#
# Heads come first because a matrix product works on the last two axes: `keys[head]` is the matrix
# that one head reads. There are no positions per head, since a token lies in the same slot in all heads.
#
# **Why the arrays are made once.** They are made at full size before the first token. After that the
# memory never grows and nothing in it is moved: each new token is written over the one that has just
# left the window of `W` tokens. Every layer of every conversation has such a ring of its own.
#
# When a check fails, it prints its case as a line of code. Paste the line into a new cell, and print
# what you want to see.

# %% id="setup"
import numpy as np

from ringkv_edu.given_numpy import RingArrays, filled_arrays, numbers
from ringkv_edu.graded import draw, plain
from ringkv_edu.lesson import check, hint, save_work, show, watch

# %% [markdown] id="np1-storage-why"
# ## Exercise 1: make the storage once
#
# *Difficulty 1 of 5 · 5 minutes · 2 points*
#
# Write `make_storage(window, kv_heads, head_dim)`. It gives three new arrays, `keys, values, positions`:
#
# - `keys` and `values` of shape `(kv_heads, window, head_dim)`, NumPy's usual floats, all 0;
# - `positions` of shape `(window,)`, whole numbers, all -1: every slot is empty.
#
# **Why zeros.** `np.empty` is quicker and hands over memory as somebody left it. An empty slot will get
# the weight 0, but 0 times NaN is NaN, so one NaN there spoils every output.
# (Uninitialised cache slots: deepbeepmeep/Wan2GP#1628, tinygrad#15552.)
#
# **Why -1.** Position 0 is a real token. One of the articles behind this course starts its positions as
# zeros; then every empty slot claims to hold token 0, and is read as if it did.


# %% id="np1-storage" role="answer"
def make_storage(window, kv_heads, head_dim):
    """New keys, values and positions for a ring of `window` slots."""
    ### BEGIN SOLUTION
    keys = np.zeros((kv_heads, window, head_dim))
    values = np.zeros((kv_heads, window, head_dim))
    positions = np.full(window, -1)
    return keys, values, positions
    ### END SOLUTION


# %% id="np1-storage-check" role="check"
check("np1-storage")
# hint("np1-storage", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="np1-storage-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "np1-storage")
for window, kv_heads, head_dim in ((4, 2, 3), (1, 1, 1), (rng.randrange(5, 9), 3, 2)):
    used = [np.full((kv_heads, window, head_dim), np.nan) for _ in range(9)]
    del used  # memory that np.empty may find again
    keys, values, positions = make_storage(window, kv_heads, head_dim)
    print(f"keys {keys.shape}, values {values.shape}, positions {positions.shape}", end=" ")
    print(f"of kind {positions.dtype.kind}: {plain(positions)}")
    keys[:, 0] = numbers(rng, kv_heads, head_dim)
    print("  after one key: keys", plain(keys), "values", plain(values))

# %% [markdown] role="hint" exercise="np1-storage"
# Three calls make three arrays. Which function fills a new array with zeros, and which with a number of
# your choice?

# %% [markdown] role="hint" exercise="np1-storage"
# `np.zeros(shape)` twice, once for the keys and once for the values: two arrays, not two names for one.
# `np.full(length, number)` takes its kind from the number, so give it the whole number -1.

# %% [markdown] role="hint" exercise="np1-storage"
# `shape = (kv_heads, window, head_dim)` and
# `return np.zeros(shape), np.zeros(shape), np.full(window, -1)`.

# %% [markdown] role="solution" exercise="np1-storage"
# `keys = values = np.zeros(shape)` looks right and makes one array with two names. Shapes, kinds and zeros
# are all in order; only writing into one and looking at the other shows it. The check does that.

# %% [markdown] id="np2-write-why"
# ## Exercise 2: the write
#
# *Difficulty 2 of 5 · 9 minutes · 3 points*
#
# A `RingArrays` holds the arrays of exercise 1 and one counter. It decides nothing:
#
# | field | what it holds |
# |---|---|
# | `keys`, `values`, `positions` | the storage |
# | `window`, `slots` | how many tokens a query sees, how many slots there are; here the same number |
# | `seen` | how many tokens have been written, so the position of the next one |
#
# `RingArrays(window, kv_heads, head_dim)` makes an empty one; `RingArrays(4)` has 1 head and vectors of 2
# numbers. `slack=1`, from exercise 5 on, adds one slot to spare.
#
# The token at position `p` lives in slot `p % window`:
#
# | position, W = 4 | 0 | 1 | 2 | 3 | 4 | 5 | ... | 9 |
# |---|---|---|---|---|---|---|---|---|
# | slot | 0 | 1 | 2 | 3 | 0 | 1 | ... | 1 |
#
# Write `write(ring, k, v)` for one token; `k` and `v` have the shape `(kv_heads, head_dim)`. Put them into
# the token's slot in every head, note its position there, and count it in `seen`. Nothing is returned.
#
# Work inside the three arrays. `ring.keys = ...` would make a new one: everything would be copied for each
# token, and whoever holds the old array would see no more writes. Shifting everything one place to the
# left would keep the right tokens, too, and move the whole window for each of them.


# %% id="np2-write" role="answer"
def write(ring, k, v):
    """Write the token at position `ring.seen` into its slot."""
    ### BEGIN SOLUTION
    slot = ring.seen % ring.window
    ring.keys[:, slot] = k
    ring.values[:, slot] = v
    ring.positions[slot] = ring.seen
    ring.seen += 1
    ### END SOLUTION


# %% id="np2-write-check" role="check"
check("np2-write")
# hint("np2-write", 1)

# %% id="np2-write-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "np2-write")
for window, kv_heads, tokens in ((4, 2, 10), (1, 2, 3), (rng.randrange(3, 7), 3, 20)):
    ring = RingArrays(window, kv_heads)
    keys, values, positions = ring.keys, ring.values, ring.positions  # held here, too
    k, v = np.zeros((kv_heads, 2)), np.zeros((kv_heads, 2))  # used again for every token
    print("window", window)
    for _ in range(tokens + rng.randrange(window)):
        k[:], v[:] = numbers(rng, kv_heads, 2), numbers(rng, kv_heads, 2)
        write(ring, k, v)
        print(f"  seen {plain(ring.seen)}: slots hold", plain(positions))
    print("  keys", plain(keys), "values", plain(values))

# %% [markdown] role="hint" exercise="np2-write"
# Which field tells you, before you change anything, the position of this token? Its slot follows from it.

# %% [markdown] role="hint" exercise="np2-write"
# 1. `slot` is the position modulo the number of slots. 2. The slots are the *second* axis of `keys` and
# `values`, so the colon for "every head" comes first. 3. Store the position. 4. Only then raise `seen`.

# %% [markdown] role="hint" exercise="np2-write"
# `slot = ring.seen % ring.window`, then `ring.keys[:, slot] = k`, `ring.values[:, slot] = v`,
# `ring.positions[slot] = ring.seen` and `ring.seen += 1`.

# %% [markdown] role="solution" exercise="np2-write"
# One counter is enough. The slot, the position and the number of stored tokens all follow from `seen`,
# so there is nothing to forget in a reset (lesson 01's case file). Assigning into an array copies, so the caller
# may use `k` and `v` again.


# %% id="my-numpy-ring" role="scene"
# Your write makes a class. The table shows what YOUR write did, right or wrong. Try other sizes.
class MyNumpyRing(RingArrays):
    def append(self, k, v):  # (kv_heads, n, head_dim): n tokens, one after the other
        for token in range(k.shape[1]):
            write(self, k[:, token], v[:, token])


watch(MyNumpyRing, 10, window=4)
show(MyNumpyRing, tokens="the oldest of the words leaves the ring to make room".split(), window=4)

# %% [markdown] id="cost"
# ## What a write costs
#
# The next cell measures one write, on this machine, now, for three memories that all keep the last W
# tokens: an array that shifts, a list with `pop(0)`, and the ring that your `write` fills. Both axes are
# logarithmic: a straight rise means time in proportion to a power of W, a level line the same time for
# every W. The table gives the same figures.
#
# Before you run it: which line rises first, which last, and which never?
#
# The list deserves a fair word. `pop(0)` moves no keys, it moves *pointers* to them, 8 bytes each, so its
# line stays low until W is large; it may even start below the ring's. But before every attention such a
# list must still be turned into an array, and that copies the whole window.
#
# And the ring's level line is about **writing**. One of the articles says that reading a ring costs the
# same for every W, too. It cannot: attention reads all W keys and values, whatever memory they lie in.

# %% id="write-cost" role="volatile"
from ringkv_edu.figures.write_cost import write_cost

write_cost()

# %% [markdown] id="np3-attend-why"
# ## Exercise 3: attention over a full ring
#
# *Difficulty 3 of 5 · 9 minutes · 2 points*
#
# Lesson 01's attention, with arrays, for one head of a full ring: `q` has the shape `(head_dim,)`, `keys`
# and `values` have `(slots, head_dim)`. The slow form, in words (slot order: nobody asks for order of time):
#
# ```text
# for each slot:  score[slot] = (q dot keys[slot]) / sqrt(head_dim)
# largest_score = max(score)
# for each slot:  weight[slot] = exp(score[slot] - largest_score)
# output = (sum over the slots of weight[slot] * values[slot]) / sum(weight)
# ```
#
# Write `attend_full(q, keys, values)`; the result has the shape `(head_dim,)`. Keep the subtraction:
# `np.exp(710.0)` is `inf` with no more than a warning, and `inf / inf` is NaN. A token is written before it
# attends, so its own key is among the slots.


# %% id="np3-attend" role="answer"
def attend_full(q, keys, values):
    """Softmax attention of one query over all slots: (head_dim,)."""
    ### BEGIN SOLUTION
    scores = keys @ q / np.sqrt(len(q))
    weights = np.exp(scores - scores.max())
    return weights @ values / weights.sum()
    ### END SOLUTION


# %% id="np3-attend-check" role="check"
check("np3-attend")
# hint("np3-attend", 1)

# %% id="np3-attend-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "np3-attend")
for slots, head_dim in ((4, 2), (3, 3), (1, 2), (rng.randrange(5, 9), rng.randrange(4, 7))):
    keys, values = numbers(rng, 2, slots, head_dim)
    for q in (numbers(rng, head_dim), 1e5 * keys[0]):
        print(f"{slots} slots of {head_dim}:", plain(attend_full(q, keys, values)))

# %% [markdown] role="hint" exercise="np3-attend"
# Which product of `keys` and `q` gives one number for each slot? Look at the shapes.

# %% [markdown] role="hint" exercise="np3-attend"
# `keys @ q` are all dot products at once, shape `(slots,)`. Divide, subtract the maximum, take `np.exp`.
# The average of the values is another product, `weights @ values`, divided by the sum of the weights.

# %% [markdown] role="hint" exercise="np3-attend"
# `scores = keys @ q / np.sqrt(len(q))`, `weights = np.exp(scores - scores.max())`,
# `return weights @ values / weights.sum()`.

# %% [markdown] role="solution" exercise="np3-attend"
# Two products and one `exp` over the slots as they lie. There is no position and no unrolling in it, and
# none is missing: over a full ring (no slack, nothing taken back) every slot is in the window of the
# newest token.

# %% [markdown] id="predict02-why"
# ### Predict first
#
# *Difficulty 2 of 5 · 5 minutes · no points*
#
# W = 4. Tokens 0 to 14 are decoded one by one: each is written and then attends once, which gives 15
# outputs. Now the same again, but the *value* of token 9 is another one; keys and queries are the same.
# Which outputs change? Give the tokens' positions as a list, then run the cell behind the check.

# %% id="predict02" role="answer"
### BEGIN SOLUTION
changed = [9, 10, 11, 12]
### STUB
# changed = ...
### END SOLUTION

# %% id="predict02-check" role="check"
check("predict02")
# hint("predict02", 1)

# %% [markdown] role="hint" exercise="predict02"
# A value reaches an output when the query of that output sees its token.

# %% [markdown] role="hint" exercise="predict02"
# Token `t` sees `t-3` to `t`. Write down what tokens 8, 9, 12 and 13 see.

# %% [markdown] role="hint" exercise="predict02"
# Token 9 is seen by every `t` with `t-3 <= 9 <= t`.

# %% [markdown] role="solution" exercise="predict02"
# Token 9 sees itself, so its own output changes; token 12 sees 9 to 12; token 13 sees 10 to 13. Four
# outputs, as many as the window: a query looks back over W tokens, so a token is looked at by W queries.

# %% id="predict02-run" role="scene"
# Attention over the whole history, with a window of 4, before and after the change.
from ringkv_edu.visibility import oracle_attention

q, k, v = numbers(draw(1, "predict02"), 3, 1, 15, 2)
other = v.copy()
other[:, 9] += 1
moved = oracle_attention(q, k, v, window=4) != oracle_attention(q, k, other, window=4)
print("outputs that changed:", *np.flatnonzero(moved.any(axis=(0, 2))))
# Before each step choose the slots that the next token will see, then answer. How many times is token 9 among them?
show("ring", tokens=15, window=4, step=9, predict="seen")

# %% [markdown] id="no-order"
# ## The order does not matter
#
# After ten tokens the slots hold positions 8, 9, 6, 7. Must the window be put back in order of time
# before attention? One of the articles says so. But look at exercise 3: a sum over slots for the weights,
# a sum over slots for the output. **A sum does not care about the order of its terms.** What must stay
# together is each slot's own pair of key and value.
#
# The next cell shuffles the slots of a ring, then the keys alone.

# %% id="shuffle" role="scene"
ring = filled_arrays(10, draw(2, "shuffle"), window=4)  # given arrays, after ten tokens
q, keys, values = np.array([1.0, -0.5]), ring.keys[0], ring.values[0]
shuffle = [2, 0, 3, 1]
print("slots as they lie  ", plain(attend_full(q, keys, values)))
print("slots shuffled     ", plain(attend_full(q, keys[shuffle], values[shuffle])))
print("only keys shuffled ", plain(attend_full(q, keys[shuffle], values)))

# %% [markdown] id="np4-order-why"
# ## Exercise 4: slots in order of time
#
# *Difficulty 2 of 5 · 8 minutes · 2 points*
#
# Shuffled slots give the same output, up to the last digits, since floats are added in another
# order. So the ring is read as it lies. The exception is a kernel (the routine that computes attention on a
# device) that makes its mask from **indices**: to it, the column of a key is its time. The flash-attention
# package's functions take `causal` and `window_size`, and no mask. There a causal mask sets the last query
# beside the last key, and hides the last column from the query before. (torch's `is_causal` sets the first
# query beside the first key: with fewer queries than keys it is wrong in any order; give torch a mask.) One
# query needs no causal mask, so order does it no harm.
#
# Two queries do: say they stand at positions 8 and 9, and meet the ring below. The one at 8 must not see 9.
#
# | slot (column) | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | position | 8 | 9 | 6 | 7 |
# | query 8, by index | seen | seen | seen | hidden |
# | query 8, by position | seen | hidden | seen | seen |
#
# (Query 8 should see position 5, too, which is gone. Lesson 03 takes care of that.)
#
# For such a kernel the slots are read in order of time. Write `time_order(positions)`: the **slots**
# (a list or an array of whole numbers) from the oldest stored token to the newest, without the empty
# ones. Above, that is `[2, 3, 0, 1]`.
#
# Go by the stored positions alone. A ring may be partly filled or have holes, and in later lessons some slots
# keep the first tokens for ever, so walking once round all slots will not do.


# %% id="np4-order" role="answer"
def time_order(positions):
    """The slots of the stored tokens, oldest token first; positions is an array, -1 is empty."""
    ### BEGIN SOLUTION
    slots = np.argsort(positions)
    return slots[positions[slots] >= 0]
    ### END SOLUTION


# %% id="np4-order-check" role="check"
check("np4-order")
# hint("np4-order", 1)

# %% id="np4-order-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "np4-order")
states = [[8, 9, 6, 7], [0, 1, -1, -1], [8, -1, 6, 7], [0, 1, 6, 7, 4, 5]]
for taken_back in (0, 1, 2):
    window, seen = rng.randrange(4, 8), rng.randrange(20, 60)
    states.append(filled_arrays(seen, rng, window, sinks=2, taken_back=taken_back).positions)
for positions in map(np.array, states):
    order = time_order(positions)  # and positions is as it was
    print(f"slots hold {plain(positions)}: read", plain(order))

# %% [markdown] role="hint" exercise="np4-order"
# You want the slots *sorted by* what they hold. Which NumPy function gives indices rather than values?

# %% [markdown] role="hint" exercise="np4-order"
# `np.argsort(positions)` gives slots, and -1 sorts first. Keep those slots whose position is 0 or more.
# Sort before you drop: if you drop first, the indices that argsort gives are no longer slots.

# %% [markdown] role="hint" exercise="np4-order"
# `slots = np.argsort(positions)` and `return slots[positions[slots] >= 0]`.

# %% [markdown] role="solution" exercise="np4-order"
# `keys[:, time_order(positions)]` then copies the window in order of time: the price of such a kernel, paid
# for each attention. A mask made from positions needs no order and no copy, for one query or many.

# %% [markdown] id="np5-mask-why"
# ## Exercise 5: the mask while the ring fills
#
# *Difficulty 3 of 5 · 11 minutes · 3 points*
#
# Until the ring is full, some slots are empty and hold zeros. **A zero key is not a zero weight.** Here is one
# token with score 0.3 beside three empty slots, whose scores are 0:
#
# ![](figure:mask_weights.png)
#
# | weight | slot 0, token 0 | slots 1, 2, 3, empty |
# |---|---|---|
# | no mask | 0.31 | 0.23 each, 69 % together |
# | mask from the stored positions | 1 | 0 |
#
# The mask also rules out what is stored and not in the window. Here are six slots after nine tokens, with W = 4,
# and a query at position 7:
#
# | slot | 0 | 1 | 2 | 3 | 4 | 5 |
# |---|---|---|---|---|---|---|
# | stored position | 6 | 7 | 8 | 3 | 4 | 5 |
# | seen by query 7 | yes | yes | no, later | no, left the window | yes | yes |
#
# Write `attend_seen(q, keys, values, positions, query_position, window)`: exercise 3 over the slots that the query
# sees. A slot is seen when it holds a token, not later than the query, among the last `window` positions,
# the query's own included. You may rely on at least one slot being seen. Mask the *scores*: when
# weights are set to 0 after the softmax, the others no longer add up to 1.
#
# Compare positions with positions. A slot number or a count is right only until the first wrap
# (Blaizzy/mlx-vlm#1138: on long prompts a valid window could be masked out).
#
# In the check's cases `filled_arrays(9, rng, 4, slack=2, taken_back=1)` is a ring of window 4 with two slots to
# spare after nine tokens; a tenth was written and taken back, which left its slot empty.


# %% id="np5-mask" role="answer"
def attend_seen(q, keys, values, positions, query_position, window):
    """Attention of one query over the slots it sees: (head_dim,)."""
    ### BEGIN SOLUTION
    distance = query_position - positions
    seen = (positions >= 0) & (distance >= 0) & (distance < window)
    scores = np.where(seen, keys @ q / np.sqrt(len(q)), -np.inf)
    weights = np.exp(scores - scores.max())
    return weights @ values / weights.sum()
    ### END SOLUTION


# %% id="np5-mask-check" role="check"
check("np5-mask")
# hint("np5-mask", 1)

# %% id="np5-mask-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "np5-mask")
# tokens so far, window, slots more than that, tokens taken back, tokens after the query
states = [(1, 3, 0, 0, 0), (2, 4, 0, 0, 0), (10, 4, 0, 0, 0), (7, 1, 1, 0, 0)]
states += [(9, 4, 3, 1, 0), (13, 3, 0, 1, 0), (10, 4, 3, 0, 2), (rng.randrange(20, 60), 4, 2, 0, 1)]
for seen, window, slack, taken_back, later in states:
    ring = filled_arrays(seen, rng, window, slack=slack, taken_back=taken_back)
    q, query = numbers(rng, 2), seen - 1 - later
    out = attend_seen(q, ring.keys[0], ring.values[0], ring.positions, query, window)
    print(f"slots hold {plain(ring.positions)}, query {query}, window {window}:", plain(out))
q, keys, positions = np.array([1e6]), np.array([[-0.5], [-1.0], [0.5]]), np.array([4, 5, 3])
out = attend_seen(q, keys, keys + numbers(rng, 1), positions, 5, 2)
print("large scores:", plain(out))

# %% [markdown] role="hint" exercise="np5-mask"
# Three questions to every stored position, each one comparison with the whole array. How do you combine
# arrays of True and False?

# %% [markdown] role="hint" exercise="np5-mask"
# Make `seen` with `&` from: is there a token; is it at the query or before; is it fewer than `window` back.
# Then either take `keys[seen]` and `values[seen]` and do exercise 3, or put minus infinity in place of the
# other scores with `np.where` (0 times infinity would be NaN), before the maximum is taken.

# %% [markdown] role="hint" exercise="np5-mask"
# `distance = query_position - positions`,
# `seen = (positions >= 0) & (distance >= 0) & (distance < window)`, `keys, values = keys[seen], values[seen]`,
# and then the three lines of exercise 3.

# %% [markdown] role="solution" exercise="np5-mask"
# One line decides what is seen, and it knows nothing of counters, wraps or fullness. A full ring without
# slack is the case in which it is True everywhere. With `np.where` the product runs over all slots and its
# shape never changes, which compiled kernels like; `keys[seen]` copies what it picks. Many programs write
# -1e9 in place of minus infinity: right as long as no score that is seen comes near it.

# %% [markdown] id="np6-groups-why"
# ## Exercise 6: several query heads, one key/value head
#
# *Difficulty 3 of 5 · 12 minutes · 3 points*
#
# Keys and values are what fills memory, so many models let a *group* of query heads share one
# key/value head (grouped queries, arXiv 2305.13245). With `heads` query heads, `group = heads // kv_heads`, and
# **neighbours share**: query head `h` reads key/value head `h // group`.
#
# ![](figure:groups.png)
#
# | query head `h`, `group` is 3 | 0 | 1 | 2 | 3 | 4 | 5 |
# |---|---|---|---|---|---|---|
# | `h // group`, the head it reads | 0 | 0 | 0 | 1 | 1 | 1 |
# | `h % kv_heads`, a wrong one | 0 | 1 | 0 | 1 | 0 | 1 |
# | `h % group`, another | 0 | 1 | 2, none such | 0 | 1 | 2, none such |
#
# Write `attend_groups(q, keys, values, mask)`: `q` is `(heads, head_dim)`, `keys` and `values` are
# `(kv_heads, slots, head_dim)`. `mask` is `(slots,)`: True where a slot is seen. At least one entry is
# True, and all heads use the same mask. Every head has a softmax of its own over the slots, with its own
# maximum and sum. The result has q's shape, heads in q's order.
#
# A loop over heads is a right answer, and so is `np.repeat(keys, group, axis=0)`. But `np.repeat` writes a
# copy `group` times as large, which is then read: decoding is limited by the bytes it reads (lesson 01), so that
# gives away what sharing saved. **Folding** copies no key: since neighbours share,
# `q.reshape(kv_heads, group, head_dim)` puts the queries of a group beside their head, and one
# product with `keys.swapaxes(1, 2)` gives scores of shape `(kv_heads, group, slots)`.


# %% id="np6-groups" role="answer"
def attend_groups(q, keys, values, mask):
    """Attention of one token's query heads over shared keys and values: (heads, head_dim)."""
    ### BEGIN SOLUTION
    kv_heads, slots, head_dim = keys.shape
    folded = q.reshape(kv_heads, -1, head_dim)
    scores = folded @ keys.swapaxes(1, 2) / np.sqrt(head_dim)
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ values).reshape(q.shape)
    ### END SOLUTION


# %% id="np6-groups-check" role="check"
check("np6-groups")
# hint("np6-groups", 1)

# %% id="np6-groups-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "np6-groups")
for heads, kv_heads in ((4, 2), (6, 2), (6, 3), (3, 1), (2, 2)):
    slots = rng.randrange(3, 7)
    mask = np.array([True] * slots)
    mask[rng.randrange(slots)] = False
    q, (keys, values) = numbers(rng, heads, 2), numbers(rng, 2, kv_heads, slots, 2)
    print(f"{heads} heads on {kv_heads}, {int(mask.sum())} of {slots} slots seen:")
    print("  ", plain(attend_groups(q, keys, values, mask)))
q, keys = np.array([[1e6], [1.0]]), np.array([[[-0.5], [-1.0], [0.5]]])  # far apart
values, mask = keys + numbers(rng, 1), np.array([True, True, False])
print("scores far apart:", plain(attend_groups(q, keys, values, mask)))

# %% [markdown] role="hint" exercise="np6-groups"
# First make it work for one query head: which matrix `keys[...]` does it read? It is exercise 5 with the
# mask given.

# %% [markdown] role="hint" exercise="np6-groups"
# Either loop over `h`, attend to `keys[h // group]` and `values[h // group]`, and stack the results. Or fold:
# reshape `q`, take the product, mask the scores, take maximum and sum over the last axis with
# `keepdims=True`, multiply with `values`, and reshape back to q's shape.

# %% [markdown] role="hint" exercise="np6-groups"
# `scores = q.reshape(kv_heads, -1, head_dim) @ keys.swapaxes(1, 2) / np.sqrt(head_dim)`,
# `scores = np.where(mask, scores, -np.inf)`, `weights = np.exp(scores - scores.max(axis=-1, keepdims=True))`,
# `weights /= weights.sum(axis=-1, keepdims=True)`, `return (weights @ values).reshape(q.shape)`.

# %% [markdown] role="solution" exercise="np6-groups"
# `reshape` only looks at the same numbers in another way, and it is right because heads of one group
# are neighbours. For `h % kv_heads` the shapes would fit as well, and nothing but the numbers would be wrong.
# With one key/value head for each query head, `group` is 1 and the fold changes nothing.

# %% [markdown] id="case02-early-why"
# ## Case file: one token too early
#
# *Difficulty 2 of 5 · 6 minutes · 2 points*
#
# A sliding layer in a well-known library kept its tokens oldest first in an array of W places, and
# shifted them when it was full (huggingface/transformers#37574; rebuilt here as a toy). The report's example has
# a window of 8: seven tokens are stored as they should be. With the eighth, for which one place
# is free, the array shifts already. The first token is lost, and a row of zeros stays in among the keys.
#
# Below is such an update. It uses the arrays of a `RingArrays` as plain rows of `cache.slots` (here the
# same as `window`) places, oldest token first; there is no ring. W - 1 tokens after the mistake the zeros
# have been pushed out, and all looks well again. Find out when it shifts, and mend it. It must still keep
# its tokens oldest first, in the first places; empty places come last. Beware of the first idea: with `>`
# in place of `>=` it never shifts.


# %% id="case02-early" role="answer"
def slide_in(cache, k, v):
    """Store one token behind the others; a full cache first drops its oldest."""
    last = cache.slots - 1
    place = min(cache.seen, last)  # never past the end
    ### BEGIN SOLUTION
    if cache.seen > last:  # full
        ### STUB
        # if place >= last:  # full
        ### END SOLUTION
        for memory in (cache.keys, cache.values):
            memory[:, :-1] = memory[:, 1:].copy()
        cache.positions[:-1] = cache.positions[1:].copy()
    cache.keys[:, place], cache.values[:, place] = k, v
    cache.positions[place] = cache.seen
    cache.seen += 1


# %% id="case02-early-check" role="check"
check("case02-early")
# hint("case02-early", 1)

# %% id="case02-early-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "case02-early")
for window in (4, 1, rng.randrange(3, 7)):
    cache = RingArrays(window)
    print("window", window)
    for _ in range(2 * window + 2):
        slide_in(cache, numbers(rng, 1, 2), numbers(rng, 1, 2))
        print(f"  seen {plain(cache.seen)}: places hold {plain(cache.positions)}", end=" ")
        print("keys", plain(cache.keys[0]), "values", plain(cache.values[0]))

# %% [markdown] role="hint" exercise="case02-early"
# Two different states give `place == last`. Which are they, and in which of them is there still room?

# %% [markdown] role="hint" exercise="case02-early"
# `place` has been cut down to `last`, so it cannot tell "the last place is free" from "there is no place".
# Ask something that was not cut down, or ask the last place itself whether it is empty.

# %% [markdown] role="hint" exercise="case02-early"
# `if cache.seen > last:`

# %% [markdown] role="solution" exercise="case02-early"
# Two small things together: the number was clamped before it was compared, and `>=` stood where only `>`, on
# the number as it was, means full. The library's mending note says as much: the order of the operations
# matters, because the inequality is strict (#38046). The bug shows at lengths W to 2W - 2 only. A test that stops
# earlier misses it, and so does one that looks only after many rounds: try every length from 0 to 2W.

# %% [markdown] id="end"
# ## What you have now
#
# - A ring in three arrays, made once; a write touches one slot.
# - Attention that reads the slots as they lie. Order matters only to kernels that count columns.
# - One mask, from stored positions, for a ring that fills, has holes or has slots to spare.
# - Query heads folded onto their key/value heads, with no key copied.
#
# A model may give every layer such a ring, or let sliding layers alternate with layers that keep everything, as
# Gemma's and gpt-oss's do.
#
# So far tokens came one by one. Next, lesson 03 feeds whole chunks, longer than the window if need be, and
# takes tokens back.
#
# The last cell keeps your work in `my_ringkv.py`. What is not right yet is not kept.

# %% id="save" role="volatile"
save_work(
    "RingArrays", "make_storage", "write", "MyNumpyRing",
    "attend_full", "time_order", "attend_seen", "attend_groups",
)  # fmt: skip
