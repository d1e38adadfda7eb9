# %% [markdown] id="start"
# # 09 Beyond the ring
#
# *85 minutes. Needs NumPy. A stretch lesson.*
#
# A ring is one answer to a question: what of the past is kept, where, and how exactly? Servers and models give
# others. This lesson builds the parts that most of them share:
#
# - **pages**, so that many texts fit into one memory and may share their beginnings;
# - **fewer bits** for each number;
# - **tiers**, where what is seldom needed lies farther away;
# - **tiles**, attention that never holds a whole row of scores.
#
# At its end stands a map of the other roads. One rule holds on all of them: who sees whom is decided by
# positions, wherever the keys lie.

# %% id="setup"
from copy import deepcopy

import numpy as np
from ringkv_edu.given_beyond import Pool, drawn_block, fork, serve, start, tokens_of
from ringkv_edu.given_numpy import numbers
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work, show

# %% [markdown] id="pages-why"
# ## Pages
#
# A server does not know how long a text will become. If it reserves room for the longest, most of it stays empty.
# PagedAttention (arXiv 2309.06180) cuts memory into **pages** of a few tokens each. A text is a row of **blocks**;
# its **block table** says which page holds which block, and a page is taken when a block begins. So position `p`
# lies in block `p // b`, at place `p % b` of its page: an address in two steps, and again a slot that is not the
# position.
#
# The next cell draws 200 texts of up to 2,048 tokens, most of them short. One article computes a page size that
# grows with the longest text: that is the row of 2,048, which is no paging at all.

# %% id="fragmentation" role="scene"
from ringkv_edu.paged_serving import fragmentation

rng = draw(0, "fragmentation")
lengths = [1 + int(2047 * rng.random() ** 3) for _ in range(200)]
print("tokens a page   places taken   of these used")
for page_size in (1, 16, 128, 512, 2048):
    taken = fragmentation(lengths, longest=2048, page_size=page_size)
    print(f"{page_size:13}   {taken.paged:12,}   {fixed(100 * taken.stored / taken.paged, 0):>9} %")
print(
    f"reserved        {taken.reserved:12,}   {fixed(100 * taken.stored / taken.reserved, 0):>9} %"
)

# %% [markdown] id="by1-pages-why"
# ## Exercise 1: a window over pages
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# With a window, a page goes back to the pool when its **last** token has left. A window can begin anywhere on a
# page, so it holds more pages than W tokens fill:
#
# ![](figure:paged_window.png)
#
# | query at | sees | blocks held | goes back as it is written |
# |---|---|---|---|
# | 8 | 3 to 8 | 0 1 2 | |
# | 9 | 4 to 9 | 1 2 | 0 |
# | 12 | 7 to 12 | 1 2 3 | |
# | 13 | 8 to 13 | 2 3 | 1 |
#
# Grey tokens are held and not seen: the mask, made from positions, hides them.
#
# - `pages_needed(window, size)`: the most pages of `size` tokens that a window's tokens can lie in.
# - `leaving(table, position, window, size)`: a list of the blocks in `table` that go back when the token at
#   `position` is written. Neither its query nor a later one sees any of their tokens. `table` is a dict, block to
#   page. It may hold several such blocks: a prompt was written in one go.


