# %% [markdown] id="start"
# # 03 Chunks and rewind
#
# *80 minutes. Needs NumPy.*
#
# A model reads its prompt in one go: all the tokens pass through it together, as one **chunk**. That is
# *prefill*. Then it writes token by token: *decode*. One ring serves both, and how a text was cut must
# not show: **a chunk gives what one token at a time gives.**
#
# **One token is written first and then attends.** In a full ring of W slots, the slot that it takes holds the
# one key that has just left its window. Nothing that it needs is lost.
#
# **A chunk must attend first and then be written.** Say W = 4 and positions 4 to 7 lie in slots 0 to 3.
# Now a chunk comes: 8, 9, 10. Written first, it would leave 8, 9, 10, 7 in the slots.
#
# | query at | must see | of these, still there | there too, but later than the query |
# |---|---|---|---|
# | 8 | 5 6 7 8 | 7 8 | 9 10 |
# | 9 | 6 7 8 9 | 7 8 9 | 10 |
# | 10 | 7 8 9 10 | 7 8 9 10 | none |
#
# The query at 8 has lost 5 and 6, and no mask brings them back. With a mask that is not made from
# positions it also sees 9 and 10, which is its own future (Lightning-AI/litgpt#2182).
#
# So a chunk attends to **the ring as it was, with the chunk beside it**, and is written afterwards. This
# lesson builds that, and then its opposite: taking tokens back.
#
# A check that fails prints its case as a line of code, which you can paste into a new cell.

# %% id="setup"
import numpy as np

from ringkv_edu.given_attention import attend_at
from ringkv_edu.given_chunks import TwoCounters, place
from ringkv_edu.given_numpy import RingArrays, filled_arrays, numbers
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work, show

# %% id="same-numbers" role="scene"
# Eleven tokens, cut in three ways. Token t's value is 1 in lane t and 0 elsewhere, so each output shows
# how much of positions 0, 1, ... 10 the query took.
from ringkv_edu.numpy_ring import NumpyRing

rng = draw(0, "same-numbers")
q, k, v = numbers(rng, 1, 11, 11), numbers(rng, 1, 11, 11), np.eye(11)[None]
for chunks in ([1] * 11, [8, 3], [11]):
    ring, outputs = NumpyRing(4, kv_heads=1, head_dim=11, dtype=np.float64), []
    for n in chunks:
        part = slice(ring.seen, ring.seen + n)
        outputs += list(ring.step(q[:, part], k[:, part], v[:, part])[0])
    print("chunks of", *chunks)
    for position in (8, 9, 10):
        print(f"  query at {position:2}:", *(fixed(weight, 2) for weight in outputs[position]))

# %% [markdown] id="the-ring"
# ## The ring of this lesson
#
# A `RingArrays` is memory and one counter:
#
# | field | what it holds |
# |---|---|
# | `keys`, `values` | arrays (kv_heads, slots, head_dim), zeros where a slot is empty |
# | `positions` | an array (slots,): the position in each slot; -1 is empty |
# | `seen` | how many tokens the text has, so also the position of the next one |
# | `window`, `sinks`, `slack`, `slots` | sizes; `slots` is sinks + window + slack |
#
# Two of the sizes are new. **Sinks** are the first tokens of the text, which never leave; lesson 07 says what
# they are good for. **Slack** is room for more tokens than the window needs; the second half of this lesson
# uses it. So R = window + slack slots go round behind the sinks, and the rule for slots is:
#
# - position `p` lives in slot `p` when `p < sinks`,
# - otherwise in slot `sinks + (p - sinks) % R`.

# %% [markdown] id="chunk1-stays-why"
# ## Exercise 1: what stays of a chunk
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# A prompt of 100,000 tokens, written one by one into a ring of 1,024, writes each slot about a hundred
# times, and the last time is the one that counts. NumPy writes a whole chunk with one assignment,
# `keys[:, slots] = ...`. A slot that stands in `slots` twice is waste there; in torch, which of the two
# stays is not defined. So it is worth knowing first **which tokens stay**: the sinks, and the last R positions.
#
# With W = 4, two sinks and no slack, R is 4. A chunk of eleven comes into the empty ring:
#
# | position | 0 | 1 | 2 to 6 | 7 | 8 | 9 | 10 |
# |---|---|---|---|---|---|---|---|
# | slot | 0 | 1 | not stored | 3 | 4 | 5 | 2 |
#
# Write `stays(seen, n, window, sinks, slack)` for a chunk of `n` tokens, at positions `seen` to
# `seen + n - 1`: a list of pairs `(position, slot)`, one for each token **of this chunk** that is stored, in
# order of position, each slot at most once.


