# %% [markdown] id="start"
# # 06 Prefix summaries
#
# *100 minutes. Needs NumPy. A stretch lesson: lesson 07 does without it.*
#
# What leaves the window is gone, in its own layer. (Through several layers a little travels on: lesson 07.)
# To keep nothing of it is too little, to keep everything too much.
#
# Between the two lies a **summary**: in place of many tokens that left, one key and one value, their means,
# which take part in attention as a token does. With a fixed number of summaries the memory stays fixed. Far
# text is blurred, not gone. A summary is right when three things are:
#
# - **who is in it**: every position counts once;
# - **how much it weighs**: as much as its tokens did;
# - **where it stands**: its key has a position, as every key has.
#
# One of the articles behind this course shows the idea with two demos, under the name "prefix sliding". We
# found no paper of that name, and its author says the same. The idea is older (Compressive Transformer, arXiv
# 1911.05507), and DeepSeek-V4 ships a form of it. Each demo has a bug that raises no error. Find them first.

# %% id="setup"
import numpy as np

from ringkv_edu.given_numpy import numbers
from ringkv_edu.given_rope import turned
from ringkv_edu.given_summaries import Bank, PrefixSlidingCache
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work, show

# %% id="demos" role="scene"
# Both demos, rebuilt; tokens are numbered from 1, as there. First: W = 8, a summary is due every 4 tokens.
from ringkv_edu import given_summaries

demo = given_summaries.SlidingWindowCache(window_size=8, summary_interval=4)
for token in range(1, 21):
    demo.add(token)
print("first: the length after token 9 made one leave:", demo.after_eviction[0])
print(f"  {len(demo.points)} summaries by token 20, at", *demo.points)

# Second: W = 6, and every 3 tokens a summary of what the window holds.
demo = PrefixSlidingCache(window_size=6, compress_every=3)
print("second:")
for token in range(1, 16):
    demo.add(token)
    if token in (1, 3, 7, 15):
        said = " ".join(f"{first}~{last}" for first, last in demo.summaries) or "none"
        print(f"  token {token}: window {demo.window[0]} to {token}, summaries {said}")

# %% [markdown] id="ps1-trigger-why"
# ## Exercise 1: the trigger that sticks
#
# *Difficulty 2 of 5 · 7 minutes · 2 points*
#
# | | the article | its program |
# |---|---|---|
# | length when token 9 has made one leave | 8 | 7 |
# | summaries by token 20 | one every 4 tokens | 14, one at every token from 8 on |
#
# The first demo's class is below. Its trigger goes by a number that stops growing. With W = 6 it fails the other
# way: nothing is due after token 4, ever.
#
# Mend it: `points` gets the number of tokens so far whenever that is a multiple of `summary_interval`, so 4, 8,
# 12, 16, 20. A token may be anything. `window` stays as it is, and two caches know nothing of each other.


# %% id="ps1-trigger" role="answer"
class SlidingWindowCache:
    """Keeps the newest `window_size` tokens, and notes when a summary is due."""

    def __init__(self, window_size, summary_interval):
        self.window_size = window_size
        self.summary_interval = summary_interval
        self.window = []
        self.points = []
        ### BEGIN SOLUTION
        self.seen = 0
        ### STUB
        #
        ### END SOLUTION

    def add(self, token):
        if len(self.window) == self.window_size:
            self.window.pop(0)
        self.window.append(token)
        ### BEGIN SOLUTION
        self.seen += 1
        if self.seen % self.summary_interval == 0:
            self.points.append(self.seen)
        ### STUB
        # if len(self.window) % self.summary_interval == 0:
        #     self.points.append(len(self.window))
        ### END SOLUTION


# %% id="ps1-trigger-check" role="check"
check("ps1-trigger")
# hint("ps1-trigger", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="ps1-trigger-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "ps1-trigger")
for window, interval in ((8, 4), (6, 4), (3, 5), (rng.randrange(3, 9), rng.randrange(2, 6))):
    cache, first = SlidingWindowCache(window, interval), rng.randrange(30, 90)
    for token in range(first, first + 20):
        cache.add(token)
    print(f"window {window}, every {interval}: points", plain(cache.points))
    print("  window", plain(cache.window))
a, b = SlidingWindowCache(2, 2), SlidingWindowCache(4, 3)
for word in "to be or not to be".split():
    a.add(word)
    b.add(word)
print("two caches:", plain(a.points), plain(a.window), plain(b.points), plain(b.window))

