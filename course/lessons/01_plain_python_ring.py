# %% [markdown] id="start"
# # 01 The plain-Python ring
#
# *85 minutes. Nothing here needs more than Python's standard library.*
#
# A language model writes one token at a time. For each new token, every layer makes three vectors: a
# query `q`, a key `k` and a value `v`. The query asks; the keys of the tokens so far answer how well
# they match; the values of the good matches are averaged. That average is **attention**.
#
# **Why keys and values are kept.** The model is causal: what a token's key and value are depends on
# that token and on earlier ones, never on later ones. So `k_3` and `v_3`, once computed, are final.
# Every later token needs them again, and computing them anew would give the same numbers. They are
# kept: that is the **KV cache**.
#
# **Why queries are not.** The query of token 3 is used once, when token 3 is the newest. No later
# token asks with it.
#
# **What a window changes.** The cache grows with every token. A model with a *sliding window* of `W`
# looks only at the last `W` tokens, so the rest can go. This lesson builds the memory for that: a
# ring of `W` slots.

# %% id="setup"
from ringkv_edu.given import Entry, RingFields, filled_ring, token, write_at_head
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work, show, watch

# %% id="naive-grows" role="scene"
# The simplest cache keeps everything. `>` marks the slot that was written.
from ringkv_edu.pure import NaiveKVBuffer

watch(NaiveKVBuffer, "to be or not to be".split())

# %% [markdown] id="ex01-bytes-why"
# ## Exercise 1: what a token costs
#
# *Difficulty 1 of 5 · 5 minutes · 2 points*
#
# Each layer keeps, for each token, one key and one value per *key/value head*, of `head_dim` numbers
# each. (Several query heads may share one key/value head; only the latter cost memory.)
#
# Decoding one token reads all weights and the whole cache from memory once, so it cannot be faster
# than those bytes divided by the memory's speed: the **read floor**.
#
# Write `cache_bytes` (a whole number of bytes) and `read_floor_ms` (milliseconds). For a model of 6.7
# billion weights with 32 layers, 32 key/value heads, `head_dim` 128 and 2 bytes a number, one token
# costs 512 KiB, and 1,024 tokens cost 512 MiB.


# %% id="ex01-bytes" role="answer"
def cache_bytes(tokens, layers, kv_heads, head_dim, bytes_per_number):
    """Bytes of keys and values for this many tokens, over all layers."""
    ### BEGIN SOLUTION
    numbers_per_token = 2 * layers * kv_heads * head_dim  # a key and a value
    return tokens * numbers_per_token * bytes_per_number
    ### END SOLUTION


def read_floor_ms(weight_bytes, kv_bytes, bytes_per_second):
    """The least time, in milliseconds, to read the weights and the cache once."""
    ### BEGIN SOLUTION
    return 1000 * (weight_bytes + kv_bytes) / bytes_per_second
    ### END SOLUTION


# %% id="ex01-bytes-check" role="check"
check("ex01-bytes")
# hint("ex01-bytes", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="ex01-bytes-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "ex01-bytes")
for size in (2, 1, 4, rng.choice([1, 2, 4])):
    tokens, layers, heads = rng.randrange(2, 60), rng.randrange(2, 49), rng.choice([2, 4, 8])
    head_dim = rng.choice([64, 96, 128])
    kv = cache_bytes(tokens, layers, heads, head_dim, size)
    print(f"{tokens} tokens, {layers} layers, {heads} heads of {head_dim}: {fixed(kv, 0)} bytes")
    floor = read_floor_ms(rng.randrange(1, 30) * 1e6, kv, 1e9)
    print(f"  read floor {fixed(floor, 2)} ms")

# %% [markdown] role="hint" exercise="ex01-bytes"
# Start with one token in one layer in one head: how many numbers is its key, and what else is kept
# beside the key?