# %% id="chunk1-stays" role="answer"
def stays(seen, n, window, sinks, slack):
    """The tokens of a chunk that are stored, as a list of (position, slot)."""
    ### BEGIN SOLUTION
    end, capacity = seen + n, window + slack
    kept = [p for p in range(seen, end) if p < sinks or p >= end - capacity]
    return [(p, p if p < sinks else sinks + (p - sinks) % capacity) for p in kept]
    ### END SOLUTION


# %% id="chunk1-stays-check" role="check"
check("chunk1-stays")
# hint("chunk1-stays", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="chunk1-stays-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "chunk1-stays")
runs = [(0, 11, 4, 2, 1), (1, 4, 3, 2, 2), (9, 3, 4, 1, 1), (12, 9, 3, 2, 2), (0, 2, 2, 3, 1)]
for _ in range(3):
    sizes = rng.randrange(2, 6), rng.randrange(3), rng.randrange(3)
    runs.append((rng.randrange(15), rng.randrange(1, 15), *sizes))
for seen, n, window, sinks, slack in runs:
    print(f"window {window}, sinks {sinks}, slack {slack}; {seen} seen, a chunk of {n}:")
    print("  ", plain(stays(seen, n, window, sinks, slack)))

# %% [markdown] role="hint" exercise="chunk1-stays"
# Which is the newest position of the chunk? Which is the oldest one that a ring of R then still holds?

# %% [markdown] role="hint" exercise="chunk1-stays"
# Go over the positions of the chunk. Keep `p` if it is below `sinks`, or if it is among the last R before
# `seen + n`. For each position kept, work out its slot by the two-line rule, with R = `window + slack` in
# both places.

# %% [markdown] role="hint" exercise="chunk1-stays"
# `end, R = seen + n, window + slack`; keep `p` in `range(seen, end)` when `p < sinks or p >= end - R`;
# its slot is `p if p < sinks else sinks + (p - sinks) % R`.

# %% [markdown] role="solution" exercise="chunk1-stays"
# Any R positions in a row fall into R different slots, so "the last R" also means "each slot once". A sink
# among them is not counted twice, since one test or the other lets it in, once. The slot follows the
# position alone. So it does not matter where a chunk begins, and tokens written one by one land in the same
# places. `sinks + p % R` would do as well, if all code agreed on it. A modulo over all slots would not:
# later tokens would overwrite the sinks. (In lmstudio-ai/mlx-engine#179 a system prompt was overwritten.)

# %% [markdown] id="chunk2-mask-why"
# ## Exercise 2: one lower bound per row
#
# *Difficulty 4 of 5 · 13 minutes · 4 points*
#
# The mask of a chunk of `n` has a **row** for each of its tokens: row `r` asks from position `seen + r`. It has
# a **column** for each key: first the ring's slots, as they lie before the chunk, then the chunk's tokens.
# The rule is the one of the course, now with sinks: a query at `i` sees the key at `j` when `j <= i` and one
# of two things holds, `i - j < window` or `j < sinks`. An empty slot, -1, is never seen.
#
# ![](figure:chunk_mask.png)
#
# W = 4, ten tokens seen, then the chunk 10, 11, 12. Slot 2 holds position 6, which no row sees:
#
# | | slot 0: 8 | slot 1: 9 | slot 2: 6 | slot 3: 7 | chunk: 10 | chunk: 11 | chunk: 12 |
# |---|---|---|---|---|---|---|---|
# | row of 10 | sees | sees | . | sees | sees | . | . |
# | row of 11 | sees | sees | . | . | sees | sees | . |
# | row of 12 | . | sees | . | . | sees | sees | sees |
#
# Each row has its own lower bound: 7, 8, 9. (On the right of the picture, L is a needed key, overwritten: 7
# and 8 for query 10, 8 for query 11. F is the future: 12 and 11 for query 10, 12 for query 11.) One bound
# for all rows has been reported as a bug (pytorch/executorch#21857), and so has a mask that hides the
# sinks from late rows (tomaarsen/attention_sinks#17).
#
# Write `chunk_mask(positions, seen, n, window, sinks)`: True and False, of shape (n, slots + n). `positions` is
# the ring's array. It may have holes, and in a first chunk the sinks are columns of the chunk.

