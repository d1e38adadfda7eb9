# %% [markdown] id="start"
# # 05 The torch ring
#
# *95 minutes. Needs torch: `python -m pip install "ringkv-edu[torch]"`.*
#
# The NumPy ring serves one text. A server decodes many at once: a **batch**, one text a row, because the
# weights are then read once for all of them. The rows are of different ages. One may have seen 900 tokens
# and its neighbour three.
#
# And the work is done by a **device**, often a GPU. The **host**, which runs your Python, only queues what the
# device is to do, and goes on. A GPU is fast as long as the queue does not run dry. So two things are new:
#
# - each row has a cursor of its own;
# - the host must not ask where they stand. `x.item()` waits until everything queued before is done; then the
#   queue is empty, and the device idles while the host prepares what comes next.
#
# The cursors therefore live **on the device**, and slots, positions and masks are computed there.
#
# For those who know NumPy, this is most of torch's tensors:
#
# | NumPy | torch |
# |---|---|
# | `np.zeros((2, 3))` | `torch.zeros(2, 3, dtype=torch.float64, device="cpu")`; results stay on the device |
# | `a[i] += 1`, `a[...] = b` | the same; in-place methods end in `_`: `a.add_(1)`, `a.copy_(b)`, `a.masked_fill_(m, 0)` |
# | `a[:, 2:4]`, `a.T`, `a[:, None]` | the same: views of the same memory, no copy |
# | `a[i]` with an array `i` | the same: a copy. As a target, `a[i] = b` writes into `a` |
# | `np.take_along_axis`, `np.put_along_axis` | `a.gather(1, i)`, `a.scatter_(1, i, b)`; `a.index_copy_(0, i, b)` for whole rows |

# %% id="setup"
from ringkv_edu.given_torch import RingRows, drawn, filled_rows, newest_sees, put  # needs torch
from ringkv_edu.given_spy import Recording, Spy
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work, show
import torch

# %% [markdown] id="rows"
# ## Three rings, one batch
#
# `RingRows` is the memory of several rings, and decides nothing:
#
# | field | shape | what it holds |
# |---|---|---|
# | `keys`, `values` | (batch, kv_heads, window, head_dim) | float64, zeros where a slot is empty |
# | `positions` | (batch, window) | int64; -1 where a slot is empty |
# | `seen` | (batch,) | int64: tokens of the row so far, so the position of its next one |
#
# There are no sinks and no slack in this lesson: position `p` lives in slot `p % window`.
#
# ![](figure:cursors.png)
#
# | row | `seen` | slots hold | next write |
# |---|---|---|---|
# | 0 | 10 | 8 9 6 7 | position 10 to slot 2 |
# | 1 | 6 | 4 5 2 3 | position 6 to slot 2 |
# | 2 | 3 | 0 1 2 -1 | position 3 to slot 3 |

# %% [markdown] id="tr1-write-why"
# ## Exercise 1: every row at its own cursor
#
# *Difficulty 4 of 5 · 13 minutes · 4 points*
#
# Here is the write, slow and obvious. `k` and `v` are (batch, kv_heads, head_dim): one token for each row.
#
# ```python
# for row in range(len(rows.seen)):
#     slot = rows.seen[row].item() % rows.window      # the host waits
#     rows.keys[row, :, slot] = k[row]
#     rows.values[row, :, slot] = v[row]
#     rows.positions[row, slot] = rows.seen[row]
#     rows.seen[row] += 1
# ```
#
# Write `write_rows(rows, k, v)` that leaves the same behind, **in the same four tensors**, without reading
# any number on the host: no `.item()`, `int()`, `.tolist()` or `.numpy()`, no `if` on a tensor, no `print`. One
# number of a tensor, used as an index, is a read, too. The check watches for all of these, and so does
# `with Spy() as spy: ...`, which counts them in `spy.reads`.
#
# One trap: `x[:, slot]` takes **all** rows with **all** slots. Two index tensors go in pairs. With
# `each = torch.arange(3)`, `x[each, slot]` is `x[0, slot[0]]`, `x[1, slot[1]]`, `x[2, slot[2]]`; and
# `x[each, :, slot]` keeps the axis between them.


# %% id="tr1-write" role="answer"
def write_rows(rows, k, v):
    """Write one token a row, each into its own row's next slot; k, v (batch, kv_heads, head_dim)."""
    ### BEGIN SOLUTION
    each = torch.arange(len(rows.seen), device=rows.seen.device)
    slot = rows.seen % rows.window
    rows.keys[each, :, slot] = k
    rows.values[each, :, slot] = v
    rows.positions[each, slot] = rows.seen
    rows.seen += 1
    ### END SOLUTION