# %% [markdown] role="hint" exercise="ex01-bytes"
# Multiply everything: a key and a value (2), `head_dim` numbers each, for each key/value head, in each
# layer, for each token, times the bytes of a number. For the floor: add the bytes that are read,
# divide by the speed, and turn seconds into milliseconds.

# %% [markdown] role="hint" exercise="ex01-bytes"
# `return 2 * tokens * layers * kv_heads * head_dim * bytes_per_number` and
# `return 1000 * (weight_bytes + kv_bytes) / bytes_per_second`.

# %% [markdown] role="solution" exercise="ex01-bytes"
# The factor 2 stands for key and value. Weights belong to the floor, since every decoded token reads
# them: with 13.5 GB of weights and 17.2 GB of cache (32K tokens of the model above) a memory of
# 1 TB/s cannot give a token in less than 30.7 ms. With a short context the weights
# dominate; at 32K tokens the cache is more than half. Lesson 08 works out what a window gains.

# %% [markdown] id="ring-idea"
# ## The ring
#
# Give the cache exactly `W` slots. Write token 0 to slot 0, token 1 to slot 1, and so on; after the
# last slot, begin again at slot 0. The token overwritten is the oldest: the one that has just left
# the window. Nothing else moves.
#
# Two numbers now belong to each token, and this course is about not mixing them up. Its **position**
# says where it stands in the text. Its **slot** says where it lies in memory.
#
# | write number | 0 | 1 | 2 | 3 | 4 | 5 | ... |
# |---|---|---|---|---|---|---|---|
# | slot, W = 4 | 0 | 1 | 2 | 3 | 0 | 1 | ... |

# %% [markdown] id="predict01-why"
# ### Predict first
#
# *Difficulty 1 of 5 · 3 minutes · no points*
#
# A ring of **five** slots has taken 13 tokens, positions 0 to 12. Which slot is written next, and which
# positions are still there? Fill in a number and a list before you read on.

# %% id="predict01" role="answer"
### BEGIN SOLUTION
next_slot = 3
still_there = [8, 9, 10, 11, 12]
### STUB
# next_slot = ...
# still_there = ...
### END SOLUTION

# %% id="predict01-check" role="check"
check("predict01")
# hint("predict01", 1)

# %% [markdown] role="hint" exercise="predict01"
# The table above is for four slots. How does its second row run on for five?

# %% [markdown] role="hint" exercise="predict01"
# The next write is number 13. What is left of 13 after whole rounds of five? And a ring of five holds
# the five newest tokens.

# %% [markdown] role="hint" exercise="predict01"
# `13 % 5` is the slot. The newest token is at position 12; count five back, itself included.

# %% [markdown] role="solution" exercise="predict01"
# Thirteen writes are two rounds of five and three more, so slots 0, 1 and 2 hold positions 10, 11 and
# 12, and slot 3, which holds position 8, is next.

# %% id="predict01-run" role="scene"
# The same ring after eight tokens. Before each step choose the slot of the next write, in the ring or in the
# row: the figure counts. After the last step, all but the next slot is there to compare.
show("ring", tokens=13, window=5, step=8, predict="slot")

# %% [markdown] id="ring-picture"
# Here is a ring of four after ten tokens. The same four tokens stand in the window, by position, and in
# memory, by slot. The crossing of the links is the wrap.
#
# ![](figure:ring.png)

# %% [markdown] id="ex02-append-why"
# ## Exercise 2: the two-line write
#
# *Difficulty 2 of 5 · 9 minutes · 3 points*
#
# A `RingFields` has the memory and the counters of a ring, and no behaviour:
#
# | field | at first | what it holds |
# |---|---|---|
# | `keys`, `values` | `[None] * W` | one vector in each slot |
# | `positions` | `[-1] * W` | the position that each slot holds; -1 is empty |
# | `insert_count` | `[-1] * W` | the number of the write that filled each slot; -1 is empty |
# | `head` | 0 | the slot of the next write |
# | `size` | 0 | how many slots are in use |
# | `num_writes` | 0 | how many writes there have been |
# | `window_size` | W | how many slots there are |
#
# Write `append(ring, key, value, position)`: write number `n` goes to slot `n % W`. Store all four
# facts there, bring the three counters up to date, and return the slot. The heart of it is two lines,
# find the slot and store there; the rest is bookkeeping. The caller may use its `key` and `value` lists again, so store copies.