# %% id="chunk2-mask" role="answer"
import numpy as np


def chunk_mask(positions, seen, n, window, sinks):
    """(n, slots + n): True where a token of the chunk sees a slot, or a token of the chunk."""
    ### BEGIN SOLUTION
    queries = np.arange(seen, seen + n)
    query = queries[:, None]
    key = np.concatenate([positions, queries])[None, :]
    in_reach = (query - key < window) | (key < sinks)
    return (key >= 0) & (key <= query) & in_reach
    ### END SOLUTION


# %% id="chunk2-mask-check" role="check"
check("chunk2-mask")
# hint("chunk2-mask", 1)

# %% id="chunk2-mask-graded" role="graded" points=4
# Graded, 4 points. A # is seen, a dot is not; the ring's slots come first.
SEED = 0
rng = draw(SEED, "chunk2-mask")
runs = [
    (10, 3, 4, 0, 0, 0),
    (11, 4, 4, 2, 0, 0),
    (0, 7, 3, 2, 0, 0),
    (1, 6, 3, 2, 1, 1),
    (6, 1, 4, 0, 0, 0),
]
for _ in range(3):
    sizes = rng.randrange(2, 5), rng.randrange(3), rng.randrange(3)
    runs.append((rng.randrange(9, 20), rng.randrange(2, 6), *sizes, 0))
for seen, n, window, sinks, slack, taken_back in runs:
    positions = filled_arrays(seen, rng, window, 1, 1, sinks, slack, taken_back).positions
    print(f"window {window}, sinks {sinks}, slots hold {positions.tolist()}, then {n} tokens:")
    for row in chunk_mask(positions, seen, n, window, sinks):
        print("  ", "".join("#" if sees else "." for sees in row))

# %% [markdown] role="hint" exercise="chunk2-mask"
# Give each column the position that it stands for, and each row the position that it asks from. After
# that, where a key lies does not matter any more.

# %% [markdown] role="hint" exercise="chunk2-mask"
# The rows ask from `seen` to `seen + n - 1`. The columns stand for `positions` followed by the same numbers.
# Write the rule for all pairs at once, by giving the queries the shape (n, 1) and the keys (1, slots + n), or
# with two loops. Three things must hold: not empty, not later, and in the window or a sink.

# %% [markdown] role="hint" exercise="chunk2-mask"
# `new = np.arange(seen, seen + n)`, `query = new[:, None]`, `key = np.concatenate([positions, new])[None, :]`,
# and `return (key >= 0) & (key <= query) & ((query - key < window) | (key < sinks))`. The inner parentheses
# matter: `&` binds before `|`.

# %% [markdown] role="solution" exercise="chunk2-mask"
# `query - key < window` compares each row with its own bound, so the mask cannot have one bound for all.
# Nothing here sorts the slots. One of the articles says that attention needs the window put back in order;
# that is so for kernels that make their mask from column numbers. Softmax attention does not depend on the
# order of its keys, and a mask from positions fits any order. Reports of other ways to
# miss: row numbers in place of positions (trymirai/lalamo#200), and a window that is one wider in prefill
# than in decode (ml-explore/mlx-lm#390).