# %% [markdown] role="hint" exercise="ps1-trigger"
# How long is the window after token 8, after token 9, after token 10?

# %% [markdown] role="hint" exercise="ps1-trigger"
# Give each cache a counter that starts at 0 and that every token raises by one. Ask for a multiple of the
# interval there, after raising it, and note the counter.

# %% [markdown] role="hint" exercise="ps1-trigger"
# `self.seen = 0` in `__init__`; in `add`, `self.seen += 1`, then
# `if self.seen % self.summary_interval == 0: self.points.append(self.seen)`.

# %% [markdown] role="solution" exercise="ps1-trigger"
# A length saturates, a count of tokens does not. It is lesson 04's case file again: one number answered two
# questions that agree until the window is full. The 7 is no bug: it is measured when a token has left and the new one
# is not stored yet. Only, the article prints an 8 that its program does not.

# %% [markdown] id="ps2-twice-why"
# ## Exercise 2: who is counted twice?
#
# *Difficulty 2 of 5 · 8 minutes · 2 points*
#
# For the second demo the article prints a summary at step 1, and token 2 leaving at step 7. Its program makes the
# first at step 3, and lets token 1 go. The bug is another: summaries are meant to stand for what has left,
# but each covers the window of its moment, with tokens still there. From here on positions count from 0:
#
# ![](figure:counted.png)
#
# | positions | 0 to 8 | 9 to 11 | 12 to 14 |
# |---|---|---|---|
# | times counted | 2 | 3 | 2 |
#
# A token counted twice has twice its weight in the softmax. And the list of summaries grows for ever.
#
# Write the tool that finds this in any design: `times_counted(newest, exact, summaries)`, a list with, for each
# position from 0 to `newest`, how often it is counted. `exact` lists the positions seen exactly, in any order
# and perhaps with gaps; `summaries` lists `(first, last)`, both included.


# %% id="ps2-twice" role="answer"
def times_counted(newest, exact, summaries):
    """For each position 0 to newest: how often window and summaries count it."""
    ### BEGIN SOLUTION
    counts = []
    for position in range(newest + 1):
        by_summaries = [first <= position <= last for first, last in summaries]
        counts.append(sum(by_summaries) + (position in exact))
    return counts
    ### END SOLUTION


# %% id="ps2-twice-check" role="check"
check("ps2-twice")
# hint("ps2-twice", 1)

# %% id="ps2-twice-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "ps2-twice")
for every in (2, rng.randrange(3, 5)):
    demo, tokens = PrefixSlidingCache(2 * every, every), rng.randrange(5 * every, 7 * every)
    for position in range(tokens):
        demo.add(position)
    print(f"window {2 * every}, every {every}:", end=" ")
    print(plain(times_counted(tokens - 1, demo.window, demo.summaries)))
n = rng.randrange(9, 13)
print("sinks:", plain(times_counted(n, [0, 1, n - 1, n], [(2, 5), (6, n - 2)])))
print("a hole:", plain(times_counted(n, [n, n - 1], [(0, 3), (4, n - 4)])))
print("three:", plain(times_counted(n, [n], [(1, n), (2, n - 1), (2, 4)])))

# %% [markdown] role="hint" exercise="ps2-twice"
# For one position, how many of the summaries have it between first and last?

# %% [markdown] role="hint" exercise="ps2-twice"
# Go over the positions 0 to `newest`, that one included. Count the summaries with `first <= position <= last`, and
# add one when the position is in `exact`.

# %% [markdown] role="hint" exercise="ps2-twice"
# `[sum(a <= p <= b for a, b in summaries) + (p in exact) for p in range(newest + 1)]`

# %% [markdown] role="solution" exercise="ps2-twice"
# Anything above 1 is counted too often, and 0 is a hole. Overlap need not be a bug: DeepSeek-V4 has it by
# design, at the end of this lesson, and was trained with it. Here it came by accident, and nothing
# compensates for it.

