# %% [markdown] id="start"
# # 04 Positions and RoPE
#
# *85 minutes. Needs NumPy; torch comes in with lesson 05.*
#
# Attention as lesson 01 built it does not know where a token stood: it weighs values by how well keys
# match, and a sum has no order. A language model has to tell "dog bites man" from "man bites dog".
#
# **RoPE** (rotary position embedding, arXiv 2104.09864) puts the order into the scores. It turns every
# query and every key by an angle that grows with the token's position. The score of a turned query and a
# turned key then depends on how far back the key lies. Llama, Mistral and Gemma work so.
#
# In a ring, that is where things go wrong, because three numbers belong to each stored token:
#
# - its **slot**: where it lies in memory;
# - its **position**: where it stands in the text;
# - its **rank**: how many of the stored tokens are older. The oldest one stored has rank 0.
#
# A ring with W = 4 after ten tokens:
#
# | slot | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | position | 8 | 9 | 6 | 7 |
# | rank | 2 | 3 | 0 | 1 |
#
# The angle belongs to the position. Take another row, and nothing raises an error; the text only gets
# worse.

# %% [markdown] id="given"
# `turned`, below, is a rotation that works. Exercises 2 to 5 start from it; exercise 1 builds
# your own.

# %% id="setup"
import numpy as np

from ringkv_edu.given_numpy import RingArrays, filled_arrays, numbers
from ringkv_edu.given_rope import turned
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work, show

# %% [markdown] id="rope1-turn-why"
# ## Exercise 1: turn a vector
#
# *Difficulty 3 of 5 · 12 minutes · 3 points*
#
# To turn a pair of numbers `(a, b)` by an angle `t`, in radians:
#
# ```python
# (a * cos(t) - b * sin(t), b * cos(t) + a * sin(t))
# ```
#
# At d = 2 there is one pair, and its angle is the position: `[1, 0]` at position 1 becomes
# `[0.540, 0.841]`.
#
# A longer vector, of length `d` (a model's `head_dim`), is taken as `d/2` pairs, and each has its own speed.
# Pair `i` (from 0) is **`x[i]` with `x[i + d/2]`**, and its angle is `position * base ** (-2 * i / d)`. The
# `base` is a constant of the model, often 10,000. The first pair turns fastest and tells neighbours apart;
# the later ones turn ever slower and tell what is far away.
#
# With d = 4, base 100 and position 2, `[1, 2, 3, 4]` has two pairs:
#
# | pair | numbers | angle | turned |
# |---|---|---|---|
# | 0 | 1 and 3 | 2 · 100^0 = 2 | -3.144 and -0.339 |
# | 1 | 2 and 4 | 2 · 100^(-1/2) = 0.2 | 1.165 and 4.318 |
#
# so the result is `[-3.144, 1.165, -0.339, 4.318]`: each number goes back to its own place.
#
# Which two numbers make a pair is a convention of the trained weights. The paper pairs neighbours; Llama
# weights in the transformers library pair the two halves. Either is RoPE. This lesson pretends to hold such
# Llama weights, so it pairs halves.
#
# Write `rotate(x, position, base=10000.0)` for one vector `x`, an array of even length. Give a new vector,
# with decimals also where `x` holds whole numbers, as above.

# %% id="rope1-turn" role="answer"
import numpy as np


def rotate(x, position, base=10000.0):
    """Turn one vector to its position; pair i is x[i] with x[i + d/2]."""
    ### BEGIN SOLUTION
    half = len(x) // 2
    angle = position * base ** (-2 * np.arange(half) / len(x))
    first, second = x[:half], x[half:]
    turned_first = first * np.cos(angle) - second * np.sin(angle)
    turned_second = second * np.cos(angle) + first * np.sin(angle)
    return np.concatenate([turned_first, turned_second])
    ### END SOLUTION


# %% id="rope1-turn-check" role="check"
check("rope1-turn")
# hint("rope1-turn", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="rope1-turn-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "rope1-turn")
whole = np.array([1, 2, 3, rng.randrange(4, 10)])
drawn = [(numbers(rng, d), base) for d, base in ((2, 10000), (4, 10000), (6, 500))]
for x, base in (*drawn, (numbers(rng, 8), rng.choice([100, 2000])), (whole, 100)):
    print(f"x {plain(x)}, base {base}")
    for position in (0, rng.randrange(1, 9), rng.randrange(9, 400)):
        print(f"  at position {position}:", plain(rotate(x, position, float(base))))