# %% [markdown] id="chunk3-step-why"
# ## Exercise 3: attend first, then write
#
# *Difficulty 3 of 5 · 11 minutes · 3 points*
#
# Now put the parts in the right order. Two are given:
#
# | function | what it does |
# |---|---|
# | `attend_at(asked_from, q, held, keys, values, window, sinks)` | attention of the rows of `q`; `asked_from` are their positions, `held` those of the keys, in any order, -1 for empty. The mask of exercise 2 is made inside. |
# | `place(ring, k, v)` | writes the tokens into the ring and raises `ring.seen` |
#
# Write `step(ring, q, k, v)`. `q` is (heads, n, head_dim), `k` and `v` are (kv_heads, n, head_dim); axis 1
# counts the tokens of the chunk. Return what all n queries see, in the shape of `q`, and leave the chunk
# stored. The ring may be empty, and the chunk longer than the window. In lablup/mlxcel#405, a chunk was cut
# to its last W keys, so its first rows saw nothing, and a row without any key gives NaN.

# %% id="chunk3-step" role="answer"
import numpy as np

from ringkv_edu.given_attention import attend_at
from ringkv_edu.given_chunks import place


def step(ring, q, k, v):
    """Let a chunk attend to the ring as it was and to itself; then store it."""
    ### BEGIN SOLUTION
    new = np.arange(ring.seen, ring.seen + k.shape[1])
    held = np.concatenate([ring.positions, new])
    keys = np.concatenate([ring.keys, k], axis=1)
    values = np.concatenate([ring.values, v], axis=1)
    out = attend_at(new, q, held, keys, values, ring.window, ring.sinks)
    place(ring, k, v)
    return out
    ### END SOLUTION


# %% id="chunk3-step-check" role="check"
check("chunk3-step")
# hint("chunk3-step", 1)

# %% id="chunk3-step-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "chunk3-step")
for seen, chunks, window, sinks, slack in ((0, [6, 1], 3, 1, 0), (9, [4, 5], 3, 0, 2)):
    ring = filled_arrays(seen, rng, window, 1, 2, sinks, slack)
    print(f"window {window}, sinks {sinks}, slack {slack}, {seen} tokens")
    for n in chunks:
        out = step(ring, numbers(rng, 2, n, 2), numbers(rng, 1, n, 2), numbers(rng, 1, n, 2))
        print(f"  a chunk of {n}:", plain(out))
        print(f"  {ring.seen} seen, slots hold", plain(ring.positions))
    print("  keys", plain(ring.keys), "values", plain(ring.values))

# %% [markdown] role="hint" exercise="chunk3-step"
# What does `place` change that `attend_at` still needs? There are four such things.

# %% [markdown] role="hint" exercise="chunk3-step"
# Before anything is written, gather: the positions of the new tokens, from `ring.seen` on; the stored
# positions followed by these; the ring's keys followed by `k`; its values followed by `v`. Let the chunk
# attend to all that. Then write it, and return the outputs.

# %% [markdown] role="hint" exercise="chunk3-step"
# `new = np.arange(ring.seen, ring.seen + k.shape[1])`, `held = np.concatenate([ring.positions, new])`,
# `keys = np.concatenate([ring.keys, k], axis=1)`, the same for values,
# `out = attend_at(new, q, held, keys, values, ring.window, ring.sinks)`, then `place(ring, k, v)`.

# %% [markdown] role="solution" exercise="chunk3-step"
# `np.concatenate` copies, so what was gathered stays as it was. `keys = ring.keys` would not: it is another
# name for the same memory, and `place` changes it. Writing and attending token by token gives the same
# numbers, with n small matrix products in place of one large one. The same `step` serves prefill, decode,
# where n is 1, and the checking of drafts, which comes next. A cache that expected one long prompt and then
# single tokens went wrong in the second turn of a chat (ml-explore/mlx-examples#1000).


# %% id="my-chunks" role="scene"
# Your `step`, given a prompt of six tokens, one token, and drafts of two: which slots does each chunk fill?
class MyChunkRing(RingArrays):
    def append(self, k, v):
        step(self, k, k, v)


show(MyChunkRing, tokens=12, chunks=[6, 1, 2], window=4, sinks=1, step=1)