# %% id="tr1-write-check" role="check"
check("tr1-write")
# hint("tr1-write", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="tr1-write-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "tr1-write")
runs = [([10, 6, 3], 4, 1), ([0, 4], 3, 2), ([2, 0, 5], 1, 1)]
runs.append(([rng.randrange(20) for _ in range(3)], rng.randrange(2, 6), 3))
for seen, window, kv_heads in runs:
    rows = filled_rows(seen, rng, window, kv_heads, 2)
    before = [rows.keys, rows.values, rows.positions, rows.seen]
    with Spy() as spy:
        for _ in range(2):
            write_rows(rows, *drawn(rng, 2, len(seen), kv_heads, 2))
    after = [rows.keys, rows.values, rows.positions, rows.seen]
    print(f"window {window}, {seen} and 2 more: positions", plain(rows.positions))
    print("  seen", plain(rows.seen), "keys", plain(rows.keys))
    print("  values", plain(rows.values))
    kept = sum(old is new for old, new in zip(before, after))
    print("  reads by the host:", spy.reads, "tensors kept:", kept)

# %% [markdown] role="hint" exercise="tr1-write"
# The slots of all rows are one expression. What is its shape, and which rows go with it?

# %% [markdown] role="hint" exercise="tr1-write"
# 1. `slot = rows.seen % rows.window`, one slot a row. 2. `each`, the row numbers 0, 1, ... 3. Three assignments
# with both as indices: keys, values, positions. 4. Only then raise `rows.seen`, in place.

# %% [markdown] role="hint" exercise="tr1-write"
# `each = torch.arange(len(rows.seen))`, then `rows.keys[each, :, slot] = k`, the same for values,
# `rows.positions[each, slot] = rows.seen`, `rows.seen += 1`.

# %% [markdown] role="solution" exercise="tr1-write"
# With two index tensors around a slice, the paired axis comes first: `keys[each, :, slot]` is (batch,
# kv_heads, head_dim), the shape of `k`. `scatter_` along the axis of slots does the same with an index of
# the shape of what it writes. `rows.seen = rows.seen + 1` gives the right numbers in a *new* tensor; the
# case file shows who is then left with the old one. On a device `each` must be made there, too:
# `device=rows.seen.device`.

# %% [markdown] id="tr2-mask-why"
# ## Exercise 2: a mask for each row
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# Each row asks from its own newest position, so each row has its own mask. In the picture above, row 2
# must not read slot 3; the other rows may.
#
# The rule is the one of the course, `0 <= newest - position < window`, and empty is -1. After a write, the
# newest position of a row is `seen - 1`. Nothing stored is later than that.
#
# Write `rows_mask(positions, seen, window)`: a tensor of True and False, (batch, slots), True where the
# newest token of the row sees the slot. Here `positions` may have **more slots than the window** (slack)
# and empty slots anywhere. A row that has seen nothing sees nothing. No number may be read on the host.
#
# | `seen` | `positions`, window 3 | the mask |
# |---|---|---|
# | 10 | 5 6 7 8 9 | . . # # # |
# | 6 | 5 -1 2 3 4 | # . . # # |
#
# When shapes differ, torch lines them up from the right, as NumPy does: (batch,) beside (batch, slots) meets
# the slots. `seen[:, None]` is (batch, 1).


# %% id="tr2-mask" role="answer"
def rows_mask(positions, seen, window):
    """(batch, slots): True where the newest token of the row sees the slot."""
    ### BEGIN SOLUTION
    distance = seen[:, None] - 1 - positions
    return (positions >= 0) & (distance >= 0) & (distance < window)
    ### END SOLUTION


# %% id="tr2-mask-check" role="check"
check("tr2-mask")
# hint("tr2-mask", 1)

# %% id="tr2-mask-graded" role="graded" points=3
# Graded, 3 points. A # is seen, a dot is not.
SEED = 0
rng = draw(SEED, "tr2-mask")
states = [([10, 6], [[5, 6, 7, 8, 9], [5, -1, 2, 3, 4]], 3), ([1, 0], [[0, -1], [-1, -1]], 2)]
states += [([4, 7, 2], [[3, 1, 2], [6, 4, 5], [0, 1, -1]], 2)]
for _ in range(3):
    slots, seen = rng.randrange(4, 7), [rng.randrange(3, 20) for _ in range(2)]
    held = [[max(range(s, n, slots), default=-1) for s in range(slots)] for n in seen]
    held[0][(seen[0] + rng.randrange(slots - 1)) % slots] = -1  # not the newest
    states.append((seen, held, rng.randrange(2, slots)))
for seen, positions, window in states:
    with Spy() as spy:
        mask = rows_mask(torch.tensor(positions), torch.tensor(seen), window)
    print(f"window {window}, {mask.dtype} {list(mask.shape)}, reads by the host: {spy.reads}")
    for count, held, row in zip(seen, positions, mask.tolist()):
        print(f"  {count} seen, {held}:", "".join("#" if see == 1 else "." for see in row))