# %% id="ex02-append" role="answer"
def append(ring, key, value, position):
    """Write one token over the oldest one; return its slot."""
    ### BEGIN SOLUTION
    slot = ring.num_writes % ring.window_size
    ring.keys[slot], ring.values[slot] = list(key), list(value)
    ring.positions[slot], ring.insert_count[slot] = position, ring.num_writes
    ring.num_writes += 1
    ring.head = ring.num_writes % ring.window_size
    ring.size = min(ring.size + 1, ring.window_size)
    return slot
    ### END SOLUTION


# %% id="ex02-append-check" role="check"
check("ex02-append")
# hint("ex02-append", 1)

# %% id="ex02-append-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ex02-append")
key, value = [0.0, 0.0], [0.0, 0.0]  # used again for every token
for window, step in ((4, 1), (4, 2), (rng.randrange(3, 7), rng.randrange(2, 6))):
    ring = RingFields(window)
    print("window", window)
    for position in range(0, 10 * step, step):
        key[:], value[:] = token(rng)
        slot = append(ring, key, value, position)
        kept = sorted(p for p in ring.positions if p >= 0)
        writes = sorted(n for n in ring.insert_count if n >= 0)
        print(
            f"  position {position} to slot {slot}; next {ring.head}, {ring.size} in use;", end=" "
        )
        print("positions", *kept, "writes", *writes)
    print("  slots hold", plain(ring.positions), "writes", plain(ring.insert_count))
    print("  keys", plain(ring.keys), "values", plain(ring.values), "of", ring.num_writes)

# %% [markdown] role="hint" exercise="ex02-append"
# Which field already tells you the number of this write, before you change anything?

# %% [markdown] role="hint" exercise="ex02-append"
# 1. `slot` is the write number modulo the number of slots. 2. Put `list(key)`, `list(value)`, the
# position and the write number into that slot of the four lists. 3. Only then raise `num_writes`; work
# out `head` from it; raise `size` unless the ring is full. 4. Return `slot`.

# %% [markdown] role="hint" exercise="ex02-append"
# `slot = ring.num_writes % ring.window_size`, then four assignments such as
# `ring.positions[slot] = position` and `ring.insert_count[slot] = ring.num_writes`, then
# `ring.num_writes += 1`, `ring.head = ring.num_writes % ring.window_size`,
# `ring.size = min(ring.num_writes, ring.window_size)` and `return slot`.

# %% [markdown] role="solution" exercise="ex02-append"
# The write costs the same whatever the window: one slot is found by arithmetic and filled. The slot
# comes from the *write number*. Taking it from the position works only while positions are 0, 1, 2, ...
# without gaps; `append` lets the caller say what the position is, so it cannot rely on that.

# %% [markdown] id="ex03-visible-why"
# ## Exercise 3: read it in order of time
#
# *Difficulty 2 of 5 · 8 minutes · 3 points*
#
# In memory the tokens lie in slot order: after ten tokens, positions 8, 9, 6, 7. People and some
# kernels want them oldest first. Write `visible(ring)`: a list with one `Entry` for each stored token,
# from the oldest *write* to the newest.
#
# An `Entry` is a named tuple: `Entry(key, value, position, insert_seq, physical_slot)`, where
# `insert_seq` is the write number found in `insert_count`. The ring may be empty, partly filled or full.


# %% id="ex03-visible" role="answer"
def visible(ring):
    """The stored tokens as a list of Entry, oldest write first."""
    ### BEGIN SOLUTION
    oldest = ring.num_writes - ring.size
    slots = [write % ring.window_size for write in range(oldest, ring.num_writes)]
    return [
        Entry(ring.keys[s], ring.values[s], ring.positions[s], ring.insert_count[s], s)
        for s in slots
    ]
    ### END SOLUTION