# %% [markdown] id="taking-back"
# ## Taking tokens back
#
# **Speculative decoding** lets a small model draft a few tokens. The large model reads them all as one
# chunk, so it reads its weights once for all of them, and keeps the drafts up to the first one that it would
# not have written. The rest must leave the ring again.
#
# One of the articles behind this course says that this does not conflict with a sliding window. It does. In a
# full ring of W slots, two drafts overwrite the two oldest keys; take the drafts back, and the window of the
# token before them has a gap. **Slack** is the cure: a ring of `window + slack` slots still has those keys.
#
# The rule: taking back `n` tokens leaves a text of `m = seen - n`. It is **allowed exactly when everything
# that the shorter text needs is stored**: each sink below `m` (which is always there: sinks are never
# overwritten), and its last W positions, from `max(0, m - W)` to `m - 1`, so that even its newest token could
# ask again. This asks for one more than the next token needs. Otherwise it is refused, and nothing changes.
# With W = 3 and slack 2:
#
# ![](figure:rewind.png)
#
# | what happens | slots after it | why |
# |---|---|---|
# | append 7 tokens | 5 6 2 3 4 | |
# | draft 2 tokens | 5 6 **7 8** 4 | 2 and 3 are overwritten |
# | take back 2 | 5 6 . . 4 | needs 4 to 6: all there |
# | take back 1 | 5 6 . . 4 | needs 3 to 5, 3 is gone: refused |
# | append 1 token | 5 6 7 . 4 | |

# %% [markdown] id="predict03-why"
# ### Predict first
#
# *Difficulty 3 of 5 · 7 minutes · no points*
#
# Now W = 4, slack is 2, no sinks, and ten tokens have been seen. These things happen, one after the other,
# to the same ring:
#
# | | what happens |
# |---|---|
# | first | take back 1 |
# | second | take back 2 |
# | | append 3 tokens |
# | third | take back 2 |
# | fourth | take back 1 |
# | | append 1 token |
# | fifth | take back 2 |
# | | append 1 token |
# | sixth | take back 2 |
#
# For each of the six: is it allowed? Fill in True or False, and keep track of what is stored.

# %% id="predict03" role="answer"
### BEGIN SOLUTION
allowed = [True, False, True, False, False, True]
### STUB
# allowed = [..., ..., ..., ..., ..., ...]
### END SOLUTION

# %% id="predict03-check" role="check"
check("predict03")
# hint("predict03", 1)

# %% [markdown] role="hint" exercise="predict03"
# Which is the oldest position in a ring of six slots after ten tokens? Does taking back change it?

# %% [markdown] role="hint" exercise="predict03"
# Keep two numbers: the length of the text, and the oldest position stored. Taking back lowers the length and
# leaves the oldest. A new token moves the oldest on only when it needs a slot that is not empty.

# %% [markdown] role="hint" exercise="predict03"
# At first the length is 10 and the oldest is 4. The first leaves 9 and needs 5 to 8. The second would leave
# 7 and needs 3 to 6. After three more tokens the length is 12 and the oldest is 6. Go on like this.

# %% [markdown] role="solution" exercise="predict03"
# | | length, stored | take back | would leave, needs | |
# |---|---|---|---|---|
# | first | 10, 4 to 9 | 1 | 9, 5 to 8 | allowed |
# | second | 9, 4 to 8 | 2 | 7, 3 to 6 | refused |
# | third | 12, 6 to 11 | 2 | 10, 6 to 9 | allowed |
# | fourth | 10, 6 to 9 | 1 | 9, 5 to 8 | refused |
# | fifth | 11, 6 to 10 | 2 | 9, 5 to 8 | refused |
# | sixth | 12, 6 to 11 | 2 | 10, 6 to 9 | allowed |
#
# Slack is an account: a full ring can spend `slack` tokens, what is spent stays spent, and each new token
# pays one back.