# %% [markdown] id="ps3-law-why"
# ## The law
#
# > What a query sees exactly, and the members of the summaries that it sees, are together all positions up to its
# > own, each once. No token twice, and no hole.
#
# So a token is folded at the very step at which it leaves the window. The block being filled is a summary
# already, one that still grows: nothing waits. And a chunk gives each query what one token at a time would give it.
#
# Here W is 4, a block has 2 tokens, and three summaries have room. When all are taken, the two oldest merge:
#
# ![](figure:partition.png)
#
# | query | sees exactly | summaries |
# |---|---|---|
# | 4 | 1 to 4 | 0 |
# | 5 | 2 to 5 | 0 to 1 |
# | 9 | 6 to 9 | 0 to 1, 2 to 3, 4 to 5 |
# | 10 | 7 to 10 | 0 to 3, 4 to 5, 6 |
# | 12 | 9 to 12 | 0 to 5, 6 to 7, 8 |
#
# ## Exercise 3: everyone once
#
# *Difficulty 3 of 5 · 10 minutes · 3 points*
#
# Leave merging aside: there is always room for one more summary. The first `sinks` tokens never
# leave, and W counts without them. So a query sees a position exactly when it is a sink or less than W back. The
# others fill blocks in the order in which they leave, from the first that is no sink.
#
# Write `query_sees(query, window, sinks, block)`, which gives two lists:
#
# - the positions seen exactly, ascending;
# - the blocks, oldest first, each a list of its positions. The newest may be unfinished.
#
# `query_sees(10, 4, 0, 2)` is `[7, 8, 9, 10], [[0, 1], [2, 3], [4, 5], [6]]`.


# %% id="ps3-law" role="answer"
def query_sees(query, window, sinks, block):
    """The positions that a query sees exactly, and those of each block that it sees."""
    ### BEGIN SOLUTION
    exact = [p for p in range(query + 1) if p < sinks or query - p < window]
    left = [p for p in range(query + 1) if p not in exact]
    return exact, [left[at : at + block] for at in range(0, len(left), block)]
    ### END SOLUTION


# %% id="ps3-law-check" role="check"
check("ps3-law")
# hint("ps3-law", 1)

# %% id="ps3-law-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ps3-law")
runs = [(9, 4, 0, 2), (2, 4, 0, 2), (1, 3, 3, 2), (4, 3, 2, 2), (12, 4, 1, 3)]
runs += [(rng.randrange(14, 30), rng.randrange(2, 6), 1 + 2 * sinks, 2) for sinks in (0, 1)]
for query, window, sinks, block in runs:
    exact, blocks = query_sees(query, window, sinks, block)
    print(f"query {query}, window {window}, sinks {sinks}, blocks of {block}:", plain(exact))
    print("  blocks", plain(blocks))

# %% [markdown] role="hint" exercise="ps3-law"
# Which positions up to the query are not exact? They are one row of neighbours.

# %% [markdown] role="hint" exercise="ps3-law"
# Collect the exact ones: `p < sinks` or `query - p < window`. Collect the others in order. Cut those into pieces of
# `block`, from the start, and keep the last piece even when it is short.

# %% [markdown] role="hint" exercise="ps3-law"
# `exact = [p for p in range(query + 1) if p < sinks or query - p < window]`,
# `left = [p for p in range(query + 1) if p not in exact]`, and
# `[left[i : i + block] for i in range(0, len(left), block)]`.

# %% [markdown] role="solution" exercise="ps3-law"
# The answer builds one list and its complement, so the law holds by construction. In a ring it must hold by
# timing: the slot that a new token takes is folded before it is overwritten.

# %% [markdown] id="ps4-fold-why"
# ## Exercise 4: fold, and merge by counts
#
# *Difficulty 4 of 5 · 16 minutes · 4 points*
#
# A `Bank` has room for a fixed number of summaries. A cache needs one for keys and one for values.
#
# | field | what it holds |
# |---|---|
# | `slots`, `block` | how many summaries there may be, two or more; how many vectors a block has |
# | `means`, `counts` | lists, oldest first: each summary's mean, and of how many vectors; both empty at first |
#
# Write `fold(bank, vector)`, which takes one vector into the bank:
#
# 1. While the newest summary has fewer than `block` vectors, it grows by this one.
# 2. Otherwise a new summary begins with it.
# 3. But when all `slots` are taken, first the two oldest merge into one.
#
# No vector is kept, so every mean has to come from a mean and a count. A vector that joins n others has a weight
# of one in n + 1, and when 6 tokens merge with 2, the first mean has three times the weight of the second. A merged
# summary may have more than a block. The caller uses its `vector` again: leave it as it is, and store a copy.


# %% id="ps4-fold" role="answer"
def fold(bank, vector):
    """Take one vector into the bank: the newest summary grows, or a new one begins."""
    ### BEGIN SOLUTION
    means, counts = bank.means, bank.counts
    if counts and counts[-1] < bank.block:
        means[-1] = (counts[-1] * means[-1] + vector) / (counts[-1] + 1)
        counts[-1] += 1
        return
    if len(counts) == bank.slots:
        total = counts[0] + counts[1]
        means[:2] = [(counts[0] * means[0] + counts[1] * means[1]) / total]
        counts[:2] = [total]
    means.append(vector.copy())
    counts.append(1)
    ### END SOLUTION