# %% [markdown] role="hint" exercise="rope1-turn"
# Do it for d = 2 first: there is one angle, and it is the position. Then ask for d = 4 which two numbers
# turn together, and by how much less the second pair turns.

# %% [markdown] role="hint" exercise="rope1-turn"
# 1. `half` is half the length. 2. Make all the angles at once: an array over i = 0 ... half - 1. 3. Take
# the first half of `x` as all the a's and the second half as all the b's. 4. Compute both new halves from
# the old ones, and only then put them together.

# %% [markdown] role="hint" exercise="rope1-turn"
# `angle = position * base ** (-2 * np.arange(half) / len(x))`, `a, b = x[:half], x[half:]`, and
# `np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)])`.

# %% [markdown] role="solution" exercise="rope1-turn"
# Turning changes no length, so a turned key is as strong as before; only the angle between two
# vectors differs. The pairing matters as soon as weights are trained: a model whose weights expect halves
# gets noise from neighbours, with no error. Converters from one form to the other therefore permute
# the rows of the query and key weights.

# %% id="same-distance" role="scene"
# The same q and k at several places in a text. What do equal scores have in common?
q, k = np.array([1.0, 0.5, -0.5, 2.0]), np.array([0.5, 1.0, 1.5, 1.0])
for n, m in ((5, 3), (12, 10), (1002, 1000), (5, 0), (1005, 1000)):
    score_there = turned(q, n) @ turned(k, m)
    print(f"query at {n:4}, key at {m:4}: {n - m} apart, score {fixed(score_there)}")

# %% [markdown] id="rope2-relative-why"
# ## Exercise 2: one turn is enough
#
# *Difficulty 2 of 5 · 6 minutes · 2 points*
#
# Draw one pair of a query and of a key as hands of a clock. These two point the same way, so at position 0
# both lie on the dotted line. At another place in the text both hands are turned further, by the same angle, and
# the angle between them stays.
#
# ![](figure:clock.png)
#
# | positions | angle of the key | angle of the query | between them |
# |---|---|---|---|
# | key 3, query 5 | 3 | 5 | 2 |
# | key 20, query 22 | 20 | 22 | 2 |
#
# Turning both vectors by the same angle changes no dot product. So one turn is enough. In symbols, with `turn_n`
# for turning by n places: `turn_n(q) . turn_m(k) = turn_(n-m)(q) . k`, where n is the query's position and m the
# key's.
#
# Write `score(q, k, query_position, key_position)`: the plain dot product, not scaled, of the two vectors
# turned to their positions. Do it with **one** call of `turned(x, position)`, which takes negative positions,
# too. (The check sees only the number, and two turns give the same one.) A key may also come after the query.


# %% id="rope2-relative" role="answer"
def score(q, k, query_position, key_position):
    """The dot product of q and k turned to their positions, with one turn."""
    ### BEGIN SOLUTION
    return turned(q, query_position - key_position) @ k
    ### END SOLUTION


# %% id="rope2-relative-check" role="check"
check("rope2-relative")
# hint("rope2-relative", 1)

# %% id="rope2-relative-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "rope2-relative")
far = rng.randrange(100, 1000)
for n, m in ((0, 0), (7, 3), (far + 4, far), (far, far - 6), (2, 9), (far, far + 3)):
    q, k = numbers(rng, 4), numbers(rng, 4)
    print(f"query at {n}, key at {m}: {fixed(score(q, k, n, m))} of {plain(q)} and {plain(k)}")

# %% [markdown] role="hint" exercise="rope2-relative"
# Take the key's position off both positions: the key is then at 0, where nothing is turned. Where is the query?

# %% [markdown] role="hint" exercise="rope2-relative"
# Leave the key as it is and turn the query by how far the key lies behind it. Or leave the query and turn
# the key: then by how much, and which way?

# %% [markdown] role="hint" exercise="rope2-relative"
# `return turned(q, query_position - key_position) @ k`