# %% id="ex03-visible-check" role="check"
check("ex03-visible")
# hint("ex03-visible", 1)

# %% id="ex03-visible-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ex03-visible")
again = [*range(7), 0, 1]  # a second conversation begins at position 0
start = rng.randrange(50)
apart = range(start, start + 40, rng.randrange(2, 5))
for window, positions in ((4, []), (4, range(3)), (4, again), (rng.randrange(3, 7), apart)):
    ring = filled_ring(window, positions, rng)
    print(f"window {window}, slots hold {ring.positions}: {len(visible(ring))} entries")
    for entry in visible(ring):
        print(
            f"  position {entry.position}, write {entry.insert_seq}, slot {entry.physical_slot},",
            f"key {plain(entry.key)}, value {plain(entry.value)}",
        )

# %% [markdown] role="hint" exercise="ex03-visible"
# The newest write has the number `num_writes - 1`. How many are stored, so which number has the oldest?

# %% [markdown] role="hint" exercise="ex03-visible"
# Go through the write numbers from the oldest stored to the newest. Each tells you its slot by the same
# rule as in exercise 2. Make an `Entry` from what lies in that slot.

# %% [markdown] role="hint" exercise="ex03-visible"
# `for write in range(ring.num_writes - ring.size, ring.num_writes):` with
# `slot = write % ring.window_size`, and collect
# `Entry(ring.keys[slot], ring.values[slot], ring.positions[slot], ring.insert_count[slot], slot)`.

# %% [markdown] role="solution" exercise="ex03-visible"
# Reading costs time in proportion to what is stored, however it is done: a ring makes the *write* cheap.
# And soon you will not need this order at all. One query over the window gives the same attention in
# any order, because a sum does not care about the order of its terms. Lesson 02 shows it.


# %% id="my-ring" role="scene"
# Your functions make a class: a method is a function whose first argument is the object.
# Table and figure are made from what YOUR `append` did, right or wrong. Try other sizes.
class MyRing(RingFields):
    append = append
    visible = visible


watch(MyRing, 10, window_size=4)
show(MyRing, tokens=10, window_size=4, step=7)

# %% [markdown] id="ex04-attend-why"
# ## Exercise 4: attention over the ring
#
# *Difficulty 3 of 5 · 12 minutes · 3 points*
#
# For one query over a list of entries:
#
# 1. the score of an entry is the dot product of query and key, divided by `sqrt(head_dim)`, where
#    `head_dim` is the length of the query;
# 2. its weight is `exp(score)`, divided by the sum of all of these (softmax);
# 3. the output is the sum of the values, each times its weight.
#
# `exp(710)` overflows. Subtracting the largest score from all scores first changes no weight and makes
# every exponent 0 or less. Write `attend(query, entries)`; when there are no entries there is nothing to
# average, so give `None`.

# %% id="ex04-attend" role="answer"
import math


def attend(query, entries):
    """Softmax attention of one query over entries: a list of numbers, or None."""
    ### BEGIN SOLUTION
    if not entries:
        return None
    scale = 1 / math.sqrt(len(query))
    scores = [scale * sum(a * b for a, b in zip(query, entry.key)) for entry in entries]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights)
    lanes = zip(*(entry.value for entry in entries))
    return [sum(w * x for w, x in zip(weights, lane)) / total for lane in lanes]
    ### END SOLUTION


# %% id="ex04-attend-check" role="check"
check("ex04-attend")
# hint("ex04-attend", 1)

# %% id="ex04-attend-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ex04-attend")
for count, head_dim in ((1, 2), (4, 2), (5, 3), (rng.randrange(2, 9), rng.randrange(2, 7))):
    query = [round(rng.uniform(-2, 2), 1) for _ in range(head_dim)]
    entries = [Entry(*token(rng, head_dim), slot, slot, slot) for slot in range(count)]
    for stretch in (1, 1000):
        out = attend([stretch * x for x in query], entries)
        print(f"{count} entries of {head_dim}, query times {stretch}:", *(fixed(x, 4) for x in out))