# %% id="ps4-fold-check" role="check"
check("ps4-fold")
# hint("ps4-fold", 1)

# %% id="ps4-fold-graded" role="graded" points=4
# Graded, 4 points.
SEED = 0
rng = draw(SEED, "ps4-fold")
vector = np.zeros(2)  # used again for every token
for slots, block, tokens in ((3, 2, 10), (2, 1, 4), (rng.randrange(2, 5), 3, 14)):
    bank = Bank(slots, block)
    print(f"{slots} summaries, blocks of {block}")
    for _ in range(tokens):
        vector[:] = numbers(rng, 2)
        fold(bank, vector)
        print("  counts", plain(bank.counts), "means", plain(bank.means))
    print("  the last vector", plain(vector))

# %% [markdown] role="hint" exercise="ps4-fold"
# A mean times its count is the sum of its vectors. What is the sum after one more vector, and after a merge?

# %% [markdown] role="hint" exercise="ps4-fold"
# 1. Is there a newest summary, with room? Then its mean becomes (count · mean + vector) / (count + 1), its
# count goes up, and you are done. 2. Are all slots taken? Then put one summary in the place of the first two: add
# their sums, divide by both counts together. 3. Append a copy of the vector, with count 1.

# %% [markdown] role="hint" exercise="ps4-fold"
# `if counts and counts[-1] < bank.block:` grow and `return`. `if len(counts) == bank.slots:` with
# `total = counts[0] + counts[1]`, `means[:2] = [(counts[0] * means[0] + counts[1] * means[1]) / total]` and
# `counts[:2] = [total]`. Last `means.append(vector.copy())` and `counts.append(1)`.

# %% [markdown] role="solution" exercise="ps4-fold"
# Half and half would be wrong by more with each merge: the oldest summary is merged again and again, and
# its first tokens would fade by half every time. Weighted by counts, the mean of the merged is the mean of all their
# tokens, whatever was merged in which order. That is also why neighbours may merge by another rule.

# %% id="for-ever" role="scene"
# The package's ring with summaries: room for 6, blocks of 4. Two rules of merging, and the bytes.
from ringkv_edu.numpy_summaries import NumpySummaryRing

for merge in ("oldest", "least"):
    ring = NumpySummaryRing(4, kv_heads=1, head_dim=2, summaries=6, block=4, merge=merge)
    for tokens in (20, 100, 1000):
        some = np.zeros((1, tokens - ring.seen, 2), np.float32)
        ring.append(some, some)
        print(f"{merge:6} {tokens:5} tokens: counts {ring.counts.tolist()}, {ring.nbytes} bytes")
# The same ring, live: from position 28 on the two oldest summaries merge.
show(NumpySummaryRing, tokens=36, step=29, window=4, kv_heads=1, head_dim=2, summaries=6, block=4)

# %% [markdown] id="predict06-why"
# ### Predict first
#
# *Difficulty 2 of 5 · 6 minutes · no points*
#
# `oldest` leaves one summary that swallows everything; `least` merges the neighbours with the fewest tokens, so that
# none becomes very coarse. Either way a summary stands for many tokens. What does softmax give it?
#
# A query sees 16 tokens exactly and one summary of 16 more. Say all its scores are equal, the summary's, too. What
# share of the attention does the summary get? And what share when log 16 is added to its score? Write
# fractions, such as `1 / 3`.

# %% id="predict06" role="answer"
### BEGIN SOLUTION
without = 1 / 17
with_log = 1 / 2
### STUB
# without = ...
# with_log = ...
### END SOLUTION

# %% id="predict06-check" role="check"
check("predict06")
# hint("predict06", 1)

# %% [markdown] role="hint" exercise="predict06"
# How many keys does the softmax see?

# %% [markdown] role="hint" exercise="predict06"
# Seventeen keys with equal scores share evenly. A logarithm added to a score multiplies the weight: `exp(score + log n)`
# is n times `exp(score)`.

# %% [markdown] role="hint" exercise="predict06"
# Without: one of 17. With: the summary weighs 16, beside 16 tokens that weigh 1 each.