# %% [markdown] id="chunk4-rewind-why"
# ## Exercise 4: rewind, or change nothing
#
# *Difficulty 4 of 5 · 15 minutes · 4 points*
#
# Libraries get this wrong in both directions. Some take back whatever they are asked to and corrupt the
# window in silence (the case file below). One was going to refuse every rewind of a full ring, although the
# keys were there (microsoft/onnxruntime-genai#2334, seen in review). And a caller that keeps going after a
# refusal needs the ring as it was.
#
# Write `rewind(ring, n)`, by the rule above:
#
# - **Refused:** raise `ValueError`; the ring stays as it was.
# - **Allowed:** every slot that holds a position of `m` or more becomes empty, which means position -1 and
#   zeros as key and value; `seen` becomes `m`.
#
# Zeros, because a mask alone does not make an empty slot harmless: a weight of 0 times a NaN left in memory
# is NaN.
#
# `n` is from 0 to `seen`. Decide from what is stored, not from a count: `n <= slack` is neither enough (a
# second rewind in a row) nor needed (a ring that has not wrapped).


# %% id="chunk4-rewind" role="answer"
def rewind(ring, n):
    """Take back the newest n tokens, or raise ValueError and change nothing."""
    ### BEGIN SOLUTION
    length = ring.seen - n
    needed = [*range(min(ring.sinks, length)), *range(max(0, length - ring.window), length)]
    stored = set(ring.positions.tolist())
    lost = [position for position in needed if position not in stored]
    if lost:
        raise ValueError(f"a text of {length} tokens needs position {lost[0]}, which is gone")
    gone = ring.positions >= length
    ring.keys[:, gone] = 0
    ring.values[:, gone] = 0
    ring.positions[gone] = -1
    ring.seen = length
    ### END SOLUTION


# %% id="chunk4-rewind-check" role="check"
check("chunk4-rewind")
# hint("chunk4-rewind", 1)

# %% id="chunk4-rewind-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "chunk4-rewind")
runs = [
    (10, 4, 0, 2, (1, 1, 1)),
    (11, 3, 2, 2, (7, 2, 0, 1, 9)),
    (6, 4, 0, 2, (3,)),
    (4, 4, 0, 0, (1,)),
]
runs += [(12, 2, 3, 1, (1, 1)), (10, 4, 0, 0, (1,)), (2, 2, 3, 1, (1,)), (11, 3, 2, 2, (10,))]
runs += [(8, 4, 0, 2, (2, 3)), (9, 3, 0, 1, (9,))]
window, slack = rng.randrange(2, 6), rng.randrange(2, 4)
runs.append((rng.randrange(12, 20), window, rng.randrange(1, 3), slack, (slack - 1, 1, 1)))
for seen, window, sinks, slack, taken_back in runs:
    ring = filled_arrays(seen, rng, window, 1, 1, sinks, slack)
    print(f"window {window}, sinks {sinks}, slots hold {plain(ring.positions)}")
    for n in taken_back:
        try:
            rewind(ring, n)
            said = "taken back"
        except ValueError:
            said = "refused"
        print(f"  {n} {said}: {ring.seen} seen, slots hold {plain(ring.positions)}")
    print("  keys", plain(ring.keys), "values", plain(ring.values))

# %% [markdown] role="hint" exercise="chunk4-rewind"
# Work out `m` first, without changing `ring.seen`. Which positions must be among `ring.positions`?

# %% [markdown] role="hint" exercise="chunk4-rewind"
# 1. `m = ring.seen - n`. 2. List what is needed: the sinks below `m`, and `max(0, m - window)` to `m - 1`.
# 3. If one of them is not among the stored positions, raise `ValueError`, before anything is changed.
# 4. Empty the slots where `ring.positions >= m`: keys, values, positions. 5. Set `ring.seen`.

# %% [markdown] role="hint" exercise="chunk4-rewind"
# `needed = {*range(min(ring.sinks, m)), *range(max(0, m - ring.window), m)}`;
# `if not needed <= set(ring.positions.tolist()): raise ValueError(...)`; `gone = ring.positions >= m`;
# `ring.keys[:, gone] = 0`, the same for values, `ring.positions[gone] = -1`, `ring.seen = m`.

# %% [markdown] role="solution" exercise="chunk4-rewind"
# Asking for the sinks costs nothing, though that test never fails. What a caller does after a refusal is its
# own affair: read the last W tokens again, or draft fewer. Reusing a prefix is a
# rewind, too: a second conversation that shares 700 of 1,000 tokens with the first goes back by 300.
# Article D says that prefix caching can be used with a window as well. That holds only while the last W - 1
# tokens of the prefix are still stored (W by our rule, which lets its newest token ask again), and a long
# chat is past that. Slicing a ring by length, as if it were a list, scrambles it (Blaizzy/mlx-vlm#1715).