# %% [markdown] role="hint" exercise="tr2-mask"
# Give every slot of a row its distance from the row's newest token. Which distances are seen?

# %% [markdown] role="hint" exercise="tr2-mask"
# `newest` is `seen - 1`, with a second axis, so that (batch, 1) meets (batch, slots). Subtract the positions.
# Two comparisons make the window, and a third asks whether the slot holds anything.

# %% [markdown] role="hint" exercise="tr2-mask"
# `distance = (seen - 1)[:, None] - positions` and
# `return (positions >= 0) & (distance >= 0) & (distance < window)`.

# %% [markdown] role="solution" exercise="tr2-mask"
# The mask is as large as `positions`, one number a slot, and small beside the keys. For attention it gets two
# more axes, (batch, 1, 1, slots), and serves all heads. An empty row has a mask without any True: softmax over
# nothing is NaN, so such a row has to be left out, or its output set to 0. The course's `TorchRing` does so.

# %% [markdown] id="predict05-why"
# ### Predict first
#
# *Difficulty 2 of 5 · 7 minutes · no points*
#
# Take the three rows of the picture, W = 4. **Row 1 is reset**; then each row takes one token. At which
# position does that token stand in each row, and in which slot?
#
# Then the memory: one row, 8 key/value heads of 128 numbers, two bytes a number (float16). After 102,400
# tokens, how many MiB do keys and values take in a ring of 1,024 slots, and how many in a cache that
# keeps everything? A MiB is 1,048,576 bytes.

# %% id="predict05" role="answer"
### BEGIN SOLUTION
next_positions = [10, 0, 3]
next_slots = [2, 0, 3]
ring_mib = 4
growing_mib = 400
### STUB
# next_positions = [..., ..., ...]
# next_slots = [..., ..., ...]
# ring_mib = ...
# growing_mib = ...
### END SOLUTION

# %% id="predict05-check" role="check"
check("predict05")
# hint("predict05", 1)

# %% [markdown] role="hint" exercise="predict05"
# Whose cursor does a reset of row 1 move? And what does a token cost, before you count tokens?

# %% [markdown] role="hint" exercise="predict05"
# A row that was reset begins at position 0; the others go on at their `seen`. A slot is a position modulo 4.
# A token costs 2 (a key and a value) times 8 times 128 times 2 bytes.

# %% [markdown] role="hint" exercise="predict05"
# Rows 0 and 2 write positions 10 and 3. A token costs 4,096 bytes; the ring has 1,024 of them, whatever was
# written, and the other cache 102,400.

# %% [markdown] role="solution" exercise="predict05"
# Row 0 puts position 10 into slot 2, row 1 position 0 into slot 0, row 2 position 3 into slot 3. The ring
# takes 1,024 x 4,096 bytes = 4 MiB, and did so before its first token; the growing cache takes 400 MiB.
# This is one layer and one row: a model has dozens of layers, and a server dozens of rows.

# %% [markdown] id="tr3-lengths-why"
# ## Exercise 3: padding is not a token
#
# *Difficulty 3 of 5 · 10 minutes · 3 points*
#
# Prompts have different lengths, and a tensor has one. So shorter rows are **padded**, on the right or on the
# left. Padding may hold anything, and must change nothing: it takes no slot, gets no position, and advances no
# cursor. In ml-explore/mlx-lm#439 padding was stored in a rotating cache, where it pushed real tokens out.
#
# With `seen` 10, 6, 3 and a chunk of n = 4 whose rows have 4, 1 and 2 real tokens:
#
# | row | positions, padded on the left | padded on the right | next `seen` |
# |---|---|---|---|
# | 0 | 10 11 12 13 | 10 11 12 13 | 14 |
# | 1 | -1 -1 -1 6 | 6 -1 -1 -1 | 7 |
# | 2 | -1 -1 3 4 | 3 4 -1 -1 | 5 |
#
# Write `chunk_positions(seen, lengths, n, padding)`. `seen` and `lengths` are (batch,); `padding` is
# `"left"` or `"right"`. Return two new tensors: the positions, (batch, n) with -1 for padding, and the next
# `seen`, (batch,). A length may be 0. No number may be read on the host.


# %% id="tr3-lengths" role="answer"
def chunk_positions(seen, lengths, n, padding):
    """The positions (batch, n) of a padded chunk's tokens, -1 for padding; and the next seen."""
    ### BEGIN SOLUTION
    number = torch.arange(n, device=seen.device)[None, :]
    if padding == "left":
        number = number - (n - lengths[:, None])
    real = (number >= 0) & (number < lengths[:, None])
    return torch.where(real, seen[:, None] + number, -1), seen + lengths
    ### END SOLUTION