# %% [markdown] role="solution" exercise="predict06"
# Sixteen tokens with half of the attention would be left with 6 % of it. With the logarithm the summary
# gets exactly what its tokens had, as long as their scores are equal.

# %% [markdown] id="ps5-log-n-why"
# ## Exercise 5: log n
#
# *Difficulty 3 of 5 · 11 minutes · 3 points*
#
# So a summary of n tokens has the score
#
# ```python
# q @ mean_key / sqrt(d) + log(n)
# ```
#
# with the natural logarithm, added **after** scaling. Then all scores, exact and summaries', go into **one** softmax:
# a summary is weighed beside the tokens.
#
# Write `attend_summaries(q, keys, values, summary_keys, summary_values, counts)` for one head, which gives the
# output (d,):
#
# - `q` (d,); `keys` and `values` (n, d) seen exactly, at least one;
# - `summary_keys` and `summary_values` (m, d); `counts` (m,), an array of whole numbers. A count of 0 is an empty summary: its
#   score is `-inf`, whatever lies in it.
#
# Scores may be large: subtract the largest before `exp`. Change nothing that you are given.


# %% id="ps5-log-n" role="answer"
def attend_summaries(q, keys, values, summary_keys, summary_values, counts):
    """Attention over exact tokens and summaries in one softmax: (d,)."""
    ### BEGIN SOLUTION
    full = counts > 0
    scale = 1 / np.sqrt(len(q))
    exact = keys @ q * scale
    blurred = summary_keys[full] @ q * scale + np.log(counts[full])
    scores = np.concatenate([exact, blurred])
    weights = np.exp(scores - scores.max())
    return weights / weights.sum() @ np.concatenate([values, summary_values[full]])
    ### END SOLUTION


# %% id="ps5-log-n-check" role="check"
check("ps5-log-n")
# hint("ps5-log-n", 1)

# %% id="ps5-log-n-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ps5-log-n")
for counts, d in (([4, 2, 1], 2), ([16], 4), ([3, 0, 0], 2), ([0, 0], 4), ([60, 8, 3], 4)):
    m = len(counts)
    given = numbers(rng, d), *numbers(rng, 2, 3, d), *numbers(rng, 2, m, d), np.array(counts)
    print("counts", plain(counts), "output", plain(attend_summaries(*given)))
    print("  and then", plain(given[3][:, 0]))
large = np.array([1200.0, 0.0]), *np.ones((2, 1, 2)), np.eye(2), rng.randrange(2, 9) * np.eye(2)
print("large scores:", plain(attend_summaries(*large, np.array([5, rng.randrange(1, 9)]))))

# %% [markdown] role="hint" exercise="ps5-log-n"
# Compute the two groups of scores apart, the second with its logarithms. From there on it is attention over one longer
# list.

# %% [markdown] role="hint" exercise="ps5-log-n"
# 1. Leave out the summaries with a count of 0. 2. Scale both groups by `1 / sqrt(d)`. 3. Add `np.log` of the counts to the
# second. 4. Join the scores, and the values in the same order. 5. Softmax, then the weighted sum.

# %% [markdown] role="hint" exercise="ps5-log-n"
# `full = counts > 0`, `scores = np.concatenate([keys @ q * scale, summary_keys[full] @ q * scale + np.log(counts[full])])`,
# `weights = np.exp(scores - scores.max())`, and
# `weights / weights.sum() @ np.concatenate([values, summary_values[full]])`.

# %% [markdown] role="solution" exercise="ps5-log-n"
# Added before scaling, log n would be divided by `sqrt(d)`: at d = 64, sixteen tokens would weigh as much as 1.4. To
# put the mean key n times into the list gives the same output; log n says so without the copies.