# %% [markdown] role="solution" exercise="rope2-relative"
# Turning both back by the key's position leaves the key unturned and the query at the distance. So any
# origin may be subtracted, as long as it is the *same* one for query and key. That is the licence
# behind every trick with positions, and the trap: a slot is not a position less a constant. Papers write the
# turn by n places as a matrix `R_n`; its transpose `R_n^T` turns back, so `R_m R_n^T = R_(m-n)`.

# %% [markdown] id="predict04-why"
# ### Predict first
#
# *Difficulty 2 of 5 · 6 minutes · no points*
#
# Someone turns each key to its **slot**, and each query to the slot of its own token, in a ring of W = 6.
# Tokens are 0, 1, 2, ... Which token is the first to get wrong scores? And which is the next one, after that,
# whose scores are right again?

# %% id="predict04" role="answer"
### BEGIN SOLUTION
first_wrong = 6
right_again = 11
### STUB
# first_wrong = ...
# right_again = ...
### END SOLUTION

# %% id="predict04-check" role="check"
check("predict04")
# hint("predict04", 1)

# %% [markdown] role="hint" exercise="predict04"
# While token t lies in slot t, nothing can be wrong. Up to which token is that so?

# %% [markdown] role="hint" exercise="predict04"
# After that, write down the six slots for each newest token. Scores are right when every slot differs from
# its position by the same number.

# %% [markdown] role="hint" exercise="predict04"
# The first wrap is at token W. It comes right when the six stored tokens lie in slots 0 to 5 in order: when
# the newest one lies in slot 5.

# %% [markdown] role="solution" exercise="predict04"
# Token 6 goes to slot 0, and the keys in slots 1 to 5 seem to lie in its future. When token 11 lies in
# slot 5, positions 6 to 11 lie in slots 0 to 5: each is its slot plus 6, the same for query and keys, so
# the differences are right.

# %% id="predict04-run" role="scene"
# The same ring after five tokens, each turned to its slot. Before each step choose the slots that will stand at a
# wrong distance from the newest token, or none, then answer.
show("ring", tokens=14, window=6, step=5, angle="slot", predict="wrong")

# %% [markdown] id="slot-error"
# ## Right by luck
#
# The same mistake with W = 8 and random queries and keys, computed for 40 tokens:
#
# ![](figure:slot_error.png)
#
# | newest token | 7 | 8 | 10 | 14 | **15** | 16 | 22 | **23** | 24 |
# |---|---|---|---|---|---|---|---|---|---|
# | largest error | 0 | 2.21 | 2.33 | 0.42 | **0** | 1.63 | 0.36 | **0** | 2.46 |
#
# A test of 8, 16 or 24 tokens that looks at its last one passes. Test at other lengths.

# %% [markdown] id="rope3-read-why"
# ## Exercise 3: turn at reading
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# One way to be right: store keys **unrotated**, and turn them when they are read. The stored
# positions say by how much.
#
# Write `scores(q, keys, positions)` for one head:
#
# - `q` (d,) is unrotated and belongs to the newest token stored;
# - `keys` (slots, d) are unrotated, in slot order;
# - `positions` (slots,), an array, says which position each slot holds, -1 where it is empty. At least one is
#   filled. There may be gaps, from *sinks*, first tokens that are never overwritten (lesson 07 says why), or
#   because somebody emptied a slot. What lies in an empty slot may be anything.
#
# Give one score for each slot, in slot order: the dot product of the two turned vectors times
# `1 / sqrt(d)`; in an empty slot `-inf`, which softmax turns into the weight 0. All stored tokens are visible.
# Leave `q`, `keys` and `positions` as they are.

# %% id="rope3-read" role="answer"
import numpy as np

from ringkv_edu.given_rope import turned  # one position for all of x, or one for each row


def scores(q, keys, positions):
    """The score of the newest token's query in each slot; -inf where it is empty."""
    ### BEGIN SOLUTION
    query = turned(q, positions.max())
    found = turned(keys, positions) @ query / np.sqrt(len(q))
    return np.where(positions >= 0, found, -np.inf)
    ### END SOLUTION


# %% id="rope3-read-check" role="check"
check("rope3-read")
# hint("rope3-read", 1)