# %% id="tr3-lengths-check" role="check"
check("tr3-lengths")
# hint("tr3-lengths", 1)

# %% id="tr3-lengths-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "tr3-lengths")
runs = [([10, 6, 3], [4, 1, 2], 4), ([7, 2], [0, 3], 5), ([0, 1], [1, 0], 1)]
for _ in range(2):
    n = rng.randrange(3, 7)
    drawn_rows = [(rng.randrange(1, 20), rng.randrange(1, n)) for _ in range(3)]
    runs.append(([seen for seen, _ in drawn_rows], [length for _, length in drawn_rows], n))
for seen, lengths, n in runs:
    print(f"{seen} seen, {lengths} real of {n}:")
    for padding in ("left", "right"):
        with Spy() as spy:
            found = chunk_positions(torch.tensor(seen), torch.tensor(lengths), n, padding)
        print(f"  {padding}: positions, next seen", plain(found), "reads by the host:", spy.reads)

# %% [markdown] role="hint" exercise="tr3-lengths"
# Number the real tokens of a row 0, 1, 2, ... In which column does number 0 stand when the padding is on the
# left?

# %% [markdown] role="hint" exercise="tr3-lengths"
# Start from the columns, `torch.arange(n)`. With padding on the left, row b begins `n - lengths[b]` columns
# later: subtract that. A column is real if its number is at least 0 and less than the row's length. A real
# token's position is its number plus the row's `seen`; elsewhere put -1, with `torch.where`.

# %% [markdown] role="hint" exercise="tr3-lengths"
# `number = torch.arange(n)[None, :]`; for left, `number = number - (n - lengths[:, None])`;
# `real = (number >= 0) & (number < lengths[:, None])`;
# `return torch.where(real, seen[:, None] + number, -1), seen + lengths`.

# %% [markdown] role="solution" exercise="tr3-lengths"
# `padding` is a Python string, and `n` a Python number: an `if` on them costs nothing, since the host knows
# them. `seen += lengths` would have changed the caller's tensor. With these positions, a mask from
# positions leaves padding out by itself, since -1 is seen by nobody. What stands in padding may still be
# NaN, and 0 times NaN is NaN: a cache must not even store it.

# %% [markdown] id="tr4-reset-why"
# ## Exercise 4: one row starts again
#
# *Difficulty 2 of 5 · 7 minutes · 3 points*
#
# When the text in row 1 ends, the next one waiting takes its place, while the other rows go on. That is
# *continuous batching*. If anything of the old text stays visible, it leaks into someone else's answer.
#
# Write `start_again(rows, done)`. `done` is (batch,), True for the rows that start again. Those become as
# new: zeros as keys and values (an old NaN, too), -1 as positions, 0 as `seen`. The other rows keep
# everything. All of it happens **in place**, in the same tensors, with no number read on the host.
#
# `x[done]` gives a copy, so `x[done].zero_()` empties the copy. `x.masked_fill_(m, 0)` writes 0 into `x`
# where `m`, lined up from the right, is True.


# %% id="tr4-reset" role="answer"
def start_again(rows, done):
    """Empty the rows where done (batch,) is True, in place."""
    ### BEGIN SOLUTION
    rows.keys.masked_fill_(done[:, None, None, None], 0)
    rows.values.masked_fill_(done[:, None, None, None], 0)
    rows.positions.masked_fill_(done[:, None], -1)
    rows.seen.masked_fill_(done, 0)
    ### END SOLUTION


# %% id="tr4-reset-check" role="check"
check("tr4-reset")
# hint("tr4-reset", 1)

# %% id="tr4-reset-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "tr4-reset")
runs = [([10, 6, 3], [False, True, False], 4), ([5, 9], [True, False], 3)]
runs += [([2, 7, 5], [True, False, True], 3)]
for _ in range(2):
    done = [True, False, False]
    rng.shuffle(done)
    runs.append(([rng.randrange(2, 15) for _ in range(3)], done, rng.randrange(2, 5)))
for seen, done, window in runs:
    rows = filled_rows(seen, rng, window, 1, 2)
    rows.values[done.index(True), 0, 0] = float("nan")
    before = [rows.keys, rows.values, rows.positions, rows.seen]
    with Spy() as spy:
        start_again(rows, torch.tensor(done))
    after = [rows.keys, rows.values, rows.positions, rows.seen]
    print(f"{seen} seen, done {done}: seen", plain(rows.seen), "positions", plain(rows.positions))
    print("  keys", plain(rows.keys), "values", plain(rows.values))
    kept = sum(old is new for old, new in zip(before, after))
    print("  reads by the host:", spy.reads, "tensors kept:", kept)