# %% [markdown] id="ps6-centre-why"
# ## What stays lost
#
# The logarithm is exact when the n scores are equal. Here those of a block of 16 have a standard deviation, the spread; 16
# exact tokens score their mean. The error is how far the output is from exact attention's:
#
# ![](figure:log_n.png)
#
# | spread of the scores | 0 | 0.5 | 1 | 2 |
# |---|---|---|---|---|
# | share, exact | 0.50 | 0.53 | 0.62 | 0.84 |
# | share, log 16 added | 0.50 | 0.50 | 0.50 | 0.50 |
# | share, mean alone | 0.06 | 0.06 | 0.06 | 0.06 |
# | error, log 16 added | 0.00 | 0.19 | 0.47 | 1.21 |
# | error, mean alone | 0.43 | 0.49 | 0.71 | 1.40 |
#
# The exponential of a mean is never more than the mean of the exponentials (Jensen's inequality), so the share with
# log n is never too large. While the spread is small, the weight falls short by about half the variance of the scores. And
# one thing more is lost: *which* of the 16 matched. If one token held the answer, its value is a sixteenth of the
# mean, whatever the weight.
#
# ## Exercise 6: where a summary stands
#
# *Difficulty 3 of 5 · 10 minutes · 3 points*
#
# A ring stores keys turned to their positions (lesson 04). Averaging them as they lie keeps the bound just
# named, but pairs that turn fast point every way and cancel. The other way keeps them:
#
# 1. turn each key back from its position;
# 2. take the mean;
# 3. turn the mean to the **centre** of the block, the mean of its positions. For 4 to 7 that is 5.5. No token stands
#    there, and an angle does not mind.
#
# Write `block_key(keys, positions)`: `keys` (n, d) as the ring holds them, `positions` (n,) an array of
# neighbours, ascending. Give one key (d,). `turned(x, p)` takes one position or one for each row, negative ones and
# fractions, too.


# %% id="ps6-centre" role="answer"
def block_key(keys, positions):
    """The mean of a block's keys, turned to the block's centre."""
    ### BEGIN SOLUTION
    unturned = turned(keys, -positions)
    return turned(unturned.mean(axis=0), positions.mean())
    ### END SOLUTION


# %% id="ps6-centre-check" role="check"
check("ps6-centre")
# hint("ps6-centre", 1)

# %% id="ps6-centre-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "ps6-centre")
for n, d in ((1, 2), (2, 2), (4, 4), (5, 4), (8, 6)):
    positions = np.arange(n) + rng.randrange(3, 60)
    keys = turned(numbers(rng, n, d), positions)
    print(f"positions {positions[0]} to {positions[-1]}:", plain(block_key(keys, positions)))
    print("  and then", plain(keys[0]))

# %% [markdown] role="hint" exercise="ps6-centre"
# To turn back is to turn by the negative position.

# %% [markdown] role="hint" exercise="ps6-centre"
# `turned(keys, -positions)` has all keys as they were before turning. Average over axis 0, then turn the one vector to
# the mean of the positions, without rounding.

# %% [markdown] role="hint" exercise="ps6-centre"
# `return turned(turned(keys, -positions).mean(axis=0), positions.mean())`

# %% [markdown] role="solution" exercise="ps6-centre"
# The newest position would make every block seem half a block nearer, and position 0 would put all blocks at the start
# of the text. After a merge the centre is again the mean of all members' positions: neighbours merge, so it is
# halfway between the first and the last.

# %% id="four-places" role="scene"
# Eight keys that are much alike, 8 to 200 places back; 1,000 draws. What does their summary weigh?
from ringkv_edu.figures.centre_table import centre_table

print(centre_table())

# %% [markdown] id="rewind"
# For keys that nobody trained, averaging as stored comes nearest, and is never too much. The centre errs both ways, the
# newest position by more, position 0 by far the most. What suits a trained model has to be measured.
#
# ## Taking tokens back
#
# A mean cannot be taken apart. So with **slack**, a token that has left the window stays in the ring a while longer,
# and is folded for good only when it leaves the ring. Until then each query sees it in a summary made for that query
# alone. So up to `slack` tokens can be taken back:

# %% id="taking-back" role="scene"
from ringkv_edu.numpy_summaries import NumpySummaryRing, RewindError

ring = NumpySummaryRing(4, kv_heads=1, head_dim=2, summaries=3, block=2, slack=2)
some = np.zeros((1, 12, 2), np.float32)
ring.append(some, some)
for n in (2, 1):
    held = sorted(ring.positions.tolist())
    print(f"{ring.seen} tokens, in the ring {held}, folded {ring.counts.sum()}: take back {n}")
    try:
        ring.rewind(n)
    except RewindError as refused:
        print("  refused:", refused)

# %% [markdown] id="recall-why"
# ## Is it worth it?
#
# A small model, trained with each way to keep the past: four facts early in a text of 64 tokens, eight questions at its
# end, no fact in any question's window of 16. *Learned* summaries weigh their tokens by a softmax and merge by its
# denominators, not counts. *State* folds what leaves into one matrix a head. *Recompute* keeps token ids, and makes
# keys anew on demand: few bytes, much work. A model never trained with summaries is another matter: lesson 07.
#
# ![](figure:recall.png)