# %% id="by1-pages" role="answer"
def pages_needed(window, size):
    """The most pages in which the tokens of a window can lie."""
    ### BEGIN SOLUTION
    return -(-(window - 1) // size) + 1
    ### END SOLUTION


def leaving(table, position, window, size):
    """The blocks whose pages go back when the token at `position` is written."""
    ### BEGIN SOLUTION
    oldest = position - window + 1
    return [block for block in table if block * size + size - 1 < oldest]
    ### END SOLUTION


# %% id="by1-pages-check" role="check"
check("by1-pages")
# hint("by1-pages", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="by1-pages-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "by1-pages")
sizes = [(8, 4), (6, 4), (5, 4), (1, 3), (3, 1), (rng.randrange(20, 60), rng.randrange(5, 12))]
for window, size in sizes:
    print(f"window {window}, pages of {size}: needs", plain(pages_needed(window, size)))
runs = [(6, 4, 3), (4, 4, 3), (rng.randrange(5, 9), rng.randrange(2, 5), 4)]
for window, size, blocks in runs:
    last = blocks * size
    table = {block: rng.randrange(1, 40) for block in range(blocks)}
    print(f"window {window}, pages of {size}, table {table}:")
    for position in range(last - size, last + window):
        gone = sorted(leaving(dict(table), position, window, size))
        print(f"  position {position}: back go", plain(gone))
        for block in gone if blocks > 3 else ():
            table.pop(block, None)

# %% [markdown] role="hint" exercise="by1-pages"
# Which is the oldest position that the query at `position` sees? Which is the last one of a block?

# %% [markdown] role="hint" exercise="by1-pages"
# The first page holds at least one token of the window; the other W - 1 fill as many pages as it takes, rounded
# up. A block leaves when its last position, `block * size + size - 1`, is older than `position - window + 1`.

# %% [markdown] role="hint" exercise="by1-pages"
# `-(-(window - 1) // size) + 1` rounds up. `oldest = position - window + 1`, and
# `[block for block in table if (block + 1) * size <= oldest]`.

# %% [markdown] role="solution" exercise="by1-pages"
# With W = 1,024 and pages of 16 a text holds up to 65 pages, one more than its tokens fill. A pool sized for 64
# runs out, now and then, at places that look random. A ring has no such waste, since a token takes the very slot of
# the one that leaves. What pages buy for it comes next.

# %% id="pages-scene" role="scene"
# Two texts take pages by turns; this is one of them, with W = 6 and pages of 4. Go back and on, and watch for a
# page that goes back to the pool, and where the next one lies.
from ringkv_edu.paged_ring import PagedRing

show(PagedRing, tokens=18, window=6, page_size=4, step=14)

# %% [markdown] id="by2-shared-why"
# ## Exercise 2: a page that others read
#
# *Difficulty 3 of 5 · 13 minutes · 4 points*
#
# Two requests with the same system prompt need its pages once. A **fork**, say for a second answer to one
# question, copies the table and no page. The pool counts for each page how many tables name it. Whoever writes
# onto a page that others name, copies it first: **copy on write**.
#
# | | owners of page 0, page 1, page 2 |
# |---|---|
# | `a` has written 6 tokens, pages of 4 | 1 1 0 |
# | `b = fork(pool, a)` | 2 2 0 |
# | `b` writes position 6 | 2 1 1 |
# | `a` writes position 6 | 2 1 1 |
#
# A `Pool` has `pages` (each a list of tokens, which stand for keys and values), `owners`, `size`, and `free_page()`,
# which names a page that nobody owns and changes nothing.
#
# Write `write_page(pool, table, position, token)`. A block that is not in `table` (a dict, block to page) takes a page. A
# shared page is copied, and loses an owner. A page of one's own is written on. There is always a free page.


# %% id="by2-shared" role="answer"
def write_page(pool, table, position, token):
    """Write a token through a block table; nobody else may notice."""
    ### BEGIN SOLUTION
    block, place = divmod(position, pool.size)
    page = table.get(block)
    if page is None or pool.owners[page] > 1:
        new = pool.free_page()
        pool.owners[new] = 1
        if page is not None:
            pool.pages[new] = list(pool.pages[page])
            pool.owners[page] -= 1
        table[block] = page = new
    pool.pages[page][place] = token
    ### END SOLUTION


# %% id="by2-shared-check" role="check"
check("by2-shared")
# hint("by2-shared", 1)

# %% id="by2-shared-graded" role="graded" points=4
# Graded, 4 points. Which of the free pages is taken is yours to choose.
SEED = 0
rng = draw(SEED, "by2-shared")
for size, n in ((4, 6), (2, 4), (rng.randrange(3, 6), rng.randrange(4, 8))):
    pool, tables, seen = Pool(30, size), [{}], [n]
    for position in range(n):
        write_page(pool, tables[0], position, position)
    for name in (1, 2):
        tables.append(fork(pool, tables[0]))
        seen.append(n - name % 2)
    order, moved = [1, 0, 2, 2] + [rng.randrange(3) for _ in range(5)], []
    print(f"pages of {size}, {n} tokens, two forks; then these write: {order}")
    for step, name in enumerate(order):
        before = dict(tables[name])
        write_page(pool, tables[name], seen[name], 10 * step + 100)
        seen[name] += 1
        moved.append(sum(tables[name].get(block) != page for block, page in before.items()))
    for name, table in enumerate(tables):
        print(f"  table {name} reads", plain(tokens_of(pool, table, seen[name])))
        print("    owners of its pages", plain([pool.owners[table[b]] for b in sorted(table)]))
    print("  blocks moved", plain(moved), "pages that nobody owns", pool.owners.count(0))

# %% [markdown] role="hint" exercise="by2-shared"
# Before a token is written, there are three cases. How do you tell them apart by `table` and `owners`?

# %% [markdown] role="hint" exercise="by2-shared"
# 1. `divmod(position, pool.size)` gives block and place. 2. Is the block not in the table? Take a free page; it
# has one owner. 3. Has its page more than one owner? Take a free page, put a copy of the list there, count one
# owner for it and one less for the old page, and change the table. 4. Write.

# %% [markdown] role="hint" exercise="by2-shared"
# `new = pool.free_page()`, `pool.pages[new] = list(pool.pages[page])`, `pool.owners[page] -= 1`,
# `pool.owners[new] = 1`, `table[block] = new`; at the end `pool.pages[table[block]][place] = token`.

# %% [markdown] role="solution" exercise="by2-shared"
# In the table's last line `a` writes without a copy: `b` left the page, so it is `a`'s own again. Only the half-full
# page at the end is ever copied; full ones are never written. A page whose copy was the same list in memory has been
# reported (raullenchai/Rapid-MLX#196), and so has a half-full page that a prefix cache handed to a second writer
# without a copy (Avarok-Cybersecurity/atlas#1193). A ring cannot share like this: it overwrites what others read.

# %% [markdown] id="by3-prefix-why"
# ## Exercise 3: how much of a prompt is there already?
#
# *Difficulty 3 of 5 · 12 minutes · 3 points*
#
# A server keeps pages after a request ends. A new prompt that begins alike starts from there. Only whole pages count,
# so a **hit** ends at a page's edge.
#
# A layer without a window needs every block of the hit. A sliding layer needs only what the next token sees: the
# last W - 1 tokens. What lies before may be gone. With W = 6 and pages of 4, and `held` saying which of the
# prompt's blocks are there:
#
# | `held` | no window | W = 6 |
# |---|---|---|
# | `[1, 1, 0, 1]` | 8 | 8: it needs 3 to 7 |
# | `[1, 0, 1, 1, 0]` | 4 | 16: it needs 11 to 15 |
# | `[0, 0, 0, 1]` | 0 | 0: it would need 11 |
#
# vLLM's design page on its hybrid cache manager gives this rule. It also says that taking a window's blocks round
# and round, as a ring does, was rejected there: nothing old enough to share would be left.
#
# - `prefix_hit(held, size, window)`: the longest usable hit in tokens. `window` may be `None`.
# - `hybrid_hit(everything, sliding, size, window)`: the longest hit that is usable for a model with both kinds of
#   layers, as Gemma 3 and gpt-oss have them. The lists say what each kind holds.


# %% id="by3-prefix" role="answer"
def prefix_hit(held, size, window):
    """Tokens at the start of a prompt that need not be computed again."""
    ### BEGIN SOLUTION
    for blocks in range(len(held), 0, -1):
        first = 0 if window is None else max(0, blocks * size - (window - 1)) // size
        if all(held[first:blocks]):
            return blocks * size
    return 0
    ### END SOLUTION


def hybrid_hit(everything, sliding, size, window):
    """The same for a model with layers of both kinds."""
    ### BEGIN SOLUTION
    reach = prefix_hit(everything, size, None) // size
    return prefix_hit(sliding[:reach], size, window)
    ### END SOLUTION


# %% id="by3-prefix-check" role="check"
check("by3-prefix")
# hint("by3-prefix", 1)

# %% id="by3-prefix-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "by3-prefix")
kept = [[1, 1, 0, 1], [1, 0, 1, 1, 0], [0, 0, 0, 1], [0, 1, 1, 1, 0, 1], [1, 0, 0, 0]]
kept.append([rng.choice([0, 1, 1, 1]) for _ in range(10)])
for held in kept:
    for size, windows in ((4, (None, 5, 6, 9)), (rng.randrange(2, 4), (4, rng.randrange(5, 8)))):
        hits = [prefix_hit(list(held), size, window) for window in windows]
        print(f"pages of {size}, held {held}, windows {list(windows)}:", plain(hits))
pairs = [([1, 1, 1, 0, 0], [0, 1, 1, 0, 1]), ([1, 1, 1, 0], [1, 0, 1, 1]), ([0, 1], [1, 1])]
pairs += [([1, 1, 1, 1, 0, 0], [1, 0, 0, 1, 1, 1]), ([1, 1, 1, 1], [0, 0, 1, 1])]
pairs.append(([1] * 7 + [0], [rng.choice([0, 1, 1]) for _ in range(8)]))
for everything, sliding in pairs:
    hits = [hybrid_hit(list(everything), list(sliding), 4, window) for window in (5, 6, 8)]
    print(f"no window {everything}, sliding {sliding}, windows 5, 6, 8:", plain(hits))

# %% [markdown] role="hint" exercise="by3-prefix"
# Try lengths from the longest on. For one that ends after n blocks, which is the first block that it needs?

# %% [markdown] role="hint" exercise="by3-prefix"
# A hit of m = n * size tokens needs the positions `max(0, m - (window - 1))` to `m - 1`; without a window, 0 to
# m - 1. Divide the first of them by `size`. For both kinds: first the hit of the layers without a window, then the
# sliding layers' longest one within it.

# %% [markdown] role="hint" exercise="by3-prefix"
# `first = 0 if window is None else max(0, n * size - (window - 1)) // size`; if `all(held[first:n])`, return
# `n * size`. Then `reach = prefix_hit(everything, size, None) // size` and
# `prefix_hit(sliding[:reach], size, window)`.

# %% [markdown] role="solution" exercise="by3-prefix"
# The smaller of the two hits will not do: at the place where the global layers end, the sliding ones may have
# let go of what comes right before. Every hit of a global layer can be shortened, one of a sliding layer cannot. So
# the global layers are asked first. Lesson 03's rewind asks for W tokens, not W - 1: there the last token asks again.
# The pages of each kind of layer are kept and let go by themselves. A state, as Mamba layers have it, can be shared
# only at lengths where a copy of it was put aside.
#
# A server's hit rate says how many prompt tokens were not computed again. It says nothing about a decode step: that reads
# every key that it sees, and computes every score. And RoPE does not raise it, as one article has it: a prefix
# that begins at position 0 can be reused whatever the position encoding.

# %% [markdown] id="predict09-why"
# ## Fewer bits
#
# In 8 bits a number becomes one of 256 steps, from the lowest value of its **group** to the highest:
#
# ```
# scale  = (highest - lowest) / 255
# number = round((x - lowest) / scale)        x is about lowest + scale * number
# ```
#
# What shares a scale is the question. Keys of real models have channels that stand far out, the same ones for all
# tokens (KIVI, arXiv 2402.02750).
#
# ### Predict first
#
# *Difficulty 2 of 5 · 7 minutes · no points*
#
# 64 keys have 32 channels each. 31 channels lie around 0 with a spread (standard deviation) of 1; one lies around 60
# with a spread of 20. All is held in 8 bits. We look at the error of the 31 ordinary channels.
#
# 1. `order`: with one scale for the whole `"tensor"`, for each `"token"`, or for each `"channel"`: a list of the
#    three, smallest error first;
# 2. `times`: how many times as large is the error by token as the one by channel? Nearest to 1, 14 or 250?
# 3. `at_once`: by which of the three can a key be put into 8 bits as soon as it comes?

# %% id="predict09" role="answer"
### BEGIN SOLUTION
order = ["channel", "token", "tensor"]
times = 14
at_once = "token"
### STUB
# order = ...
# times = ...
# at_once = ...
### END SOLUTION

# %% id="predict09-check" role="check"
check("predict09")
# hint("predict09", 1)

# %% [markdown] role="hint" exercise="predict09"
# The error of a number is at most half a step, and the step is the range of its group over 255. How wide is each
# group, with the outlier in it or not?

# %% [markdown] role="hint" exercise="predict09"
# A token's group reaches from about -2 to about 60, its outlier. A channel's, over 64 values of spread 1, is 4 to 5
# wide. The tensor's reaches to the largest outlier of all, about 100.

# %% [markdown] role="hint" exercise="predict09"
# 60 over 4.5 is the factor. And a range is known when the last member of the group is there.

# %% [markdown] role="solution" exercise="predict09"
# | a scale for | error of the ordinary channels |
# |---|---|
# | each channel | 0.5 % |
# | each token | 6.9 % |
# | the tensor | 11.4 % |
#
# Every token has the outlying channel, so every token's scale is stretched. But a channel's range is known only when
# the block is complete. That is why KIVI keeps the newest tokens exact until their block is full.

# %% [markdown] id="by4-int8-why"
# ## Exercise 4: keys by channel, values by token
#
# *Difficulty 3 of 5 · 12 minutes · 4 points*
#
# Values have no such channels, and each token's error should stay with that token's weight. So KIVI gives each
# channel of the keys a scale, over the tokens of a block, and each token of the values one, over its channels. Each
# head has its own.
#
# - `quantized_block(keys, values)`: both (kv_heads, tokens, head_dim). Return two triples `(numbers, scale, low)`,
#   first the keys', then the values'. `numbers` has the shape of what it holds and is `np.uint8`, rounded to the
#   nearest.
# - `restored(numbers, scale, low)`: the values again, as near as they are held. It takes your triples.
#
# If all values of a group are the same, its scale is 0. Nothing may be divided by it: check and graded cell
# make NumPy raise an error there. The group must come back exactly.


# %% id="by4-int8" role="answer"
def quantized_block(keys, values):
    """((numbers, scale, low) of the keys, by channel; the same of the values, by token)."""
    ### BEGIN SOLUTION
    held = []
    for x, along in ((keys, 1), (values, 2)):
        low = x.min(axis=along, keepdims=True)
        scale = (x.max(axis=along, keepdims=True) - low) / 255
        step = np.where(scale > 0, scale, 1)
        held.append((np.rint((x - low) / step).astype(np.uint8), scale, low))
    return tuple(held)
    ### END SOLUTION


def restored(numbers, scale, low):
    """The values, as near as they are held."""
    ### BEGIN SOLUTION
    return low + scale * numbers
    ### END SOLUTION


# %% id="by4-int8-check" role="check"
check("by4-int8")
# hint("by4-int8", 1)

# %% id="by4-int8-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "by4-int8")
for kv_heads, tokens, same in ((1, 3, False), (2, 3, False), (2, rng.randrange(3, 6), True)):
    block = [drawn_block(rng, kv_heads, tokens, 4, along) for along in (1, 2)]
    if same:
        block[0][:, :, 1], block[1][0, 2] = 0.75, -1.5
    with np.errstate(divide="raise", invalid="raise"):
        triples = quantized_block(*block)
    for name, (held, scale, low), x in zip(("keys", "values"), triples, block):
        print(f"{kv_heads} kv_heads, {tokens} tokens, {name}:", held.dtype, plain(held))
        if not same:
            print("  scale", plain(np.ravel(scale), 4), "low", plain(np.ravel(low)))
        back = restored(held, scale, low)
        print("  restored", plain(back), "off by at most", fixed(np.abs(back - x).max()))

# %% [markdown] role="hint" exercise="by4-int8"
# Along which axis do the members of a group lie: over which one are lowest and highest taken?

# %% [markdown] role="hint" exercise="by4-int8"
# For keys the axis is 1, for values 2; `keepdims=True` lets the result meet the block again. Take the lowest off,
# divide by the scale, or by 1 where that is 0, round, and make bytes of it. Back: times the scale, plus the lowest.

# %% [markdown] role="hint" exercise="by4-int8"
# `low = x.min(axis=along, keepdims=True)`, `scale = (x.max(axis=along, keepdims=True) - low) / 255`,
# `np.rint((x - low) / np.where(scale > 0, scale, 1)).astype(np.uint8)`; `low + scale * numbers`.

# %% [markdown] role="solution" exercise="by4-int8"
# A key's number is off by at most half a step of its own channel, whatever the other channels do. Scales are
# bytes, too: in fp16, with a lowest value, keys in blocks of 32 pay an eighth of a byte for each number, values with
# 128 channels a thirty-second. `ringkv_edu/quantize.py` keeps them so, and makes the rounded scale long enough
# to reach the highest value. The lowest value is why this is called *asymmetric*: no step is spent on the empty side
# of 0.
#
# What the articles print about fewer bits: for 1,024 tokens the 7B model's cache is 256 MiB in 8 bits and 128 in 4
# (64 is printed); 32 heads of 128 in fp16 brought to 8 heads of 64 in 8 bits are a sixteenth; with 6.4 to 12.8 of 32
# layers kept in fp16 the rest in 8 bits saves 30 to 40 %. A step does not read half in 8 bits, but 0.72 of what it did,
# for the 7B model at 32K tokens: weights are read, too. FP8 has an exponent in each number, so one scale for a
# whole tensor can do (`float8` in the same module). Turned keys mix the two channels of a pair, so KVQuant (arXiv
# 2401.18079) quantises them before RoPE.

# %% id="quantised-ring" role="scene"
# A ring of 128 in blocks of 32: full blocks in few bits, the newest tokens exact. One channel of the keys stands out.
from ringkv_edu.quantize import relative_error
from ringkv_edu.quantized_ring import QuantizedRing

rng = draw(0, "quantised-ring")
drawn = [rng.gauss(0, 1) for _ in range(3 * 300 * 32)]
q, k, v = np.array(drawn, np.float32).reshape(3, 1, 300, 32)
k[:, :, 5] = 6 + 2 * k[:, :, 5]
rings = {bits: QuantizedRing(128, 1, 32, block=32, bits=bits) for bits in (8, 4)}
exact = QuantizedRing(128, 1, 32, block=32, exact=True)
worst = dict.fromkeys(rings, 0.0)
for t in range(300):
    for ring in (exact, *rings.values()):
        ring.append(k[:, t], v[:, t])
    for bits, ring in rings.items():
        error = relative_error(exact.attend(q[:, t]), ring.attend(q[:, t]))
        worst[bits] = max(worst[bits], error)
print(f"float32: {exact.nbytes:6,} bytes")
for bits, ring in rings.items():
    print(
        f"{bits} bits:  {ring.nbytes:6,} bytes, output off by at most {fixed(100 * worst[bits], 1)} %"
    )

# %% [markdown] id="tiers-why"
# ## Three tiers
#
# Nothing need be forgotten if it can lie elsewhere: the newest tokens **hot** and exact on the device, older ones
# **warm** in 8 bits, the oldest **cold** on the host or a disk. The bytes do not vanish, they are moved, and the
# question becomes who reads them. One article brings 128K tokens from 48 GB to 19 GB for 11 % more time. But a
# query that sees everything reads everything: the 96K cold tokens of a 7B model are 51.5 GB, 0.8 s a token at
# 64 GB/s. The 11 % are enough to read 1.1 % of them. A cold tier pays when most of it is not read: between
# the turns of a chat, or where something chooses what to fetch.

# %% id="tiers" role="scene"
from pathlib import Path
from tempfile import TemporaryDirectory

from ringkv_edu.tiers import TieredCache

with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    tiers = TieredCache(32, 4, kv_heads=1, head_dim=32, folder=Path(folder), block=16)
    for t in range(300):
        tiers.append(k[:, t], v[:, t])
    tiers.attend(q[:, 299])
print("tier   holds    read by one query, in bytes")
for name, size in tiers.nbytes.items():
    print(f"{name:5} {size:6,}   {tiers.read[name]:6,}")
print("moved down since the start:", dict(tiers.moved))

# %% id="tiers-time" role="volatile"
# What reading a tier takes on this machine: the mean of 20 queries, in microseconds.
from ringkv_edu.tiers import TieredCache

with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    tiers = TieredCache(32, 4, kv_heads=1, head_dim=32, folder=Path(folder), block=16)
    for t in range(300):
        tiers.append(k[:, t], v[:, t])
    for _ in range(20):
        tiers.attend(q[:, 299])
print({name: round(1e6 * seconds / 20) for name, seconds in tiers.seconds.items()})

# %% [markdown] id="by5-tiles-why"
# ## Exercise 5: one more tile
#
# *Difficulty 4 of 5 · 13 minutes · 4 points*
#
# That query met cold, warm and hot keys one part after the other, and no row of scores was ever whole. A softmax
# needs the largest score and the sum of all weights. Both can be kept **running** (arXiv 1805.02867), as
# FlashAttention does (arXiv 2205.14135). For each row, a query, the state holds
#
# - `top`, (rows,): the largest score so far, at first `-inf`;
# - `total`, (rows,): the sum of `exp(score - top)` so far;
# - `out`, (rows, d): the sum of `exp(score - top)` times the values.
#
# When a tile raises `top`, the old sums were made with the old one: both are multiplied by `exp(old - new)`. After
# the last tile `out / total` is the attention. One row, two tiles of two scores:
#
# | after | `top` | `total` |
# |---|---|---|
# | start | -inf | 0 |
# | scores 1, 2 | 2 | exp(-1) + 1 = 1.368 |
# | scores 4, 3 | 4 | 1.368 exp(-2) + 1 + exp(-1) = 1.553 |
#
# Write `fold_tile(state, scores, values)`: the new `(top, total, out)`. `scores` is (rows, m), already scaled, `-inf` where
# a row does not see the key; `values` is (m, d). A row may see nothing of a tile, the first one too: then it stays
# as it was, without a NaN.


# %% id="by5-tiles" role="answer"
def fold_tile(state, scores, values):
    """Take one tile of scores and values into the state (top, total, out)."""
    ### BEGIN SOLUTION
    top, total, out = state
    new = np.maximum(top, scores.max(axis=1))
    base = np.where(np.isneginf(new), 0, new)
    kept = np.exp(top - base)
    weights = np.exp(scores - base[:, None])
    return new, total * kept + weights.sum(axis=1), out * kept[:, None] + weights @ values
    ### END SOLUTION


# %% id="by5-tiles-check" role="check"
check("by5-tiles")
# hint("by5-tiles", 1)

# %% id="by5-tiles-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "by5-tiles")
for rows, columns, more in ((1, [2, 2], 0), (3, [2, 3, 1], 0), (2, [1, 2], 900), (2, [2, 2], -900)):
    state = start(rows, 2)
    print(f"{rows} rows, tiles of {columns}, {more} added to the second tile")
    for number, m in enumerate(columns):
        scores, values = numbers(rng, rows, m) + more * (number == 1), numbers(rng, m, 2)
        if rows > 1 and not (number and more > 0):
            scores[rng.randrange(rows) if number else 0] = -np.inf
        state = fold_tile(state, scores, values)
        print("  top", plain(state[0], 1), "total", plain(state[1]), "out", plain(state[2]))

# %% [markdown] role="hint" exercise="by5-tiles"
# The new maximum comes first. Which parts of the state were made with the old one, and what turns
# `exp(score - old)` into `exp(score - new)`?

# %% [markdown] role="hint" exercise="by5-tiles"
# 1. `new`: the larger of `top` and each row's maximum. 2. `base`: the same, but 0 where it is -inf, since -inf - -inf
# is NaN. 3. The factor `exp(top - base)`, and the tile's weights `exp(scores - base)`. 4. Old sums times the factor,
# plus what the tile brings.

# %% [markdown] role="hint" exercise="by5-tiles"
# `new = np.maximum(top, scores.max(axis=1))`, `base = np.where(np.isneginf(new), 0, new)`,
# `kept = np.exp(top - base)`, `weights = np.exp(scores - base[:, None])`; `total * kept + weights.sum(axis=1)` and
# `out * kept[:, None] + weights @ values`.

# %% [markdown] role="solution" exercise="by5-tiles"
# The first tile needs no case of its own: exp(-inf) is 0, so the empty state is multiplied by 0. A fold does not
# care which tile comes first, so parts may be computed in different places and joined. It is also how lesson 06's
# joint softmax over window and summaries can be had without one long row.
#
# The row is worth avoiding: the scores of 20,000 tokens are 400 million numbers for each head of each layer, those of
# 131,072 tokens 34.4 GB in fp16 (16 is printed; that is the causal half). Five tiles of 128 x 128 in fp16 fit into 164
# KiB of a chip's own memory, but a step needs one each of queries, keys and values: one set fits. All this is about
# the prefill, where 32K tokens in place of 4K cost 64 times the scores; a decoded token's row is only 8 times as
# long.

# %% id="tiles" role="scene"
# The same fold over a whole prompt: tiles of 8 queries by 8 keys. Tiles that no query of theirs sees are skipped.
from ringkv_edu.tiled import tiled_attention

print("tokens   tiles computed: no window, W = 16   numbers held at a time")
for n in (64, 128, 256):
    x = np.ones((1, n, 2))
    whole, window = (tiled_attention(x, x, x, w, tile=(8, 8))[1] for w in (None, 16))
    print(f"{n:6}   {whole.computed:26} {window.computed:8}   {window.held:22}")

# %% [markdown] id="roads-why"
# ## The other roads
#
# Twice as many tokens: the same memory, about four times the work, and about twice with a window. So tiles save
# memory, not arithmetic, and one article's O(N) is half right. Arithmetic is saved by not looking. What each road
# keeps, for a layer of 8 key/value heads of 128 numbers in fp16, W = 1,024:
#
# ![](figure:other_roads.png)
#
# | at 32,768 tokens | MiB | exact |
# |---|---|---|
# | everything | 128 | all |
# | everything, in 4 bits | 37.1 | 32 |
# | one layer in six global | 24.7 | 1,024 |
# | window, 64 summaries | 4.25 | 1,024 |
# | kept by score | 4.06 | 1,024 |
# | window | 4.00 | 1,024 |
# | a state | 0.50 | none |
#
# `course/other_roads.md` has all thirteen, with who ships them. Two warnings from there. What is kept by score (H2O,
# SnapKV) has gaps, so **positions must travel with their keys**. And a state has no slot to empty: it **cannot be
# rewound**, only put back from a copy.

# %% [markdown] id="case09-table-why"
# ## Case file: the padding that was somebody's page
#
# *Difficulty 2 of 5 · 7 minutes · 2 points*
#
# A server gave each sliding layer as many pages as its window fills, and padded every page table **with zeros** to
# the length of the longest. The kernels looked up absolute positions. Past the window they met the padding, and page 0
# is a page: whoever owned it was overwritten, without an error. In the report's own test 110 of 144 steps past that
# place were wrong (tenstorrent/tt-metal#45193; rebuilt here as a toy).
#
# The remedy there makes a ring of the pages: a block past the last entry takes the first one again.
#
# | pages of 4, `table` `[3, 1, 0, 0]`, 2 entries | position 5 | 9 | 13 | 17 |
# |---|---|---|---|---|
# | looked up | page 1 | page 0 | page 0 | none |
# | should be | page 1 | page 3 | page 1 | page 3 |
#
# Mend `place_of(table, entries, size, position)`: the page and the place on it. `entries` says how many of the
# table's numbers are pages of this user, whose window fits on them; page 0 may be among them. Which page of these
# a block takes is up to you.
#
# The check runs `serve(place_of, table, entries, size, window, tokens)`: it writes tokens 0, 1, 2, ... and reads the
# newest token's window.


# %% id="case09-table" role="answer"
def place_of(table, entries, size, position):
    """(page, place on the page) of a position, for writing and for reading."""
    ### BEGIN SOLUTION
    block, place = divmod(position, size)
    return table[block % entries], place
    ### STUB
    # block, place = divmod(position, size)
    # return table[block], place
    ### END SOLUTION


# %% id="case09-table-check" role="check"
check("case09-table")
# hint("case09-table", 1)

# %% id="case09-table-graded" role="graded" points=2
# Graded, 2 points. Of the pages, only those of others are named.
SEED = 0
rng = draw(SEED, "case09-table")
runs = [([3, 1, 0, 0], 2, 4, 8), ([2, 0, 4, 0, 0, 0], 3, 3, 8), ([6, 0], 1, 4, 4)]
entries, size = rng.randrange(2, 5), rng.randrange(3, 6)
own = rng.sample(range(1, 30), entries)
runs.append((own + [0] * 3, entries, size, entries * size - rng.randrange(2)))
for table, entries, size, window in runs:
    print(f"pages of {size}, table {table}, {entries} entries, window {window}")
    for tokens in (entries * size, entries * size + 3, size * (len(table) + 2)):
        try:
            reads, foreign = serve(place_of, list(table), entries, size, window, tokens)
            print(f"  {tokens} tokens: reads", plain(reads), "others' pages", plain(foreign))
        except (IndexError, ValueError) as error:
            print(f"  {tokens} tokens:", type(error).__name__)

# %% [markdown] role="hint" exercise="case09-table"
# Lesson 01 wrote position p into slot `p % W`. What is the slot here, and how many are there?

# %% [markdown] role="hint" exercise="case09-table"
# The block is `position // size`. It counts on for ever; the entries do not. Bring it back among them before the
# table is asked. The place on the page is right as it is.

# %% [markdown] role="hint" exercise="case09-table"
# `return table[block % entries], place`.

# %% [markdown] role="solution" exercise="case09-table"
# A ring again, with pages for slots. It writes over single tokens, so `ceil(W / b)` pages are enough where whole pages
# that go back need one more. And it gives up what pages were for: no block of it can be shared, since its
# tokens are soon others. `position % (entries * size)` does as well. Padding with a number that is no
# page, say -1, would have raised an error in the first step that was wrong.

# %% [markdown] id="end"
# ## What you have now
#
# - A block table: a window over pages, freed when their last token leaves, and copied before a shared one is written.
# - A prefix is usable while what the next token sees of it is held, in every kind of layer.
# - Groups decide the error of few bits: keys by channel, values by token.
# - A softmax that takes its scores tile by tile.
# - A map of what others keep, and lose.
#
# Lesson 10 opens case files: real bugs, and your own test against the caches installed here. The last cell keeps
# what is right in `my_ringkv.py`.

# %% id="save" role="volatile"
save_work(
    "pages_needed", "leaving", "write_page", "prefix_hit", "hybrid_hit",
    "quantized_block", "restored", "fold_tile", "place_of",
)  # fmt: skip