# %% [markdown] role="hint" exercise="tr4-reset"
# Four tensors, and an empty row looks different in each. How many axes must `done` have to meet each of them?

# %% [markdown] role="hint" exercise="tr4-reset"
# `done` has one axis, for rows; keys and values have four. Add axes behind: `done[:, None, None, None]`.
# Fill keys and values with 0, positions with -1 (one more axis), and `seen` with 0.

# %% [markdown] role="hint" exercise="tr4-reset"
# `rows.keys.masked_fill_(done[:, None, None, None], 0)`, the same for values,
# `rows.positions.masked_fill_(done[:, None], -1)`, `rows.seen.masked_fill_(done, 0)`.

# %% [markdown] role="solution" exercise="tr4-reset"
# `rows.keys[done] = 0` is right, too: torch turns filling by a mask into `masked_fill_`. Multiplying by 0
# is not, since 0 times NaN is NaN. And `rows.keys = torch.where(...)` makes a new tensor as large as the
# ring, while a step recorded earlier goes on using the old one. (transformers' own static caches keep their
# tensors through a reset for that reason.)

# %% [markdown] id="tr5-leak-why"
# ## Exercise 5: two sequences that must not see each other
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# Rows of a batch are isolated by the shape of the memory: a row's query meets that row's keys. But servers
# also **pack** several texts one behind the other into one row, since then nothing is padding. Now the mask
# alone keeps them apart.
#
# ![](figure:leak.png)
#
# | weight on the other text | b0 | b1 | b2 | b3 | b4 |
# |---|---|---|---|---|---|
# | place in the pack as position, no sequence test | 0.79 | 0.29 | 0.26 | 0 | 0 |
# | positions of its own text, and the sequence test | 0 | 0 | 0 | 0 | 0 |
#
# Write `packed_mask(sequence, positions, window)`: True and False, (n, n), True where token i of the pack,
# the row, sees token j, the column. `sequence` and `positions` are (n,). A token sees those of **its own
# sequence**, by the usual rule on positions: not later, and less than `window` away. `sequence` is -1 for
# padding, which sees nobody and is seen by nobody. The tokens may come in any order, also a, b, a, b. No
# number may be read on the host.


# %% id="tr5-leak" role="answer"
def packed_mask(sequence, positions, window):
    """(n, n): True where the packed token of the row sees the one of the column."""
    ### BEGIN SOLUTION
    same = (sequence[:, None] == sequence[None, :]) & (sequence[:, None] >= 0)
    distance = positions[:, None] - positions[None, :]
    return same & (distance >= 0) & (distance < window)
    ### END SOLUTION


# %% id="tr5-leak-check" role="check"
check("tr5-leak")
# hint("tr5-leak", 1)

# %% id="tr5-leak-graded" role="graded" points=3
# Graded, 3 points. A # is seen, a dot is not.
SEED = 0
rng = draw(SEED, "tr5-leak")
packs = [([0] * 4 + [1] * 3 + [-1, -1], [0, 1, 2, 3, 0, 1, 2, 0, 0], 2)]
packs += [([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2], 2), ([2, 2, 2, 5, 5], [7, 8, 9, 8, 9], 2)]
for _ in range(2):
    sequence = [3, 3, 3, 0, 0, 0, -1]
    rng.shuffle(sequence)
    starts = {-1: 0, 0: rng.randrange(5), 3: rng.randrange(5)}
    positions = [starts[s] + sequence[:i].count(s) for i, s in enumerate(sequence)]
    packs.append((sequence, positions, 2))
for sequence, positions, window in packs:
    with Spy() as spy:
        mask = packed_mask(torch.tensor(sequence), torch.tensor(positions), window)
    print(f"window {window}, {mask.dtype} {list(mask.shape)}, reads by the host: {spy.reads}")
    for name, position, row in zip(sequence, positions, mask.tolist()):
        print(f"  {name:2} at {position}:", "".join("#" if see == 1 else "." for see in row))

# %% [markdown] role="hint" exercise="tr5-leak"
# Which two tokens may meet at all? Write that as an (n, n) question first, then add the window.

# %% [markdown] role="hint" exercise="tr5-leak"
# Compare `sequence[:, None]` with `sequence[None, :]`: rows ask, columns are seen. Padding is equal to
# padding, so also ask for `sequence >= 0`. The distance is made from `positions` in the same way. Join
# everything with `&`.

# %% [markdown] role="hint" exercise="tr5-leak"
# `same = (sequence[:, None] == sequence) & (sequence >= 0)`, `distance = positions[:, None] - positions`,
# `return same & (distance >= 0) & (distance < window)`.