# %% id="recall" role="volatile"
from ringkv_edu.figures.recall_table import recall_table

print(recall_table())

# %% [markdown] id="ps7-sink-why"
# ## Exercise 7: a learned sink
#
# *Difficulty 3 of 5 · 9 minutes · 2 points*
#
# Softmax weights add up to 1, even when no key matches. A **learned sink** is a way out: one more score, a number that
# training sets for each head. It takes part in the softmax and has no value, so what it takes is given to nobody. gpt-oss and
# DeepSeek-V4 have one.
#
# | scores | weights | output |
# |---|---|---|
# | 0, 0 | 1/2, 1/2 | (v0 + v1) / 2 |
# | 0, 0 and a sink of 0 | 1/3, 1/3, 1/3 | (v0 + v1) / 3 |
#
# Write `attend_sink(q, keys, values, sink)`: the output (d,) for `q` (d,) over `keys` and `values` (n, d). The sink is a
# score already: no scaling. Large scores must not overflow. With n = 0 the sink takes all, and the output is zeros.


# %% id="ps7-sink" role="answer"
def attend_sink(q, keys, values, sink):
    """Attention of one query, with a sink that takes part and gives no value: (d,)."""
    ### BEGIN SOLUTION
    scores = np.append(keys @ q / np.sqrt(len(q)), sink)
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    return weights[:-1] @ values
    ### END SOLUTION


# %% id="ps7-sink-check" role="check"
check("ps7-sink")
# hint("ps7-sink", 1)

# %% id="ps7-sink-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "ps7-sink")
for n, d, sink in ((2, 2, 0.0), (3, 4, 1.5), (4, 4, rng.randrange(-9, -2) / 4), (0, 2, 0.5)):
    q, (keys, values) = numbers(rng, d), numbers(rng, 2, n, d)
    print(f"{n} keys, sink {fixed(sink, 2)}: output", plain(attend_sink(q, keys, values, sink)))
q, values = np.array([1200.0 + rng.randrange(9), 0.0]), numbers(rng, 2, 2)
sink = q[0] / np.sqrt(2) - 0.5
print("large scores:", plain(attend_sink(q, np.eye(2), values, sink)))

# %% [markdown] role="hint" exercise="ps7-sink"
# Treat the sink as one more score. Where does it stop being like the others?

# %% [markdown] role="hint" exercise="ps7-sink"
# Append the sink to the scaled scores. Take the softmax of all of them. Then drop the sink's weight, without dividing again,
# and multiply the rest with the values.

# %% [markdown] role="hint" exercise="ps7-sink"
# `scores = np.append(keys @ q / np.sqrt(len(q)), sink)`, `weights = np.exp(scores - scores.max())`,
# `return weights[:-1] @ values / weights.sum()`.

# %% [markdown] role="solution" exercise="ps7-sink"
# To divide again after dropping it would undo it. Attention sinks (lesson 07) do the same job with real tokens,
# whose values a model learns to make small.

# %% [markdown] id="shipped-why"
# ## The shipped form
#
# In the transformers library, DeepSeek-V4's heavily compressed layers keep a raw window of 128 tokens and, for each closed
# block of 128, one entry: a sum of its tokens, weighed by a softmax over learned scores, turned to the block's *first* position.
# An entry is seen as soon as its block closes, while its tokens are still in the window. So tokens count twice, and the model
# was trained so. There is no hole, since the open block is never longer than the window. There is no log n: training makes
# up for it. And memory grows, by one entry for 128 tokens. A toy, on your `attend_sink`:


# %% id="shipped" role="scene"
# Key and value are one vector, as there. The weights are drawn, not trained: this shows the parts.
class ShippedLayer:
    """A raw window, one entry for each closed block, and a learned sink."""

    def __init__(self, window, block, d, rng):
        self.window, self.block = window, block
        self.gate = numbers(rng, d)  # learned: what in a token matters
        self.place = numbers(rng, block)  # learned: which place in a block matters
        self.sink = 0.5  # learned: takes what matches nothing
        self.raw, self.entries, self.open = [], [], []

    def pool(self, tokens):
        scores = tokens @ self.gate + self.place
        shares = np.exp(scores - scores.max())
        return shares / shares.sum() @ tokens

    def step(self, q, kv):
        self.raw = [*self.raw, kv][-self.window :]
        self.open = [*self.open, kv]
        if len(self.open) == self.block:  # it is closed: one entry, for ever
            self.entries.append(self.pool(np.array(self.open)))
            self.open = []
        seen = np.array([*self.raw, *self.entries])
        return attend_sink(q, seen, seen, self.sink)