# %% id="rope3-read-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "rope3-read")
first = rng.randrange(10, 60)
for held in (
    [0, 1, -1, -1],
    [first + 4, first + 5, first + 2, first + 3],
    [0, 1, first + 3, first + 1, first + 2],
    [-1, first, -1, first - 2],
):
    q, keys, positions = numbers(rng, 4), numbers(rng, len(held), 4), np.array(held)
    print(f"positions {held}: scores", plain(scores(q, keys, positions)))
    print("  and then", plain(positions), "keys", plain(keys[:, 0]), "q", plain(q))

# %% [markdown] role="hint" exercise="rope3-read"
# Which position does the query have? It is the newest token stored, and you have all the positions.

# %% [markdown] role="hint" exercise="rope3-read"
# Turn `q` to the largest stored position. Turn the key of each slot to the position which that slot holds.
# Take the dot products, scale them, and put `-inf` wherever the position is negative.

# %% [markdown] role="hint" exercise="rope3-read"
# `found = turned(keys, positions) @ turned(q, positions.max()) / np.sqrt(len(q))`, then
# `return np.where(positions >= 0, found, -np.inf)`.

# %% [markdown] role="solution" exercise="rope3-read"
# No slot number enters. Exercise 2 offers a cheaper way, one turn of the query for each key's distance, but
# either way a step turns W vectors. The next exercise needs one.

# %% [markdown] id="rope4-write-why"
# ## Exercise 4: turn once, at writing
#
# *Difficulty 3 of 5 · 12 minutes · 3 points*
#
# An article behind this course says that the angle has to be computed again at every read. That is too
# strong: a token's position never changes. So a key that is turned **once**, to its true position, when it
# is written, is right for as long as it is stored. Instead of W keys, a step turns one.
#
# | token, W = 4 | slot | its key is stored | and read as it lies until |
# |---|---|---|---|
# | 6 | 2 | turned to 6 | token 10 takes the slot |
# | 10 | 2 | turned to 10 | token 14 takes the slot |
#
# The value is stored as it is: in a Llama-style model `v` carries no position.
#
# Write two functions for a `RingArrays` without sinks. It has
#
# - `keys` and `values` (kv_heads, slots, head_dim);
# - `positions` (slots,); `seen`, the tokens so far; `window`.
#
# `write(ring, k, v)` stores the next token, position `ring.seen`, in slot `ring.seen % ring.window`, and brings
# `positions` and `seen` up to date.
#
# `read(ring, q)` comes after that and changes nothing. `q` is the query of the token now newest, unrotated, one
# vector for each head. Give the scores as in exercise 3, but (kv_heads, slots), and for keys that were turned
# when written.
#
# `k`, `v` and `q` are (kv_heads, head_dim); leave them as they are. `turned(k, position)` turns all heads to one
# position.


# %% id="rope4-write" role="answer"
def write(ring, k, v):
    """Store one token: its key turned to its position, its value as it is."""
    ### BEGIN SOLUTION
    slot = ring.seen % ring.window
    ring.keys[:, slot] = turned(k, ring.seen)
    ring.values[:, slot] = v
    ring.positions[slot] = ring.seen
    ring.seen += 1
    ### END SOLUTION


def read(ring, q):
    """The newest token's scores, (kv_heads, slots); -inf where a slot is empty."""
    ### BEGIN SOLUTION
    query = turned(q, ring.seen - 1)
    found = (ring.keys * query[:, None]).sum(axis=2) / np.sqrt(q.shape[1])
    return np.where(ring.positions >= 0, found, -np.inf)
    ### END SOLUTION


# %% id="rope4-write-check" role="check"
check("rope4-write")
# hint("rope4-write", 1)

# %% id="rope4-write-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "rope4-write")
for window, heads, d in ((4, 1, 2), (rng.randrange(2, 5), 2, 4), (3, 2, 2)):
    tokens = window * rng.randrange(2, 5) + rng.randrange(1, window)
    ring = RingArrays(window, heads, d)
    for _ in range(tokens):
        k, v = numbers(rng, heads, d), numbers(rng, heads, d)
        write(ring, k, v)
    print(f"window {window}, {tokens} tokens: seen {ring.seen}, positions", plain(ring.positions))
    print("  the last k", plain(k), "and v", plain(v))
    for slot in range(window):
        print(
            f"  slot {slot}: key", plain(ring.keys[:, slot]), "value", plain(ring.values[:, slot])
        )