print("nothing stored:", attend([1.0, 2.0], []))

# %% [markdown] role="hint" exercise="ex04-attend"
# Do the three steps in three lists: scores, weights, output. Print each of them for two entries whose
# result you can work out by hand.

# %% [markdown] role="hint" exercise="ex04-attend"
# Return `None` first if `entries` is empty. Make the list of scores, take its maximum, make the weights
# with `math.exp(score - top)`, and their sum. Then, for each place in a value vector, add up weight times
# value over all entries and divide by the sum of weights.

# %% [markdown] role="hint" exercise="ex04-attend"
# `scores = [sum(a * b for a, b in zip(query, e.key)) / math.sqrt(len(query)) for e in entries]`, then
# `weights = [math.exp(s - max(scores)) for s in scores]`, and for the output
# `[sum(w * e.value[i] for w, e in zip(weights, entries)) / sum(weights) for i in range(len(entries[0].value))]`.

# %% [markdown] role="solution" exercise="ex04-attend"
# Dividing by `sqrt(head_dim)` keeps the size of the scores the same for short and long vectors.
# The maximum cancels: it multiplies every weight and their sum by the same number. Note what does not
# appear anywhere: a position. Attention by itself does not know where a token stood; lesson 04 adds that.

# %% [markdown] id="ex05-edge-why"
# ## Exercise 5: the window's edge
#
# *Difficulty 2 of 5 · 6 minutes · 3 points*
#
# The article that this lesson began from gives the rule twice, and not the same way. With W = 4 it says
# that token 5 sees tokens 1 to 4; elsewhere, that token `t` sees `t-W+1` to `t`.
#
# | rule | what token 5 sees, W = 4 | count |
# |---|---|---|
# | the W tokens before it | 1 2 3 4 | 4, itself not among them |
# | `t-W+1` to `t` | 2 3 4 5 | 4, itself among them |
#
# Both have four keys, so counting does not settle it. The ring does: it has W slots, and a token is
# **written first and then attends**, so its own key is one of the W. The second rule is also the one
# that the transformers library uses. Production code has mixed these up more than once.
#
# Write `sees(query_position, key_position, window)`: is that key visible to that query? Mind the future.


# %% id="ex05-edge" role="answer"
def sees(query_position, key_position, window):
    """True when the query sees the key: at or before it, and among the last `window`."""
    ### BEGIN SOLUTION
    return 0 <= query_position - key_position < window
    ### END SOLUTION


# %% id="ex05-edge-check" role="check"
check("ex05-edge")
# hint("ex05-edge", 1)

# %% id="ex05-edge-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ex05-edge")
for _ in range(6):
    window, query = rng.randrange(1, 6), rng.randrange(0, 12)
    keys = [key for key in range(query + 3) if sees(query, key, window)]
    print(f"window {window}, query at {query} sees", *keys)

# %% [markdown] role="hint" exercise="ex05-edge"
# Work with the distance `query_position - key_position`. What is it for the token itself?

# %% [markdown] role="hint" exercise="ex05-edge"
# The distances that are visible are 0, 1, ..., and there must be exactly `window` of them. Negative
# distances are keys that come later.

# %% [markdown] role="hint" exercise="ex05-edge"
# `return 0 <= query_position - key_position < window`

# %% [markdown] role="solution" exercise="ex05-edge"
# Distances 0 to W-1 are W keys. Some libraries count otherwise: a flash-attention kernel's
# `window_size=(L, 0)` means L keys to the left *and* the token itself, so W must be passed as W-1
# (huggingface/transformers#39408). This one function is the rule of the whole course.