rng = draw(0, "shipped")
layer = ShippedLayer(window=4, block=4, d=2, rng=rng)
for position in range(18):
    out = layer.step(numbers(rng, 2), numbers(rng, 2))
    if position % 4 == 1:
        raw, entries = len(layer.raw), len(layer.entries)
        exact = range(position + 1 - raw, position + 1)
        spans = [(4 * i, 4 * i + 3) for i in range(entries)]
        counts = [(p in exact) + sum(a <= p <= b for a, b in spans) for p in range(position + 1)]
        print(f"{position + 1:2} tokens: {raw} raw, {entries} entries; counted", *counts)
print("the last output:", plain(out))

# %% [markdown] id="case06-freeze-why"
# ## Case file: the mean that stopped
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# Somebody plotted the means of a float16 array of 5,000 rows, and the line was flat; in float64 it moved
# (numpy/numpy#7933). NumPy has mended its own mean since. A cache in float16 that keeps a *running* mean can
# still be hit. This toy of ours got 1,500 keys of 1 and then 4,500 of 1.5. It should read 1.375, and reads 1.
#
# float16 has 11 binary digits. From 1 to 2 its numbers lie 0.00098 apart, and a step of less than half that is rounded away:
# the 1,501st key should move the mean by 0.5 / 1501. Counts are hit, too: in float16, 2048 + 1 is 2048.
#
# Mend `Summary`. Keys come in as float16 arrays (head_dim,), and `read()` gives one, zeros before the first key. It must stay right
# after thousands of keys, and keep only a few numbers, not the keys.


# %% id="case06-freeze" role="answer"
class Summary:
    """The running mean of the keys that were added."""

    def __init__(self, head_dim):
        ### BEGIN SOLUTION
        self.mean = np.zeros(head_dim, np.float32)
        self.count = 0
        ### STUB
        # self.mean = np.zeros(head_dim, np.float16)
        # self.count = np.float16(0)
        ### END SOLUTION

    def add(self, key):
        ### BEGIN SOLUTION
        self.count += 1
        ### STUB
        # self.count = self.count + np.float16(1)
        ### END SOLUTION
        self.mean = self.mean + (key - self.mean) / self.count

    def read(self):
        return self.mean.astype(np.float16)


# %% id="case06-freeze-check" role="check"
check("case06-freeze")
# hint("case06-freeze", 1)

# %% id="case06-freeze-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "case06-freeze")
later = rng.choice([2.0, 3.0, -1.0])
for parts in ([], [(3, 1.0), (1, 3.0)], [(1500, 1.0), (4500, 1.5)], [(2048, 0.5), (2048, later)]):
    summary = Summary(2)
    for n, number in parts:
        key = np.array([number, -2 * number], np.float16)
        for _ in range(n):
            summary.add(key)
    mean = summary.read()
    kept = sum(np.size(x) for x in vars(summary).values())
    print(f"{plain(parts)}: {plain(mean)} in {mean.dtype}, numbers over 16: {max(0, kept - 16)}")

# %% [markdown] role="hint" exercise="case06-freeze"
# Which of the two fields must stay in float16? Only what comes in and what goes out has to be.

# %% [markdown] role="hint" exercise="case06-freeze"
# Keep the mean in float32 and the count as a Python whole number. `read` rounds already.

# %% [markdown] role="hint" exercise="case06-freeze"
# `self.mean = np.zeros(head_dim, np.float32)`, `self.count = 0`, and `self.count += 1`.

# %% [markdown] role="solution" exercise="case06-freeze"
# float32 has 24 binary digits: a mean of millions of tokens still moves. Means, counts and centres of the course's rings are at
# least float32, whatever the keys are. That costs four bytes more for each number of a few summaries.

# %% [markdown] id="end"
# ## What you have now
#
# - A trigger goes by a count that never stops; `times_counted` shows what a design counts twice or not at all.
# - The law: exact positions and summaries share out the past, each position once.
# - Means merge by counts, get log n added to their score, stand somewhere, and are kept in float32.
# - What differed inside a block is lost, and no weight brings it back.
#
# The last cell keeps what is right in `my_ringkv.py`. Lesson 07 puts rings into a model.

# %% id="save" role="volatile"
save_work(
    "times_counted",
    "query_sees",
    "fold",
    "attend_summaries",
    "block_key",
    "attend_sink",
    "Summary",
)