for tokens in (2, 3 * rng.randrange(2, 5) + rng.randrange(1, 3)):  # rings written for you
    ring, q = filled_arrays(tokens, rng, 3, 2, 4), numbers(rng, 2, 4)
    ring.keys = turned(ring.keys, ring.positions)
    print(f"window 3, {tokens} tokens: scores", plain(read(ring, q)))
    print("  and then", plain(ring.positions), "q", plain(q), "keys", plain(ring.keys[0]))

# %% [markdown] role="hint" exercise="rope4-write"
# Which of the ring's numbers is the position of the token that you are writing, before you change anything? And
# which is the newest token's position once `write` is done?

# %% [markdown] role="hint" exercise="rope4-write"
# `write`: 1. Find the slot. 2. Turn `k`, all its heads, to `ring.seen` and store it there. 3. Store `v` as it is.
# 4. Note the position in that slot. 5. Last, raise `ring.seen`. `read`: turn `q` to the newest token's position,
# take the keys as they lie, and multiply each head's query with each of its keys.

# %% [markdown] role="hint" exercise="rope4-write"
# `write`: `slot = ring.seen % ring.window`, `ring.keys[:, slot] = turned(k, ring.seen)`,
# `ring.values[:, slot] = v`, `ring.positions[slot] = ring.seen`, `ring.seen += 1`. `read`:
# `query = turned(q, ring.seen - 1)`, `found = (ring.keys * query[:, None]).sum(axis=2) / np.sqrt(q.shape[1])`,
# then `np.where(ring.positions >= 0, found, -np.inf)`.

# %% [markdown] role="solution" exercise="rope4-write"
# `ring.seen` is used twice, and differently: modulo W it is a slot, as it is it is a position. The angle
# takes the second. The query takes the newest token's position, on the same scale. Two conditions remain: the base must not change (exercise 6), and positions must stay
# what they are: whoever turns by ranks has to keep unrotated keys (exercise 5).

# %% id="read-or-write" role="scene"
# W = 4 after ten tokens, one pair: unrotated keys turned at reading, and keys turned once at writing.
rng = draw(0, "read-or-write")
held, q, unrotated = np.array([8, 9, 6, 7]), numbers(rng, 2), numbers(rng, 4, 2)
stored = np.array([turned(key, position) for key, position in zip(unrotated, held)])
at_reading = [turned(q, 9 - position) @ key for key, position in zip(unrotated, held)]
print("turned at reading, 4 turns:", plain(at_reading))
print("turned at writing, 1 turn: ", plain(stored @ turned(q, 9)))

# %% id="wrong-angles" role="scene"
# One pair of each key, turned by 20 degrees a position. Here the angle is taken from the slot: read what it
# says above the picture, then choose "angle from: position". Which steps are right by luck?
show("ring", tokens=24, window=8, step=13, angle="slot")

# %% [markdown] id="rope5-three-why"
# ## Exercise 5: slot, position, rank
#
# *Difficulty 2 of 5 · 9 minutes · 2 points*
#
# What about ranks? They are 0, 1, 2, ... in order of age, and never grow past the number of slots.
#
# - **Keys turned at writing** have their position in them. From the first wrap on, a query turned to its rank
#   counts from another origin: every distance is wrong.
# - **Unrotated keys, no sinks:** all stored tokens are neighbours, so rank is position less a
#   constant. Ranks for both give the same distances.
# - **Unrotated keys, sinks:** the table below. StreamingLLM (arXiv 2309.17453) turns to ranks *on purpose*, so
#   that no distance is larger than those the model was trained on. That needs unrotated keys, since a token's
#   rank falls while it is stored.
#
# One sink and a ring of three after eleven tokens:
#
# | slot | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | position | 0 | 10 | 8 | 9 |
# | rank | 0 | 3 | 1 | 2 |
# | back from the newest, by position | 10 | 0 | 2 | 1 |
# | back from the newest, by rank | 3 | 0 | 2 | 1 |
#
# Write `three_numbers(positions)`: a list with, for each slot in slot order, `(slot, position, rank)`, or `None`
# for an empty one (-1). `positions` is an array, which you leave as it is. There may be sinks, and holes. The rank
# counts the stored tokens that are older.