# %% [markdown] role="solution" exercise="tr5-leak"
# All three tests are needed. Equal positions in two texts are common, so positions alone do not tell them
# apart, and a place in the pack is no position at all. When such a chunk is stored, each text goes into a
# ring of its own: one row each. There the shape does the work again, and a reset that leaves nothing behind
# does the rest.

# %% [markdown] id="tr6-step-why"
# ## Exercise 6: the decode step
#
# *Difficulty 4 of 5 · 14 minutes · 4 points*
#
# Now one step for all rows: **write first, then attend**. Two parts are given, slow but without host reads:
# `put(rows, k, v)` writes like exercise 1, and `newest_sees(rows)` gives the mask (batch, window).
#
# Query head `h` asks key/value head `h // group`, with `group = heads // kv_heads`. Repeating the keys for each
# query head would give the right numbers and read the ring `group` times over. **Fold the queries** instead:
# neighbouring heads share a key/value head, so `q.reshape(batch, kv_heads, group, head_dim)` puts those of
# one group side by side, as the rows of one matrix product.
#
# | | shape |
# |---|---|
# | `q` folded | (batch, kv_heads, group, head_dim) |
# | keys, transposed: `keys.transpose(2, 3)` | (batch, kv_heads, head_dim, window) |
# | scores, their product (`@`) | (batch, kv_heads, group, window) |
# | weights `@` values | (batch, kv_heads, group, head_dim) |
#
# Write `decode_step(rows, q, k, v)`. `q` is (batch, heads, head_dim), `k` and `v` are (batch, kv_heads,
# head_dim); return (batch, heads, head_dim). Scores are divided by the root of `head_dim`. An empty slot
# may still hold old numbers; its score becomes `-torch.inf` before the softmax (`torch.softmax(scores,
# -1)`). Make nothing larger than the keys, and read no number on the host.


# %% id="tr6-step" role="answer"
def decode_step(rows, q, k, v):
    """Write one token a row; give what its query sees: (batch, heads, head_dim)."""
    ### BEGIN SOLUTION
    put(rows, k, v)
    batch, kv_heads, _, head_dim = rows.keys.shape
    folded = q.reshape(batch, kv_heads, -1, head_dim)
    scores = folded @ rows.keys.transpose(2, 3) / head_dim**0.5
    scores = scores.masked_fill(~newest_sees(rows)[:, None, None], -torch.inf)
    out = torch.softmax(scores, -1) @ rows.values
    return out.reshape(q.shape)
    ### END SOLUTION


# %% id="tr6-step-check" role="check"
check("tr6-step")
# hint("tr6-step", 1)

# %% id="tr6-step-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "tr6-step")
runs = [([10, 2], 4, 4, 2), ([0, 5], 3, 2, 1), ([rng.randrange(9) for _ in range(2)], 6, 6, 3)]
for seen, window, heads, kv_heads in runs:
    rows = filled_rows(seen, rng, window, kv_heads, 4)
    rows.keys[rows.positions[:, None].expand(-1, kv_heads, -1) < 0] = 1.5  # old numbers
    rows.values[rows.positions[:, None].expand(-1, kv_heads, -1) < 0] = 2.5
    print(f"window {window}, {heads} heads, {kv_heads} kv_heads, {seen} seen")
    for _ in range(2):
        q, k, v = drawn(rng, 2, heads, 4), drawn(rng, 2, kv_heads, 4), drawn(rng, 2, kv_heads, 4)
        with Spy() as spy:
            out = decode_step(rows, q, k, v)
        print("  out", plain(out), "reads by the host:", spy.reads)
        print(
            "  larger than the keys:", int(spy.largest > rows.keys.nbytes), "seen", plain(rows.seen)
        )
    print("  keys", plain(rows.keys), "values", plain(rows.values))

# %% [markdown] role="hint" exercise="tr6-step"
# What must have happened before the mask is made? And which axis of the scores counts the slots?

# %% [markdown] role="hint" exercise="tr6-step"
# 1. `put`. 2. Fold `q`. 3. Scores: the folded queries times the transposed keys, divided by the root of
# `head_dim`. 4. Give the mask two axes, `[:, None, None]`, so that (batch, 1, 1, window) meets the scores,
# and fill the scores with -inf where it is False. 5. Softmax over the last axis. 6. Weights times values.
# 7. Back to the shape of `q`.

# %% [markdown] role="hint" exercise="tr6-step"
# `scores = q.reshape(batch, kv_heads, -1, head_dim) @ rows.keys.transpose(2, 3) / head_dim**0.5`,
# `scores = scores.masked_fill(~newest_sees(rows)[:, None, None], -torch.inf)`,
# `out = torch.softmax(scores, -1) @ rows.values`, `return out.reshape(q.shape)`.