# %% [markdown] id="ex06-empty-why"
# ## Exercise 6: an empty slot is not a zero
#
# *Difficulty 3 of 5 · 10 minutes · 3 points*
#
# Say slots start as zero vectors, and one token with score 0.3 has been written. The other three keys
# are zero, so their scores are 0, and 0 is not "no weight": `exp(0)` is 1. The three empty slots take
# `3 / (3 + exp(0.3))`, which is 69 % of the attention. **A zero key is not a zero weight.**
#
# Starting `positions` with zeros is no better: then an empty slot claims to be position 0. So empty is
# -1, and what may be read is decided from the **stored positions**, not from a counter: a ring can have
# holes (lesson 03 takes tokens back), more slots than the window, and tokens after the query.
#
# Write `readable_slots(positions, query_position, window)`: a list of the slots, in slot
# order, whose token the query sees.


# %% id="ex06-empty" role="answer"
def readable_slots(positions, query_position, window):
    """The slots whose stored position is visible to the query; -1 marks an empty slot."""
    ### BEGIN SOLUTION
    return [
        slot
        for slot, position in enumerate(positions)
        if position >= 0 and 0 <= query_position - position < window
    ]
    ### END SOLUTION


# %% id="ex06-empty-check" role="check"
check("ex06-empty")
# hint("ex06-empty", 1)

# %% id="ex06-empty-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ex06-empty")
states = [([-1, -1, -1], 0), ([0, -1, -1], 0), ([-1, 5, -1, 3], 5), ([4, 5, 2, 3], 5)]
for _ in range(5):
    newest = rng.randrange(3, 20)
    held = [-1, -1, *range(newest - 3, newest + 2)]
    rng.shuffle(held)
    states.append((held, newest))
for positions, query in states:
    window = rng.randrange(2, 5)
    slots = readable_slots(positions, query, window)
    print(f"slots hold {positions}, query {query}, window {window}: read", plain(slots))

# %% [markdown] role="hint" exercise="ex06-empty"
# Go over slots and stored positions together (`enumerate`). Two questions decide: is there a token at
# all, and does the query see it?

# %% [markdown] role="hint" exercise="ex06-empty"
# Keep a slot when its position is 0 or more *and* the rule of exercise 5 holds for it. Without the first
# part, -1 passes for an early query: it is only one place before position 0.

# %% [markdown] role="hint" exercise="ex06-empty"
# `return [slot for slot, p in enumerate(positions) if p >= 0 and 0 <= query_position - p < window]`

# %% [markdown] role="solution" exercise="ex06-empty"
# Masks from counters (`slot < size`) are right on a ring that only ever grows and wraps, and go wrong
# with the first hole. Masks from stored positions cannot: each slot says for itself what it holds.
# Every mask of this course is made this way.

# %% [markdown] id="ex07-distance-why"
# ## Exercise 7: a slot is not a position
#
# *Difficulty 3 of 5 · 9 minutes · 2 points*
#
# Models use how far back a key lies. (With RoPE, in lesson 04, the score depends on it.) The distance is
# a difference of **positions**. Here is the ring after ten tokens:
#
# | slot | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | position | 8 | 9 | 6 | 7 |
# | distance back, from positions | 1 | 0 | 3 | 2 |
# | "distance" from slots | 1 | 0 | -1 | -2 |
#
# The last row says that two old tokens lie in the future. Before the first wrap the two rows are equal,
# and whenever the newest token lands in the last slot they are equal again: right by luck. A test at
# such a length sees nothing.
#
# Write `distances(positions)`: a list with, for each slot, how far its token lies behind the newest one stored, or
# `None` for an empty slot. At least one slot is filled.


# %% id="ex07-distance" role="answer"
def distances(positions):
    """For each slot, how far back its token lies; None where the slot is empty."""
    ### BEGIN SOLUTION
    newest = max(positions)
    return [None if position < 0 else newest - position for position in positions]
    ### END SOLUTION


# %% id="ex07-distance-check" role="check"
check("ex07-distance")
# hint("ex07-distance", 1)