# %% id="rope5-three" role="answer"
def three_numbers(positions):
    """For each slot (slot, position, rank); None where the slot is empty."""
    ### BEGIN SOLUTION
    oldest_first = sorted(position for position in positions if position >= 0)
    return [
        None if position < 0 else (slot, position, oldest_first.index(position))
        for slot, position in enumerate(positions)
    ]
    ### END SOLUTION


# %% id="rope5-three-check" role="check"
check("rope5-three")
# hint("rope5-three", 1)

# %% id="rope5-three-graded" role="graded" points=2
# Graded, 2 points.
SEED = 0
rng = draw(SEED, "rope5-three")
first = rng.randrange(10, 60)
for held in (
    [0, 1, -1],
    [first + 5, first + 6, first + 7, first + 3, first + 4],
    [0, 1, first + 2, first, first + 1],
    [first + 4, -1, first + 2, -1, first + 1],
):
    positions = np.array(held)
    print(f"slots hold {held}:", plain(three_numbers(positions)), "and then", plain(positions))

# %% [markdown] role="hint" exercise="rope5-three"
# How would you put the stored tokens in a row, oldest first? The rank is the place in that row.

# %% [markdown] role="hint" exercise="rope5-three"
# Make a sorted list of the positions that are 0 or more. Then go over the slots in order: an empty one
# gives `None`, another one its slot, its position, and the place of its position in the sorted list.

# %% [markdown] role="hint" exercise="rope5-three"
# `row = sorted(p for p in positions if p >= 0)` and
# `[None if p < 0 else (slot, p, row.index(p)) for slot, p in enumerate(positions)]`.

# %% [markdown] role="solution" exercise="rope5-three"
# Three counts from three origins: memory, the text, the oldest token stored. Only positions keep
# their value while a token is stored *and* differ between any two tokens ever seen. Ranks do neither: after
# the next write each token behind the sinks is one lower.

# %% [markdown] id="rope6-base-why"
# ## Exercise 6: longer texts than trained
#
# *Difficulty 3 of 5 · 10 minutes · 3 points*
#
# A model trained on 4,096 tokens has never seen two tokens 10,000 apart. Two ways out:
#
# **Stretch the slow pairs.** *NTK-aware* scaling (arXiv 2309.00071 describes it) makes the base larger, for
# texts `s` times longer, so that
#
# - the fastest pair, i = 0, turns as before: `base ** 0` is 1 whatever the base;
# - the slowest pair, i = d/2 - 1, turns exactly `s` times slower.
#
# The slowest pair turns `base ** (-(d - 2) / d)` per token, since -2i is -(d - 2) there. With the new base that
# is to be `1 / s` of what it was. So the new base is `base` times a power of `s`. Which power? One article prints
# `s ** 0.5`; at s = 4 and d = 128 that slows the slowest pair only 1.98 times:
#
# ![](figure:ntk.png)
#
# | pair | 0 | 31 | 63 |
# |---|---|---|---|
# | times slower, NTK-aware | 1.00 | 1.98 | 4.00 |
# | times slower, article | 1.00 | 1.40 | 1.98 |
#
# **Keep a window.** In a ring no query sees a key further back than the window. If the
# model was trained with this window, no distance is new and the base stays as it is. (Sinks apart: that is what
# their ranks are for.)
#
# Write `ntk_base(base, stretch, head_dim)`, with `stretch` the `s` and `head_dim` the `d`, 4 or more; and
# `farthest(tokens, window)`: the largest distance between any query and a key that it sees, in a text of
# `tokens` tokens, at least one. A token is 0 away from itself, and `window` counts the query itself.


# %% id="rope6-base" role="answer"
def ntk_base(base, stretch, head_dim):
    """The base with which the slowest pair turns `stretch` times slower."""
    ### BEGIN SOLUTION
    return base * stretch ** (head_dim / (head_dim - 2))
    ### END SOLUTION


def farthest(tokens, window):
    """The largest distance between a query and a key that it sees."""
    ### BEGIN SOLUTION
    return min(tokens, window) - 1
    ### END SOLUTION