# %% [markdown] role="solution" exercise="tr6-step"
# `transpose` makes a view, so nothing as large as the ring is made (by you; `put` goes over all of it, and
# your write of exercise 1 does not). `torch.nn.functional.scaled_dot_product_attention` takes the folded
# queries, too, with the mask as `attn_mask`. Once every slot of every row is full, the mask is all True and
# can be left out; but the host may know that only by counting what it did itself, never by asking the
# device.

# %% [markdown] id="memory-why"
# ## Memory: flat against growing
#
# A growing cache joins the new token to the old ones, `torch.cat([keys, k], 2)`: a new tensor for every
# token, and for a moment both are held. The ring was allocated once.
#
# ![](figure:memory.png)
#
# These are bytes of storage that torch really held. The next cell measures them where you are (with a GPU,
# as its allocator counts them), and the time of a write beside them. Whoever runs such a server watches
# both: with a window, both stay flat. If they rise, nothing is evicted.

# %% id="memory" role="volatile"
from ringkv_edu.figures.memory_flat import memory_table

print(memory_table())

# %% [markdown] id="floor-why"
# ## The floor
#
# A decode step reads every stored key and value once, and does only a few multiplications with each number.
# So it cannot be faster than plain reading: lesson 01's read floor. The next cell times `TorchRing`, the
# course's ring, full and with 32 query heads, beside the sum of the same keys and values, which does little
# but read. A small ring lies in the CPU's own caches: there reading is fast, and the arithmetic shows.

# %% id="floor" role="volatile"
from ringkv_edu.bench.floor import floor_table

print(floor_table())

# %% id="cuda" role="volatile"
# The same ring on the CPU and on a GPU, where there is one.
from ringkv_edu.torch_ring import TorchRing

if torch.cuda.is_available():
    outs = {}
    for device in ("cpu", "cuda"):
        ring, outs[device] = TorchRing(8, batch=3, kv_heads=2, head_dim=16, device=device), []
        torch.manual_seed(0)
        for _ in range(30):
            q, k, v = torch.randn(3, 4, 1, 16), *torch.randn(2, 3, 2, 1, 16)
            outs[device].append(ring.step(*(x.to(device) for x in (q, k, v))).cpu())
    gap = (torch.stack(outs["cpu"]) - torch.stack(outs["cuda"])).abs().max().item()
    print(
        f"30 steps of 3 rows: CPU and {torch.cuda.get_device_name()} differ by at most {gap:.1e}."
    )
else:
    print("There is no CUDA device here. The same code runs on one, and this cell then compares.")

# %% [markdown] id="case05-replay-why"
# ## Case file: the cursor that froze
#
# *Difficulty 3 of 5 · 11 minutes · 2 points*
#
# A decode step is many small operations, and queueing them can take longer than doing them. A **CUDA
# graph** records them once and replays them all with a single call. A replay runs no Python: each operation
# gets **the same tensors, at the same addresses**, and each Python number is what it was while recording.
# With a ring cache, every replay then wrote into the same slot (huggingface/candle#3728; rebuilt here as a
# toy).
#
# `Recording(work)` does the same on a CPU: it runs `work()` once and notes the operations; `.replay()` runs
# them again. Below is a ring of token numbers. The caller puts a token into `ring.token` and calls `write`,
# or `replay`:
#
# ```python
# ring = TokenRing(4)
# run = Recording(ring.write)                 # writes token 0
# for token in (1, 2, 3):
#     ring.token.fill_(token)
#     run.replay()
# ring.slots                                  # should hold 0 1 2 3, and holds 3 -1 -1 -1
# ```
#
# Mend it, so that replays go on to the next slot, and begin at slot 0 after `reset()`. `ring.seen` counts
# the tokens, as a tensor of one number. `slots.index_copy_(0, slot, token)` writes `token`, (1,), into the
# slot in `slot`, (1,).


# %% id="case05-replay" role="answer"
class TokenRing:
    def __init__(self, window):
        self.window = window
        self.slots = torch.full((window,), -1)
        self.token = torch.zeros(1, dtype=torch.int64)
        ### BEGIN SOLUTION
        self.seen = torch.zeros(1, dtype=torch.int64)
        ### STUB
        # self.seen = 0
        ### END SOLUTION

    def write(self):
        """Put the token into the next slot."""
        ### BEGIN SOLUTION
        slot = self.seen % self.window
        self.slots.index_copy_(0, slot, self.token)
        self.seen += 1
        ### STUB
        # slot = self.seen % self.window
        # self.slots[slot] = self.token[0]
        # self.seen = self.seen + 1
        ### END SOLUTION

    def reset(self):
        """Start again."""
        ### BEGIN SOLUTION
        self.slots.fill_(-1)
        self.seen.zero_()
        ### STUB
        # self.slots = torch.full((self.window,), -1)
        # self.seen = 0
        ### END SOLUTION