# %% [markdown] id="chunk5-full-why"
# ## Exercise 5: when no mask is needed
#
# *Difficulty 2 of 5 · 6 minutes · 2 points*
#
# During decode the newest token is written and asks. If it sees every slot, its mask is all True and may be
# left out; some fast kernels do not even take a mask. Two things stand in the way:
#
# - an empty slot, which must not be read;
# - slack: a full ring then holds tokens that have left the window.
#
# "Full" is a fact about slots. It is not a count of what was ever written: after ten tokens, all taken
# back, and two new ones, twelve have been written, and a ring of four has two empty slots.
#
# Write `no_mask_needed(positions, written, window, slack)`: True or False. `positions` is the ring's array,
# after the newest token was written. `written` counts all tokens ever written, those taken back since then,
# too. You need not use everything that you are given.


# %% id="chunk5-full" role="answer"
def no_mask_needed(positions, written, window, slack):
    """True when the newest token sees every slot of the ring."""
    ### BEGIN SOLUTION
    return slack == 0 and bool((positions >= 0).all())
    ### END SOLUTION


# %% id="chunk5-full-check" role="check"
check("chunk5-full")
# hint("chunk5-full", 1)

# %% id="chunk5-full-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "chunk5-full")
states = [(3, 4, 0, 0, 0), (4, 4, 0, 0, 0), (10, 4, 0, 0, 0), (2, 4, 0, 0, 2), (5, 4, 2, 0, 0)]
states += [(9, 4, 0, 2, 0), (8, 4, 0, 2, 2)]
window, sinks = rng.randrange(2, 6), rng.randrange(1, 3)
states += [(left, window, sinks, 0, 0) for left in range(window, window + sinks + 2)]
for left, window, sinks, slack, taken_back in states:
    positions = filled_arrays(left, rng, window, 1, 1, sinks, slack, taken_back).positions
    print(
        f"slots hold {positions.tolist()}, {left + taken_back} written, window {window},", end=" "
    )
    says = no_mask_needed(positions, left + taken_back, window, slack)
    print(f"slack {slack}: {bool(says)}")

# %% [markdown] role="hint" exercise="chunk5-full"
# What does `positions` hold in a slot that must not be read?

# %% [markdown] role="hint" exercise="chunk5-full"
# Two conditions, joined by `and`: there is no slack, and every entry of `positions` is 0 or more. Take care
# with position 0, which counts as False when Python asks whether it is true.

# %% [markdown] role="hint" exercise="chunk5-full"
# `return slack == 0 and bool((positions >= 0).all())`

# %% [markdown] role="solution" exercise="chunk5-full"
# With no slack, a full ring holds the sinks and the last W positions, and the newest token sees exactly
# these. Nor does the order of the slots matter, so this one query needs neither a mask nor sorting. Several
# queries at once do need a mask: each row has its own window.

# %% [markdown] id="case03-trim-why"
# ## Case file: the trim that says yes
#
# *Difficulty 3 of 5 · 10 minutes · 3 points*
#
# With speculative decoding, a library's rotating cache gave wrong text once the context was longer than its
# window: rejected drafts stayed, older tokens were missing, and nothing raised an error
# (ml-explore/mlx-lm#1512, also mlx-lm#1437 and mlx-lm#999; rebuilt here as a toy).
#
# `TwoCounters` stores no positions. What it holds follows from two counters:
#
# | field | what it holds |
# |---|---|
# | `max_size`, `slots` | the window, and a list of that many tokens; there is no slack |
# | `offset` | how many tokens the text has |
# | `index` | the slot of the next write; once it is `max_size`, the next write goes to slot 0 |
#
# `cache.append(token)` writes one token. `cache.held()` gives what attention would read: all slots, or the
# first `offset` of them while there are fewer tokens.
#
# Below is the trim. With four slots, `trim(cache, 2)` returns 2, but only the counters went back:
#
# ![](figure:trim.png)
#
# | what happens | slots | `offset` | `index` | should be gone | missing |
# |---|---|---|---|---|---|
# | append 0 to 9 | 8 9 6 7 | 10 | 2 | | |
# | `trim(cache, 2)` | 8 9 6 7 | 8 | 0 | 8 9 | 4 5 |
# | append a new 8 | **8** 9 6 7 | 9 | 1 | 9 | 5 |
#
# Mend `trim` so that it returns 0 and changes nothing when a token that the shorter text needs (its last
# `max_size` tokens, as in exercise 4) has been overwritten, and otherwise takes back n tokens and returns n.
# A text of no tokens needs none. `trim(cache, 0)` changes nothing.