# %% id="rope6-base-check" role="check"
check("rope6-base")
# hint("rope6-base", 1)

# %% id="rope6-base-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "rope6-base")
for d, base in ((4, 10000), (128, 10), (rng.choice([8, 16, 64]), rng.choice([500, 10000]))):
    stretch = rng.randrange(2, 9)
    new = ntk_base(float(base), stretch, d)
    print(f"head_dim {d}, texts {stretch} times longer: base {base} times {fixed(new / base)}")
window = rng.randrange(3, 30)
for tokens in (1, window - 1, window, window + 1, 100 * window):
    print(f"{tokens} tokens, window {window}: {fixed(farthest(tokens, window), 0)} back")

# %% [markdown] role="hint" exercise="rope6-base"
# Write `base * f` for the new base, and compare what the slowest pair turns with it and with the old one: what is
# left? For `farthest`, write down the positions that the last token of a short and of a long text sees.

# %% [markdown] role="hint" exercise="rope6-base"
# With `base * f` the slowest pair turns `f ** (-(d - 2) / d)` times what it did, which is to be `1 / s`. So
# `f ** ((d - 2) / d)` is `s`. To undo an exponent, raise both sides to 1 over it. And of W keys that include the
# query itself, the oldest lies one less than W back; a text shorter than W reaches back to its token 0.

# %% [markdown] role="hint" exercise="rope6-base"
# `return base * stretch ** (head_dim / (head_dim - 2))` and `return min(tokens, window) - 1`.

# %% [markdown] role="solution" exercise="rope6-base"
# From `f ** ((d - 2) / d) = s` follows `f = s ** (d / (d - 2))`. For d = 128 the exponent is 1.016: near 1, and
# far from 0.5. A window of W never asks for a distance over W - 1, however long the conversation.

# %% [markdown] id="stale-why"
# ## When the base changes
#
# Keys turned at writing rest on one condition: query and key are turned with the **same base**. An article
# proposes to change the base while the model runs, as the text grows. Every key stored before is then *stale*:
# turned with the old base. Either they are made again from unrotated keys, or the scores are wrong:

# %% id="stale" role="scene"
# The query at position 900, keys at 899 to 896, d = 8. The base changes just before the query.
rng = draw(0, "stale")
where, q, unrotated = np.arange(899, 895, -1), numbers(rng, 8), numbers(rng, 4, 8)
old, new = 10000.0, 10000.0 * 4 ** (8 / 6)  # exercise 6, for texts 4 times longer
for what, query_base, key_base in (
    ("old base for both", old, old),
    ("new base for both", new, new),
    ("new query, stale keys", new, old),
):
    found = turned(unrotated, where, key_base) @ turned(q, 900, query_base)
    print(f"{what:22}", *(fixed(x, 2).rjust(6) for x in found))

# %% [markdown] id="prefix-and-precision"
# The two good rows lie within 0.1 of each other; the third is off by up to 2.2.
#
# **Reuse.** Some say that a cache cannot be used again when positions are absolute. It
# can, for a prefix that stays where it was: the model is causal, so the prefix's keys are the same whatever
# follows, under any position encoding. What breaks is a position past the end of a precomputed table
# (pytorch/executorch#14630), or a base that changes.
#
# **Precision.** Positions grow for ever; the digits of a float do not. A float32 angle has about seven, and whole
# turns use them up: the larger the angle, the fewer remain.

# %% id="precision" role="scene"
# The largest error of a cosine, d = 64, over the 256 positions up to each: float32 angles
# (position times frequency, both float32) against float64.
frequency = 10000.0 ** (-np.arange(0, 64, 2) / 64)
for last in (10**3, 10**4, 10**5, 10**6):
    here = np.arange(last - 255, last + 1)[:, None]
    single = here.astype(np.float32) * frequency.astype(np.float32)
    error = np.abs(np.cos(single.astype(np.float64)) - np.cos(here * frequency)).max()
    print(f"up to position {last:7}: {fixed(error, 6)}")
print("2048 + 1 in float16:", int(np.float16(2048) + np.float16(1)))