# %% id="case05-replay-check" role="check"
check("case05-replay")
# hint("case05-replay", 1)

# %% id="case05-replay-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "case05-replay")
for window, tokens in ((4, 2), (4, 7), (rng.randrange(2, 6), rng.randrange(6, 12))):
    ring = TokenRing(window)
    run = Recording(ring.write)
    for part in ("recorded", "reset"):
        for token in (rng.randrange(1, 100) for _ in range(tokens)):
            ring.token.fill_(token)
            run.replay()
        print(
            f"window {window}, {part}, {tokens} more: slots",
            plain(ring.slots),
            "seen",
            int(ring.seen),
        )
        ring.reset()
    print("  emptied:", plain(ring.slots), int(ring.seen))

# %% [markdown] role="hint" exercise="case05-replay"
# Which numbers in `write` does the recording see as tensors, and which as Python numbers?

# %% [markdown] role="hint" exercise="case05-replay"
# Make the cursor a tensor, in `__init__`, and change it only in place: `+=` in `write`, `zero_()` in
# `reset`. The same holds for `slots`. To write at a slot that is itself a tensor, use `index_copy_`.

# %% [markdown] role="hint" exercise="case05-replay"
# `self.seen = torch.zeros(1, dtype=torch.int64)`; `self.slots.index_copy_(0, self.seen % self.window,
# self.token)`; `self.seen += 1`; in `reset`, `self.slots.fill_(-1)` and `self.seen.zero_()`.

# %% [markdown] role="solution" exercise="case05-replay"
# Three ways to freeze it: a Python number is a constant of the recording; `seen = seen + 1` puts the sum
# into a new tensor, and each replay starts from the old one; a reset that makes new tensors leaves the
# recording with tensors that nobody looks at any more. What is written in place is seen by all. A host read
# cannot be recorded at all: CUDA refuses it. (The static caches of transformers 5.24 count in a
# tensor, in place, and their source says why.)
#
# A line for your own tests: `ring = TokenRing(3); run = Recording(ring.write); [run.replay() for _ in
# range(4)]; print(ring.seen)` gives `tensor([5])`.

# %% [markdown] id="own-ring-why"
# ## Your ring in a model
#
# `MyRing` below is nothing but your functions: `write_rows` stores, `rows_mask` says what is visible,
# `start_again` resets. The course's adapter puts one into each layer of a tiny Mistral model (two layers,
# random weights, window 8), of the library that real models are run with. The model writes two rows,
# resets, and writes two more, once with the library's own cache and once with yours. (Its rows are of one
# age. That yours may differ in age, the checks have seen.)


# %% id="own-ring"
class MyRing:
    """Your functions, as a ring that a model can decode with."""

    def __init__(self, window, batch, kv_heads, head_dim, dtype, device):
        self.rows = RingRows(batch, window, kv_heads, head_dim, dtype, device)

    def append(self, k, v):
        for token in range(k.shape[2]):
            write_rows(self.rows, k[:, :, token], v[:, :, token])

    def reset(self):
        start_again(self.rows, torch.ones_like(self.rows.seen, dtype=torch.bool))

    @property
    def keys(self):
        return self.rows.keys

    @property
    def values(self):
        return self.rows.values

    @property
    def positions(self):
        rows = self.rows
        visible = rows_mask(rows.positions, rows.seen, rows.window)
        return torch.where(visible, rows.positions, -1)


# %% id="own-rows" role="scene"
# Two rows of your ring, two texts. Choose the row: none ever sees a token of the other.
texts = [
    "the first row reads this text to its end",
    "and the second row reads quite another one instead",
]
one = dict(batch=2, kv_heads=1, head_dim=2, dtype=torch.float32, device="cpu")
show(MyRing, tokens=[text.split() for text in texts], window=4, **one)

# %% id="own-model" role="volatile"
from ringkv_edu.tiny_model import side_by_side

side_by_side(MyRing)

# %% [markdown] id="end"
# ## What you have now
#
# - Cursors on the device: a step in which the host asks nothing.
# - A mask for each row, from stored positions; padding is not a token; a reset leaves nothing behind.
# - Packed texts are kept apart by the mask, rows by the memory.
# - Grouped heads by folding the queries; nothing as large as the ring is made.
# - Written in place, so that a recorded step sees it.
#
# What has left the window is lost to its layer. Lesson 06 keeps a summary of it; lesson 07 puts the ring under
# trained models. The last cell keeps your functions in `my_ringkv.py`. What is not right yet is not kept.

# %% id="save" role="volatile"
save_work(
    "write_rows",
    "rows_mask",
    "chunk_positions",
    "start_again",
    "packed_mask",
    "decode_step",
    "TokenRing",
)