# %% id="case03-trim" role="answer"
def trim(cache, n):
    """Take back the newest n tokens (all, if there are fewer); return how many, or 0."""
    n = min(n, cache.offset)
    ### BEGIN SOLUTION
    if cache.offset > cache.max_size and n < cache.offset:
        return 0
    cache.offset -= n
    cache.index = cache.offset
    ### STUB
    # cache.offset -= n
    # cache.index -= n
    ### END SOLUTION
    return n


# %% id="case03-trim-check" role="check"
check("case03-trim")
# hint("case03-trim", 1)

# %% id="case03-trim-graded" role="graded" points=3
# Graded, 3 points. New tokens are 100, 101, ...
SEED = 0
rng = draw(SEED, "case03-trim")
runs = [(4, 10, 2), (4, 3, 1), (4, 4, 2), (4, 5, 1), (4, 6, 6), (3, 10, 12), (4, 10, 0)]
for _ in range(3):
    size = rng.randrange(3, 7)
    runs.append((size, rng.randrange(2, 3 * size), rng.randrange(1, 5)))
for size, tokens, n in runs:
    cache = TwoCounters(size)
    for token in range(tokens):
        cache.append(token)
    print(
        f"{size} slots hold {plain(cache.held())}; trim({n}) took back {trim(cache, n)}:", end=" "
    )
    print(f"offset {cache.offset}, held {plain(sorted(cache.held()))}")
    for token in (100, 101):
        cache.append(token)
    print(f"  with 100 and 101: offset {cache.offset}, slots hold {plain(cache.held())}")

# %% [markdown] role="hint" exercise="case03-trim"
# When was the first token overwritten? Which of the two counters tells you?

# %% [markdown] role="hint" exercise="case03-trim"
# Before the wrap (`offset` at most `max_size`) nothing has been lost, and any trim works. After it, a trim
# of even one token needs one that is gone, unless it takes back all. Then `index` cannot be found by
# subtracting: where does an empty cache begin?

# %% [markdown] role="hint" exercise="case03-trim"
# `if cache.offset > cache.max_size and n < cache.offset: return 0`. Otherwise `cache.offset -= n` and
# `cache.index = cache.offset`.

# %% [markdown] role="solution" exercise="case03-trim"
# The counters can be turned back; the memory cannot. With a window of `max_size` and no slack, after the
# wrap each token held is needed, so one step back needs one that was overwritten. Before the wrap `index`
# and `offset` are the same number, which is why `index = offset` is right. The report was reproduced with
# mlx-lm 0.32.2. A cache of this kind can refuse, or grow slack; it cannot bring the lost token back.

# %% [markdown] id="end"
# ## What you have now
#
# - A chunk attends to the ring as it was and to itself, and is written afterwards; each row has its own bound.
# - Of a chunk, the sinks and the last R positions stay.
# - Tokens can be taken back exactly as long as everything that the shorter text needs is stored. Slack buys
#   that.
# - "Full" is a fact about slots, and so is "empty".
#
# So far attention has not cared where a token stands, except for who sees whom. Next, lesson 04 puts the
# position into the numbers themselves: RoPE, and what happens when a slot is taken for a position there.
#
# The last cell keeps your functions in `my_ringkv.py`. What is not right yet is not kept.

# %% id="save" role="volatile"
save_work("stays", "chunk_mask", "step", "rewind", "no_mask_needed", "trim")