# %% id="ex07-distance-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "ex07-distance")
for _ in range(6):
    window, writes = rng.randrange(2, 8), rng.randrange(1, 20)
    start, step = rng.randrange(30), rng.randrange(1, 4)
    ring = filled_ring(window, range(start, start + step * writes, step), rng)
    print(f"slots hold {ring.positions}: distances", plain(distances(ring.positions)))
for positions in ([0, -1, -1], [4, 1, 2, 3], [-1, 5, -1, 3]):
    print(f"slots hold {positions}: distances", plain(distances(positions)))

# %% [markdown] role="hint" exercise="ex07-distance"
# Which stored position is the newest? You do not need to know its slot.

# %% [markdown] role="hint" exercise="ex07-distance"
# Take the largest stored position. For each slot give that minus the slot's own position, or `None` when
# the slot holds -1.

# %% [markdown] role="hint" exercise="ex07-distance"
# `newest = max(positions)` and
# `return [None if p < 0 else newest - p for p in positions]`

# %% [markdown] role="solution" exercise="ex07-distance"
# The slot never enters. Ten bugs of 2025 and 2026 in well-known projects used a slot, or a count
# of slots, where a position belonged; `course/references.md` lists them. A test that stops before the
# first wrap sees none of them.

# %% [markdown] id="ex08-shift-why"
# ## Exercise 8: the buffer that shifts
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# The buffer below keeps the oldest token at index 0 and moves everything one place to the left when it is
# full. There is one bug in it: no error, right keys, right values.
#
# 1. Find it and mend it. Print the three lists after six tokens if you do not see it.
# 2. Say what shifting costs. When `pop(0)` takes the first of a list's W + 1 entries, the W others all
#    move. Write `entries_moved(tokens, window_size)`: how many entries are moved, in all, in **one** of the
#    lists, while `tokens` tokens are appended one by one.


# %% id="ex08-shift" role="answer"
class ShiftBuffer:
    def __init__(self, window_size):
        self.window_size = window_size
        self.keys, self.values, self.positions = [], [], []

    def append(self, key, value, position):
        self.keys.append(key)
        self.values.append(value)
        self.positions.append(position)
        if len(self.keys) > self.window_size:
            self.keys.pop(0)
            self.values.pop(0)
            ### BEGIN SOLUTION
            self.positions.pop(0)
            ### STUB
            # self.positions.pop()
            ### END SOLUTION


def entries_moved(tokens, window_size):
    """How many entries one list moves while this many tokens are appended."""
    ### BEGIN SOLUTION
    evictions = max(0, tokens - window_size)
    return evictions * window_size
    ### END SOLUTION


# %% id="ex08-shift-check" role="check"
check("ex08-shift")
# hint("ex08-shift", 1)

# %% id="ex08-shift-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ex08-shift")
for _ in range(3):
    window, tokens = rng.randrange(2, 6), rng.randrange(4, 12)
    buffer = ShiftBuffer(window)
    for position in range(tokens):
        buffer.append(*token(rng), position)
    print(f"window {window}, {tokens} tokens: positions", plain(buffer.positions))
    print("  keys", plain(buffer.keys), "values", plain(buffer.values))
    tokens = rng.randrange(100, 1000)
    print(
        f"  {tokens} tokens move {fixed(entries_moved(tokens, window), 0)} entries,",
        f"{window - 1} tokens {fixed(entries_moved(window - 1, window), 0)}",
    )

# %% [markdown] role="hint" exercise="ex08-shift"
# Which end does `pop()` take from, and which end does `pop(0)`? For the cost: nothing moves until the
# buffer is full.

# %% [markdown] role="hint" exercise="ex08-shift"
# All three lists must let go of the same token, the oldest. For the cost, count the appends that evict,
# and multiply by the entries that each of them moves. Take care that a buffer that never fills gives 0.