# %% [markdown] id="precision-meaning"
# Near a million, a cosine is off by up to 0.04. These are angles as the transformers library computes them;
# measured there, too: the cosines of its Llama rotation are off by 0.000036 near position 1,000 and by 0.038 near
# a million.
#
# Never keep positions themselves in 16 bits: float16 counts up to 2,048 and then stands still; bfloat16
# stops at 256. Keep them as integers, and compute angles in float32 at least.

# %% [markdown] id="case04-length-why"
# ## Case file: the length that stops at W
#
# *Difficulty 3 of 5 · 9 minutes · 3 points*
#
# Gemma 3, called token by token from a loop of one's own, wrote incoherent text once more than W tokens had been
# read (huggingface/transformers#38156). The next position was taken from the cache's length, and the cache answered
# for its first layer. That one slides: it holds at most W tokens. In another project one field served both as the
# cursor for rows and as the RoPE position (rajveer43/VeloxQuant-MLX#171).
#
# Here is a toy with the same bug. It stores `(word, position)`; with W = 4, words 4, 5, 6, ... all get
# position 4.
#
# Mend it: tokens get positions 0, 1, 2, ... for ever, also when `feed` is called again and again, or a loop of
# one's own calls `append(word, cache.length())`. `length()` gives the position of the next token, 0 in a new
# cache; `size()` still says how many are stored. Two caches know nothing of each other. Keep the names, `stored`
# among them. Any place may be mended.


# %% id="case04-length" role="answer"
class LayerCache:
    """Keeps the newest `window_size` tokens as (word, position), oldest first."""

    def __init__(self, window_size):
        self.window_size = window_size
        self.stored = []
        ### BEGIN SOLUTION
        self.seen = 0
        ### STUB
        #
        ### END SOLUTION

    def append(self, word, position):
        self.stored.append((word, position))
        if len(self.stored) > self.window_size:
            self.stored.pop(0)
        ### BEGIN SOLUTION
        self.seen += 1
        ### STUB
        #
        ### END SOLUTION

    def size(self):
        return len(self.stored)

    def length(self):
        ### BEGIN SOLUTION
        return self.seen
        ### STUB
        # return len(self.stored)
        ### END SOLUTION


def feed(cache, words):
    """Read words, one after another; each stands at the next position."""
    for word in words:
        cache.append(word, cache.length())


# %% id="case04-length-check" role="check"
check("case04-length")
# hint("case04-length", 1)

# %% id="case04-length-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "case04-length")
for window in (4, 1, rng.randrange(2, 6)):
    cache = LayerCache(window)
    print("window", window)
    for count in (1, window, 1, window + rng.randrange(1, 4)):
        words = [f"w{rng.randrange(100)}" for _ in range(count)]
        feed(cache, words)
        cache.append("own", cache.length())
        print(f"  {len(words)} + 1 more: size {plain(cache.size())},", end=" ")
        print(f"length {plain(cache.length())},", end=" ")
        print("stored", *(f"{word} at {plain(position)}" for word, position in cache.stored))

# %% [markdown] role="hint" exercise="case04-length"
# Two questions are asked of one number: how many tokens are stored, and how many there have ever been. When do
# the answers part?

# %% [markdown] role="hint" exercise="case04-length"
# Give the cache a counter of its own that starts at 0, that each `append` raises by one, and that nothing lowers
# when a token leaves. `length()` gives that.

# %% [markdown] role="hint" exercise="case04-length"
# `self.seen = 0` in `__init__`, `self.seen += 1` in `append`, `return self.seen` in `length`.

# %% [markdown] role="solution" exercise="case04-length"
# `size` is about memory and `seen` about the text; they agree until the ring is full, so short tests pass. The
# newest stored position plus one would do as well. The course's rings keep `seen` as a field of its own, and
# a test asks for both after more than W tokens.

# %% [markdown] id="end"
# ## What you have now
#
# - A rotation, and the reason why a score depends on the distance alone.
# - Keys turned once, at writing, to their true position; values never.
# - Slot, position and rank, kept apart; when ranks are allowed.
# - In the window a model was trained with, no base has to be scaled.
#
# Next, lesson 05 takes the ring to torch: several sequences at once, on a CPU or a GPU. The last cell keeps
# what is right in `my_ringkv.py`; `write` there stays lesson 02's.

# %% id="save" role="volatile"
save_work("rotate", "scores", "three_numbers", "ntk_base", "farthest")