# %% [markdown] role="hint" exercise="ex08-shift"
# `self.positions.pop(0)` and `return max(0, tokens - window_size) * window_size`.

# %% [markdown] role="solution" exercise="ex08-shift"
# With `pop()` the newest position is dropped, so the list stays 0, 1, 2, ...: the slot numbers. It is the
# mistake of exercise 7 in disguise. The cost of shifting grows with tokens times window: at W = 4,096
# each new token moves 4,096 entries, in every list, layer and head. The ring moves none.

# %% [markdown] id="case01-reset-why"
# ## Case file: the second conversation
#
# *Difficulty 2 of 5 · 6 minutes · 2 points*
#
# A teaching repository's cache gave a good first answer and a strange second one
# (rasbt/LLMs-from-scratch#925; rebuilt here as a toy). Between the two, the cache is reset. Nothing
# raises an error, and when the number of tokens was a multiple of W, nothing is wrong.
#
# That cache had a writer of its own, which goes by `head`; the reader goes by `num_writes`, as yours does:
#
# ```python
# slot = ring.head                              # the writer
# ring.head = (slot + 1) % ring.window_size
# ```
#
# Below is the reset. Trace by hand what it leaves after six tokens in a ring of four, where that writer
# then puts the first token of the next conversation, and where the reader looks for it. Mend the reset so
# that the ring is, in every field, like a new one. It must stay the same ring: others hold it, too.


# %% id="case01-reset" role="answer"
def reset(ring):
    """Bring a ring back to the state in which it was made."""
    window_size = ring.window_size
    ring.keys = [None] * window_size
    ring.values = [None] * window_size
    ring.positions = [-1] * window_size
    ring.insert_count = [-1] * window_size
    ring.size = 0
    ring.num_writes = 0
    ### BEGIN SOLUTION
    ring.head = 0
    ### STUB
    #
    ### END SOLUTION


# %% id="case01-reset-check" role="check"
check("case01-reset")
# hint("case01-reset", 1)

# %% id="case01-reset-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "case01-reset")
for _ in range(3):
    window = rng.randrange(3, 7)
    writes = window * rng.randrange(1, 4) + rng.randrange(1, window)
    ring = filled_ring(window, range(writes), rng)
    print(f"window {window}, {writes} writes: next {ring.head}, slots hold {ring.positions}")
    reset(ring)
    for tokens_later in range(2):
        fields = ("positions", "insert_count", "keys", "values", "head", "size", "num_writes")
        print("  ", *(f"{name} {plain(getattr(ring, name))}" for name in fields))
        write_at_head(ring, *token(rng), tokens_later)

# %% [markdown] role="hint" exercise="case01-reset"
# Go down the table of fields in exercise 2 and tick off each one.

# %% [markdown] role="hint" exercise="case01-reset"
# One counter is left where the last conversation stopped: the one that the writer goes by.

# %% [markdown] role="hint" exercise="case01-reset"
# Add `ring.head = 0`.

# %% [markdown] role="solution" exercise="case01-reset"
# Two fields, `head` and `num_writes`, say the same thing in two ways, and the reset forgot one. Keeping
# one of them and computing the other would make this bug impossible. The rings of the later lessons do.

# %% [markdown] id="end"
# ## What you have now
#
# - A ring: writing costs the same for every window, and memory never grows.
# - The rule: a query sees `t-W+1` to `t`, itself included.
# - Masks come from stored positions; empty is -1.
# - A slot is not a position.
#
# In their own layer, tokens that left the window are gone. Through many layers a little of them travels
# on; lesson 07 looks at that. Next, lesson 02 puts the ring into one NumPy array, with several heads.
#
# The last cell keeps your ring, `attend`, `sees`, `readable_slots` and `reset` in `my_ringkv.py`, so that
# they survive a restart and later lessons can import them. What is not right yet is not kept.

# %% id="save" role="volatile"
save_work("RingFields", "append", "visible", "MyRing", "attend", "sees", "readable_slots", "reset")
