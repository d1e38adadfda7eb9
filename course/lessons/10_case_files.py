# %% [markdown] id="start"
# # 10 Case files
#
# *120 minutes. Needs no more than Python and NumPy. The last scene uses the caches that are installed here.*
#
# Eight bugs that were reported against real projects, each rebuilt here as a toy of our own. Each one is a
# symptom and a class of twenty lines. You **find** the bug, write **the test that catches it**, and **mend** it.
# The test is worth more than the mend: it keeps the bug from coming back, in other code, too.
#
# Two of the three points of a case are for the test. At the end your tests meet the caches of two libraries.

# %% id="setup"
import math

import ringkv_edu.given_versions as versions
from ringkv_edu import scenes_10 as scenes
from ringkv_edu.given_cases import HalfWindow, LastKeys, LostKeep, PaddedRing
from ringkv_edu.given_cases import Pool, RollingStart, TextFlag, TwoWindows
from ringkv_edu.graded import draw, fixed, plain
from ringkv_edu.lesson import check, hint, save_work

# %% [markdown] id="convention-why"
# ## What a test is here
#
# As in pytest: a test that raises, refuses. Yours gets a class, makes caches of it, gives them tokens and says
# by `assert` what must hold. What it returns nobody looks at.
#
# ```python
# def catches_nothing_stored(Cache):
#     cache = Cache(4)
#     rows = cache.step([0, 1])  # each row: the tokens that one token sees
#     assert set(rows[1]) == {0, 1}
# ```
#
# It must **refuse** the class that is shown, and any other cache with such a bug: one that shows for one window
# alone (try 1 to 6), in a later chunk, or only for a while (try 20 tokens).
#
# It must **accept** every right cache, written in any way: rows may come in any order, unless the exercise
# gives one, and fields may have other names. Use only the methods that the exercise names.
#
# The rule is that of the course: a token sees the last W, itself included. Write what must be seen yourself;
# a test that asks the cache what is right believes whatever it says. What attention does with the tokens is left
# out, except in case 3.
#
# A check that fails shows a cache that your test takes for the other kind, as a line that you can paste into a new
# cell: `versions` makes caches with a fault in a chosen place. (`versions` may not stand in an answer.)
#
# What the toys of the first four cases let each query see, with W = 4 and ten tokens:
#
# ![](figure:case_files.png)

# %% [markdown] id="cf1-window-why"
# ## Case 1: two windows
#
# *Difficulty 2 of 5 · 10 minutes · 3 points*
#
# *The same prompt, given at once and token by token, goes on differently, although nothing is random.*
#
# In ml-explore/mlx-lm#390 the mask of a prompt let through one key more than the buffer of decode kept; its
# thread asks which of the two is right. For W = 4:
#
# | query | in a chunk it sees | alone it sees |
# |---|---|---|
# | 3 | 0 1 2 3 | 0 1 2 3 |
# | 4 | 0 1 2 3 4 | 1 2 3 4 |
# | 5 | 1 2 3 4 5 | 2 3 4 5 |
#
# `cache.step(tokens)` takes one token or several and gives a row for each. Write `catches_window(Cache)`, and mend
# the class, so that both ways hold to the rule.


# %% id="cf1-window" role="answer"
def catches_window(Cache):
    """Raise when a cache has not the same, right window in both ways."""
    ### BEGIN SOLUTION
    for window in range(1, 7):
        for chunks in ([1] * 20, [20], [1, 9, 2, 8]):
            cache, first = Cache(window), 0
            for n in chunks:
                rows = cache.step(list(range(first, first + n)))
                for position, row in enumerate(rows, first):
                    assert set(row) == set(range(max(0, position - window + 1), position + 1))
                first += n
    ### END SOLUTION


class MendedWindow:
    def __init__(self, window):
        self.window = window
        self.held = []  # the last `window` tokens

    def step(self, tokens):
        """Take the next tokens; give, for each, the tokens that it sees."""
        keys = [*self.held, *tokens]
        rows = []
        ### BEGIN SOLUTION
        for query in range(len(self.held), len(keys)):
            rows.append([keys[key] for key in range(query + 1) if query - key < self.window])
        ### STUB
        # for query in range(len(self.held), len(keys)):
        #     if len(tokens) > 1:
        #         rows.append([keys[key] for key in range(query + 1) if query - key <= self.window])
        #     else:
        #         rows.append(keys[-self.window :])
        ### END SOLUTION
        self.held = keys[-self.window :]
        return rows


# %% id="cf1-window-check" role="check"
check("cf1-window")
# hint("cf1-window", 1)    # 1 is a nudge, 2 a plan, 3 nearly the code

# %% id="cf1-window-graded" role="graded" points=3
# Graded, 3 points. Your test, on the class as reported and on others that are drawn; then your class.
SEED = 0
rng = draw(SEED, "cf1-window")
for caches in ([TwoWindows, *versions.drawn("window", rng)], versions.drawn("window", rng)):
    print("your test:", *(versions.tried(catches_window, Cache) for Cache in caches))
print("your class:", versions.tried(catches_window, MendedWindow), end="")
for window, chunks in ((4, [6, 1, 1, 3]), (1, [3, 1]), (rng.randrange(2, 7), [1, 9, 1, 4])):
    rows = versions.fed(MendedWindow(window), chunks)
    print(f"; window {window}, chunks {chunks}:", plain(rows), end="")
print()

# %% [markdown] role="hint" exercise="cf1-window"
# Which line decides for a chunk, and which for one token? Work out by hand what each gives for W = 1.

# %% [markdown] role="hint" exercise="cf1-window"
# The test: for each window, give 20 tokens in several ways: one by one, at once, and mixed. Compare the row of the
# token at position p with the positions from `max(0, p - window + 1)` to p, as sets. Comparing the two
# ways with each other is not enough: both may be wrong.

# %% [markdown] role="hint" exercise="cf1-window"
# `for chunks in ([1] * 20, [20], [1, 9, 2, 8])`; name tokens by their positions; then
# `assert set(row) == set(range(max(0, p - window + 1), p + 1))`. In the class `<=` becomes `<`, for any number
# of tokens.

# %% [markdown] role="solution" exercise="cf1-window"
# With `<` the mask gives one token alone the right row, too, so the second way can go. Two ways to say one rule
# is where this began. The thread settled what "window" counts by the code of the model itself: 128 there means
# the token and 127 before it. flash-attn's `window_size` counts the keys to the *left*, so the same number
# gives one more (huggingface/transformers#39408). A test that holds the two ways against each other
# accepts two that are wrong together.

# %% [markdown] id="cf2-start-why"
# ## Case 2: where the ring begins
#
# *Difficulty 2 of 5 · 8 minutes · 3 points*
#
# *The first tokens of an answer to a short prompt are noise. After a while all is well; long prompts never fail.*
#
# A ring is read out in order of time for a kernel that makes its mask from places. In
# huggingface/transformers#47708 the start was the length modulo W, even while fewer tokens were held. W = 4; a dot
# is an empty slot:
#
# | tokens written | must be read | is read |
# |---|---|---|
# | 0 | 0 | . |
# | 0 1 | 0 1 | . . |
# | 0 1 2 | 0 1 2 | . 0 1 |
# | 0 1 2 3 | 0 1 2 3 | 0 1 2 3 |
#
# `cache.write(token)` stores one token; `cache.read()` gives the last W, or all if there are fewer, **the oldest
# first**. Here the order is part of what is promised.


# %% id="cf2-start" role="answer"
def catches_start(Cache):
    """Raise when what is read is not the last tokens in order of time."""
    ### BEGIN SOLUTION
    for window in range(1, 7):
        cache = Cache(window)
        for length in range(1, 21):
            cache.write(length)
            assert list(cache.read()) == list(range(max(1, length - window + 1), length + 1))
    ### END SOLUTION


class MendedStart:
    def __init__(self, window):
        self.window = window
        self.slots = [None] * window
        self.length = 0  # tokens so far

    def write(self, token):
        self.slots[self.length % self.window] = token
        self.length += 1

    def read(self):
        """Give the last `window` tokens, the oldest first."""
        ### BEGIN SOLUTION
        count = min(self.length, self.window)
        start = self.length - count
        return [self.slots[(start + n) % self.window] for n in range(count)]
        ### STUB
        # count = min(self.length, self.window)
        # start = self.length % self.window
        # return [self.slots[(start + n) % self.window] for n in range(count)]
        ### END SOLUTION


# %% id="cf2-start-check" role="check"
check("cf2-start")
# hint("cf2-start", 1)

# %% id="cf2-start-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "cf2-start")
for caches in ([RollingStart, *versions.drawn("start", rng)], versions.drawn("start", rng)):
    print("your test:", *(versions.tried(catches_start, Cache) for Cache in caches))
print("your class:", versions.tried(catches_start, MendedStart), end="")
for window in (4, 1, rng.choice([3, 5, 6])):
    cache = MendedStart(window)
    print(f"; window {window}:", end="")
    for token in range(window + 3):
        cache.write(token)
        print("", plain(cache.read()), end="")
print()

# %% [markdown] role="hint" exercise="cf2-start"
# In which slot does the oldest token lie while the ring fills? And which token is the oldest afterwards?

# %% [markdown] role="hint" exercise="cf2-start"
# The test: for each window write 20 tokens and read **after each one**, the first included. Compare lists. The mend:
# the oldest of `count` tokens is token number `length - count`; its slot follows from that.

# %% [markdown] role="hint" exercise="cf2-start"
# `assert list(cache.read()) == list(range(max(0, p - window + 1), p + 1))` after writing token p; and
# `start = self.length - count`, modulo W as every slot.

# %% [markdown] role="solution" exercise="cf2-start"
# `length % W` is the slot of the **next write**. In a full ring the oldest token lies there, by definition; in any
# other it does not. The start of what is kept is a position, `length - count`, and its slot is that modulo W: the
# same repair as in the report. A test whose first look comes when the ring is full sees nothing; W = 1
# shows nothing either. Why keep the order at all? Softmax does not need it (lesson 02); a mask made from
# places does.

# %% [markdown] id="cf3-keys-why"
# ## Case 3: padding without end
#
# *Difficulty 3 of 5 · 14 minutes · 3 points*
#
# *Prompts longer than the window are answered with `<pad>`, for ever. Shorter ones are answered well.*
#
# In lablup/mlxcel#405 a prompt's keys were cut to the last W before its queries had seen them. The softmax of a
# row without keys is 0 / 0, NaN, and a NaN spreads to every later layer. W = 4, the values 10, 20, ... 60 at once:
#
# | query | 0 | 1 | 2 | 3 | 4 | 5 |
# |---|---|---|---|---|---|---|
# | must give | 10 | 15 | 20 | 25 | 35 | 45 |
# | gives | NaN | NaN | 30 | 35 | 40 | 45 |
#
# `cache.step(values)` takes numbers, one or several, and gives for each **the mean of what it sees**: attention to
# keys that are all equal. Test to rounding (`math.isclose`): a right cache may add in another order. In your
# class `held` has at most W entries after each step.


# %% id="cf3-keys" role="answer"
import math


def catches_keys(Cache):
    """Raise when a query of a chunk does not see its whole window."""
    ### BEGIN SOLUTION
    text = [float(p * p) for p in range(20)]
    for window in range(1, 7):
        for chunks in ([20], [1, 9, 10], [3, 2, 8, 1, 6]):
            cache, first = Cache(window), 0
            for n in chunks:
                means = cache.step(text[first : first + n])
                for end, mean in enumerate(means, first + 1):
                    seen = text[max(0, end - window) : end]
                    assert math.isclose(mean, sum(seen) / len(seen))
                first += n
    ### END SOLUTION


class MendedKeys:
    def __init__(self, window):
        self.window = window
        self.held = []  # (position, value), at most `window` of them
        self.seen = 0  # tokens so far

    def step(self, values):
        """Take the next values; give, for each, the mean of what it sees."""
        queries = range(self.seen, self.seen + len(values))
        ### BEGIN SOLUTION
        keys = [*self.held, *zip(queries, values)]
        means = []
        for query in queries:
            seen = [value for key, value in keys if 0 <= query - key < self.window]
            means.append(sum(seen) / len(seen))
        self.held = keys[-self.window :]
        ### STUB
        # keys = [*self.held, *zip(queries, values)][-self.window :]
        # means = []
        # for query in queries:
        #     seen = [value for key, value in keys if 0 <= query - key < self.window]
        #     means.append(sum(seen) / len(seen) if seen else math.nan)
        # self.held = keys
        ### END SOLUTION
        self.seen += len(values)
        return means


# %% id="cf3-keys-check" role="check"
check("cf3-keys")
# hint("cf3-keys", 1)

# %% id="cf3-keys-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "cf3-keys")
for caches in ([LastKeys, *versions.drawn("keys", rng)], versions.drawn("keys", rng)):
    print("your test:", *(versions.tried(catches_keys, Cache) for Cache in caches))
print("your class:", versions.tried(catches_keys, MendedKeys), end="")
for window, chunks in ((4, [6, 1, 2]), (1, [2, 1, 3]), (rng.randrange(2, 7), [2, 9, 3])):
    cache = MendedKeys(window)
    print(f"; window {window}:", end="")
    for n in chunks:
        out = cache.step([rng.randrange(1, 100) / 10 for _ in range(n)])
        print("", plain(out), "held", len(cache.held), end="")
print()

# %% [markdown] role="hint" exercise="cf3-keys"
# Who still needs a key when it is thrown away? When is the last moment at which it may go?

# %% [markdown] role="hint" exercise="cf3-keys"
# The mend: attend to all that was held and the whole chunk, then cut. The test: values that tell apart which were
# seen (squares, say, not all the same); chunks longer than W, first and later ones; every row against the mean
# of the last W values. Rows that are not NaN may have seen too little.

# %% [markdown] role="hint" exercise="cf3-keys"
# `assert math.isclose(mean, sum(seen) / len(seen))` with `seen = text[max(0, end - window) : end]`; it fails for
# NaN, too. In the class the slice `[-self.window :]` moves to the last line, `self.held = keys[-self.window :]`.

# %% [markdown] role="solution" exercise="cf3-keys"
# Attend first, then write (lesson 03): here the cut is the write. Row 3 of the table shows the quieter half of the
# bug: 35 is a number, and wrong. A mend that gives an empty row itself to see takes the NaN away and
# keeps that half. The reports speak of several models (mlxcel#412 mends the others): the cut is right for
# one query, which sees exactly the last W, and was written for it.

# %% [markdown] id="cf4-half-why"
# ## Case 4: the window that closes
#
# *Difficulty 3 of 5 · 12 minutes · 3 points*
#
# *Short probes are fine. With a long prompt the text repeats itself or falls apart.*
#
# In Blaizzy/mlx-vlm#1138 a mask compared the query's position, which goes on and on, with the places of keys in a
# rotating cache, which do not. W = 4:
#
# | query | held | sees |
# |---|---|---|
# | 3 | 0 1 2 3 | 0 1 2 3 |
# | 4 | 1 2 3 4 | 2 3 4 |
# | 5 | 2 3 4 5 | 4 5 |
# | 6 | 3 4 5 6 | 6 |
# | 7 and all later | 4 5 6 7 | nothing |
#
# `cache.append(token)` stores one token. `cache.held()` gives the tokens that are held; `cache.mask()` says of each
# of them, in the same order, whether the newest token sees it. A right cache may hold more than W and mask the rest.


# %% id="cf4-half" role="answer"
def catches_half(Cache):
    """Raise when the newest token does not see exactly the last `window`."""
    ### BEGIN SOLUTION
    for window in range(1, 7):
        cache = Cache(window)
        for length in range(1, 21):
            cache.append(length)
            seen = {token for token, sees in zip(cache.held(), cache.mask()) if sees}
            assert seen == set(range(max(1, length - window + 1), length + 1))
    ### END SOLUTION


class MendedHalf:
    def __init__(self, window):
        self.window = window
        self.buffer = []  # the last `window` tokens, the oldest first
        self.seen = 0  # tokens so far

    def append(self, token):
        self.buffer = [*self.buffer, token][-self.window :]
        self.seen += 1

    def held(self):
        return list(self.buffer)

    def mask(self):
        """Say of each token held whether the newest one sees it."""
        ### BEGIN SOLUTION
        query, first = self.seen - 1, self.seen - len(self.buffer)
        places = range(len(self.buffer))
        return [0 <= query - (first + place) < self.window for place in places]
        ### STUB
        # query = self.seen - 1
        # return [0 <= query - place < self.window for place in range(len(self.buffer))]
        ### END SOLUTION


# %% id="cf4-half-check" role="check"
check("cf4-half")
# hint("cf4-half", 1)

# %% id="cf4-half-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "cf4-half")
for caches in ([HalfWindow, *versions.drawn("half", rng)], versions.drawn("half", rng)):
    print("your test:", *(versions.tried(catches_half, Cache) for Cache in caches))
print("your class:", versions.tried(catches_half, MendedHalf), end="")
for window in (4, 1, rng.choice([3, 5, 6])):
    cache = MendedHalf(window)
    print(f"; window {window}:", end="")
    for token in range(3 * window + rng.randrange(4)):
        cache.append(token)
        seen = sorted(key for key, sees in zip(cache.held(), cache.mask()) if sees)
        print("", plain(seen), end="")
print()

# %% [markdown] role="hint" exercise="cf4-half"
# A query and a key are compared. In which counting does each of the two numbers stand?

# %% [markdown] role="hint" exercise="cf4-half"
# Either both are positions: the token at `place` has position `seen - len(buffer) + place`. Or both are places:
# then the query is the last place. The test: for each window 20 tokens, a look after each; the tokens that the
# mask lets through, as a set, against the last W.

# %% [markdown] role="hint" exercise="cf4-half"
# `seen = {t for t, sees in zip(cache.held(), cache.mask()) if sees}`. In `mask`:
# `first = self.seen - len(self.buffer)` and `0 <= query - (first + place) < self.window`.

# %% [markdown] role="solution" exercise="cf4-half"
# Position against place: the course's one idea, as a difference between two numbers that count different
# things. As long as nothing has left they agree, and short probes pass. The mend, Blaizzy/mlx-vlm#1139, clamps
# the query into the cache's own counting; turning places into positions does as well. Since this buffer holds exactly what the
# newest sees, `[True] * len(self.buffer)` is right, too: lesson 03's exercise 5. It would not be with slack, so
# a test that asks for a mask of True alone refuses caches that are right.

# %% [markdown] id="cf5-flag-why"
# ## Case 5: the text "False"
#
# *Difficulty 2 of 5 · 10 minutes · 3 points*
#
# *A chat is saved after a short prompt. Loaded again, it goes on as if something had been said before it.*
#
# A file's header holds texts. In ml-explore/mlx-lm#1250 a flag was saved by `str` and loaded by `bool`, and
# `bool("False")` is `True`: every text but the empty one is. Here the flag says whether the ring has been around
# once, so whether all its slots are tokens. W = 4; a dot is an empty slot:
#
# | saved after | the next token should see | sees |
# |---|---|---|
# | nothing | 0 | 0 . . . |
# | 0 1 | 0 1 2 | 0 1 2 . |
# | 0 1 2 3 | 1 2 3 4 | 1 2 3 4 |
#
# `Cache.load(cache.save())` gives a cache that goes on as if nothing had happened. What `save` gives is
# the cache's own affair; your class stays with slots and a header of texts.


# %% id="cf5-flag" role="answer"
def catches_flag(Cache):
    """Raise when a cache that was saved and loaded goes on differently."""
    ### BEGIN SOLUTION
    for window in range(1, 7):
        for length in range(2 * window + 2):
            cache = Cache(window)
            cache.step(list(range(length)))
            cache = Cache.load(cache.save())
            rows = cache.step(list(range(length, length + 2 * window)))
            for position, row in enumerate(rows, length):
                assert set(row) == set(range(max(0, position - window + 1), position + 1))
    ### END SOLUTION


class MendedFlag:
    def __init__(self, window):
        self.window = window
        self.slots = [None] * window
        self.index = 0  # the slot of the next write
        self.rotated = False  # whether the index has come back to 0

    def step(self, tokens):
        """Take the next tokens; give, for each, the tokens that it sees."""
        rows = []
        for token in tokens:
            self.slots[self.index] = token
            self.index = (self.index + 1) % self.window
            self.rotated = self.rotated or self.index == 0
            rows.append(self.slots[:] if self.rotated else self.slots[: self.index])
        return rows

    ### BEGIN SOLUTION
    def save(self):
        header = {"window": self.window, "index": self.index, "rotated": self.rotated}
        return self.slots[:], {name: str(value) for name, value in header.items()}

    @classmethod
    def load(cls, saved):
        slots, header = saved
        cache = cls(int(header["window"]))
        cache.slots = slots[:]
        cache.index = int(header["index"])
        cache.rotated = header["rotated"] == "True"
        return cache

    ### STUB
    # def save(self):
    #     header = {"window": self.window, "index": self.index, "rotated": self.rotated}
    #     return self.slots[:], {name: str(value) for name, value in header.items()}
    #
    # @classmethod
    # def load(cls, saved):
    #     slots, header = saved
    #     cache = cls(int(header["window"]))
    #     cache.slots = slots[:]
    #     cache.index = int(header["index"])
    #     cache.rotated = bool(header["rotated"])
    #     return cache
    ### END SOLUTION


# %% id="cf5-flag-check" role="check"
check("cf5-flag")
# hint("cf5-flag", 1)

# %% id="cf5-flag-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "cf5-flag")
for caches in ([TextFlag, *versions.drawn("flag", rng)], versions.drawn("flag", rng)):
    print("your test:", *(versions.tried(catches_flag, Cache) for Cache in caches))
print("your class:", versions.tried(catches_flag, MendedFlag), end="")
for window, length in ((4, 0), (4, 2), (4, 4), (4, 6), (1, 1), (5, rng.randrange(1, 5))):
    cache = MendedFlag(window)
    versions.fed(cache, [length])
    saved = cache.save()
    types = sorted({type(value).__name__ for value in saved[1].values()})
    rows = MendedFlag.load(saved).step([100 + n for n in range(window + 1)])
    print(f"; window {window}, {length} tokens, header of", *types, end=" ")
    print(plain([versions.in_order(row) for row in rows]), end="")
print()

# %% [markdown] role="hint" exercise="cf5-flag"
# What is the type of `header["rotated"]`? For which lengths is the flag `False`?

# %% [markdown] role="hint" exercise="cf5-flag"
# Compare the text with `"True"`. The test: for each window save after 0, 1, 2, ... tokens, past the wrap, load, and
# go on for at least two windows; each row against the rule. One token is too few: a wrong order of slots
# shows only when tokens leave.

# %% [markdown] role="hint" exercise="cf5-flag"
# `cache.rotated = header["rotated"] == "True"`. In the test `for length in range(2 * window + 2)`, then
# `Cache.load(cache.save())` and `step(list(range(length, length + 2 * window)))`.

# %% [markdown] role="solution" exercise="cf5-flag"
# A full ring hides it: then the flag is true, and so is any text. The empty cache is the length that is most easily
# left out. A test that compares `save()` before and after asks for one way to save and misses what
# `save` leaves out. What must be equal is what the cache does next. Here the flag could go: the number of tokens
# says the same, and `int` reads it without a trap.

# %% [markdown] id="cf6-pads-why"
# ## Case 6: padding in the ring
#
# *Difficulty 4 of 5 · 19 minutes · 3 points*
#
# *In a batch the shorter requests get worse answers than alone.*
#
# The rows of a batch are made equally long by padding. In ml-explore/mlx-lm#439 a rotating cache stored it with
# the rest. In our toy it is never seen, but each piece of it takes a slot, and pushes a token out (how it did
# harm there is our inference). W = 4, two rows, and then `d` and `h`:
#
# | chunk | slots then | the next token sees |
# |---|---|---|
# | `a b c . . .` | . . c . | d; should be a b c d |
# | `. . . e f g` | f g . e | e f g h |
#
# Padding on the left, in a first chunk, does no harm: it is overwritten first.
#
# `Cache(window, rows)`; `cache.step(chunk)` takes for each row a list, all of one length, in which `None` is padding,
# on either side. It gives for each row, at each place, the tokens seen, and nothing (an empty row) for padding.
# Write `catches_pads` (try three rows and several chunks), and mend the class.


# %% id="cf6-pads" role="answer"
def catches_pads(Cache):
    """Raise when padding, or another row, changes what a row sees."""
    ### BEGIN SOLUTION
    life = ("xxxxxxx xxx.... ....xxx", "x. .x xx", "..x x.. .x.", ".xx xx. xx.", "xxx xxx xxx")
    for window in range(1, 7):
        cache, texts = Cache(window, 3), [[], [], []]
        for marks in life:
            chunk, expected = [[], [], []], [[], [], []]
            for row, mark_row in enumerate(marks.split()):
                for mark in mark_row:
                    if mark == "x":
                        texts[row].append(100 * row + len(texts[row]))
                    chunk[row].append(texts[row][-1] if mark == "x" else None)
                    expected[row].append(set(texts[row][-window:]) if mark == "x" else set())
            assert [[set(seen) for seen in row] for row in cache.step(chunk)] == expected
    ### END SOLUTION


class MendedPads:
    ### BEGIN SOLUTION
    def __init__(self, window, rows):
        self.window = window
        self.slots = [[None] * window for _ in range(rows)]
        self.written = [0] * rows  # tokens so far, of each row

    def step(self, chunk):
        """Take a list of tokens for each row; None is padding and sees nothing."""
        seen = [[] for _ in self.slots]
        for column in zip(*chunk):
            for row, token in enumerate(column):
                if token is None:
                    seen[row].append([])
                    continue
                self.slots[row][self.written[row] % self.window] = token
                self.written[row] += 1
                seen[row].append([key for key in self.slots[row] if key is not None])
        return seen

    ### STUB
    # def __init__(self, window, rows):
    #     self.window = window
    #     self.slots = [[None] * window for _ in range(rows)]
    #     self.written = 0  # columns so far
    #
    # def step(self, chunk):
    #     """Take a list of tokens for each row; None is padding and sees nothing."""
    #     seen = [[] for _ in self.slots]
    #     for column in zip(*chunk):
    #         slot = self.written % self.window
    #         self.written += 1
    #         for row, token in enumerate(column):
    #             self.slots[row][slot] = token
    #             held = [key for key in self.slots[row] if key is not None]
    #             seen[row].append(held if token is not None else [])
    #     return seen
    ### END SOLUTION


# %% id="cf6-pads-check" role="check"
check("cf6-pads")
# hint("cf6-pads", 1)

# %% id="cf6-pads-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "cf6-pads")
for caches in ([PaddedRing, *versions.drawn("pads", rng)], versions.drawn("pads", rng)):
    print("your test:", *(versions.tried(catches_pads, Cache) for Cache in caches))
print("your class:", versions.tried(catches_pads, MendedPads), end="")
for window in (4, 1, rng.choice([2, 3, 5])):
    cache, names = MendedPads(window, 2), iter(rng.sample(range(90), 90))
    print(f"; window {window}:", end="")
    for real in ([(0, 6), (0, 3)], [(0, 2), (1, 2)], [(1, 3), (0, rng.randrange(1, 3))]):
        n = max(end for first, end in real)
        chunk = [[next(names) if a <= p < b else None for p in range(n)] for a, b in real]
        seen = [list(map(versions.in_order, row)) for row in cache.step(chunk)]
        print("", plain(chunk), "->", plain(seen), end="")
print()

# %% [markdown] role="hint" exercise="cf6-pads"
# How many cursors does this batch have, and how many does it need? When may one move on?

# %% [markdown] role="hint" exercise="cf6-pads"
# Each row has a cursor of its own, which moves when the row gets a token. The test: keep for each row the list of
# its real tokens; after each token of row r, that row must see the last W of **its** list. Have padding on
# the right, and on the left in later chunks; go on after it; give the rows different tokens.

# %% [markdown] role="hint" exercise="cf6-pads"
# `self.written = [0] * rows`; for None only `seen[row].append([])`; otherwise write into
# `self.written[row] % self.window` and raise `self.written[row]`. In the test a pattern helps: `"xxx...."` is three
# tokens and four paddings.

# %% [markdown] role="solution" exercise="cf6-pads"
# That padding is masked does not make it harmless: a ring has room for W, whatever they are. Lesson 05 gives each row
# a cursor for this reason. The trap for the test is that the most usual batch, one prompt padded on
# the left, shows nothing. And rows with the same tokens cannot show that one row sees another's.

# %% [markdown] id="cf7-keep-why"
# ## Case 7: kept, until someone joins
#
# *Difficulty 3 of 5 · 15 minutes · 3 points*
#
# *A server keeps the first tokens of each chat for ever. When two chats have run together for a while, one of them
# falls apart.*
#
# In ml-explore/mlx-lm#1631 it was found that caches lose `keep` on their way through a batch: what comes out
# has `keep` 0. Nothing happens at once, if there is still room. W = 4 and `keep` 2:
#
# | extracted after | the next tokens see | should see |
# |---|---|---|
# | 0 1 2 | 0 1 2 3, then 1 2 3 4 | 0 1 2 3, then 0 1 2 3 4 |
# | 0 to 9 | 7 8 9 10 | 0 1 7 8 9 10 |
#
# `Cache(window, keep)`: the first `keep` tokens stay, and the last W of the others. `Cache.merge(caches)` makes a
# batch, whatever that is; `Cache.extract(batch, row)` gives a cache that goes on as the one that went in.
# Try `keep` from 0 to 3, and caches that differ: in `keep`, and in how long they are.


# %% id="cf7-keep" role="answer"
def catches_keep(Cache):
    """Raise when a cache that went through a batch goes on differently."""
    ### BEGIN SOLUTION
    for window in range(1, 7):
        for keeps, lengths in (((2, 3, 0), (1, 20, 9)), ((1, 2, 3), (12, 2, 0))):
            caches = [Cache(window, keep) for keep in keeps]
            for cache, length in zip(caches, lengths):
                cache.step(list(range(length)))
            batch = Cache.merge(caches)
            for row, (keep, length) in enumerate(zip(keeps, lengths)):
                new = list(range(length, length + 2 * window + 2))
                for position, seen in zip(new, Cache.extract(batch, row).step(new)):
                    near = range(max(0, position - window + 1), position + 1)
                    assert set(seen) == {*range(min(keep, position + 1)), *near}
    ### END SOLUTION


class MendedKeep:
    def __init__(self, window, keep=0):
        self.window, self.keep = window, keep
        self.first = []  # the first `keep` tokens, which never leave
        self.last = []  # the last `window` of the others

    def step(self, tokens):
        """Take the next tokens; give, for each, the tokens that it sees."""
        rows = []
        for token in tokens:
            if len(self.first) < self.keep:
                self.first.append(token)
            else:
                self.last = [*self.last, token][-self.window :]
            rows.append(self.first + self.last)
        return rows

    ### BEGIN SOLUTION
    @classmethod
    def merge(cls, caches):
        return [(cache.window, cache.keep, cache.first + cache.last) for cache in caches]

    @classmethod
    def extract(cls, batch, row):
        window, keep, tokens = batch[row]
        cache = cls(window, keep)
        cache.step(tokens)
        return cache

    ### STUB
    # @classmethod
    # def merge(cls, caches):
    #     return [(cache.window, cache.first + cache.last) for cache in caches]
    #
    # @classmethod
    # def extract(cls, batch, row):
    #     window, tokens = batch[row]
    #     cache = cls(window)
    #     cache.step(tokens)
    #     return cache
    ### END SOLUTION


# %% id="cf7-keep-check" role="check"
check("cf7-keep")
# hint("cf7-keep", 1)

# %% id="cf7-keep-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "cf7-keep")
for caches in ([LostKeep, *versions.drawn("keep", rng)], versions.drawn("keep", rng)):
    print("your test:", *(versions.tried(catches_keep, Cache) for Cache in caches))
print("your class:", versions.tried(catches_keep, MendedKeep), end="")
for window in (4, 1, rng.choice([2, 3, 5])):
    sizes = [(2, 3), (3, 9), (0, rng.randrange(5)), (2, 1)]
    caches = [MendedKeep(window, keep) for keep, length in sizes]
    for cache, (_, length) in zip(caches, sizes):
        versions.fed(cache, [length])
    batch = MendedKeep.merge(caches)
    for row, (keep, length) in enumerate(sizes):
        goes_on = MendedKeep.extract(batch, row).step([100 + n for n in range(window + 2)])
        seen = plain([versions.in_order(tokens) for tokens in goes_on])
        print(f"; window {window}, keep {keep}, {length} tokens:", seen, end="")
print()

# %% [markdown] role="hint" exercise="cf7-keep"
# What does a cache consist of? Tick off which parts the batch carries.

# %% [markdown] role="hint" exercise="cf7-keep"
# The batch needs each cache's own `keep`. With it, `step` puts the first tokens back where they belong. The test:
# merge caches of different `keep` and length, extract each, go on past the window, and compare with the
# first `keep` and the last W.

# %% [markdown] role="hint" exercise="cf7-keep"
# `(cache.window, cache.keep, cache.first + cache.last)` and `cls(window, keep)`. In the test
# `assert set(seen) == {*range(min(keep, p + 1)), *range(max(0, p - window + 1), p + 1)}`.

# %% [markdown] role="solution" exercise="cf7-keep"
# A cache is what it holds **and** what it will throw away. State that is not needed for reading is easily left out,
# and only later tokens show it, so the test goes on. One `keep` for the whole batch, taken from the first
# cache, passes wherever all caches are alike. The thread counts 20 places that make rotating caches, one of which
# sets `keep`; `ringkv cases` asks for this as case 44b, where a saved cache keeps its sinks.

# %% [markdown] id="cf8-pool-why"
# ## Case 8: no slot is free
#
# *Difficulty 3 of 5 · 16 minutes · 3 points*
#
# *Under load a server stops with "no kv cache slot found", with memory for all its requests.*
#
# A chunk of n needs room for the window before it and for itself. Afterwards the sequence is back at W, but
# in ollama/ollama#12543 that happened when **its own** next chunk came. W = 4 and 10 slots:
#
# | step | a holds | b holds | slots wanted |
# |---|---|---|---|
# | a takes 6 | 6 | | 6 |
# | b takes 6 | 6, could be 4 | | 12, could be 10: refused |
#
# `Cache(window, slots)`; `cache.step(work)`, where `work` maps names of sequences to lists of tokens, gives for each
# name the rows of its tokens. A sequence that waits is held at W tokens or fewer. If these, those that work (their
# last W at most) and the new tokens fit into `slots`, even exactly, the step goes through; where they do not, the
# toy, and your class, raise `RuntimeError` before anything is stored. Try one to three sequences, and let those that
# waited go on.


# %% id="cf8-pool" role="answer"
def catches_pool(Cache):
    """Raise when a step that fits is refused, or a sequence loses its window."""
    ### BEGIN SOLUTION
    for window in range(1, 7):
        n = window + 2
        for names in ("a", "ab", "abc"):
            pool = Cache(window, (len(names) - 1) * window + n)
            texts = {name: [] for name in names}
            for name, count in [(name, n) for name in names] + [(name, 1) for name in names * 3]:
                text = texts[name]
                new = [f"{name}{len(text) + i}" for i in range(count)]
                rows = pool.step({name: new})[name]
                for token, row in zip(new, rows):
                    text.append(token)
                    assert set(row) == set(text[-window:])
    ### END SOLUTION


class MendedPool:
    def __init__(self, window, slots):
        self.window, self.slots = window, slots
        self.held = {}

    def step(self, work):
        """Take the next tokens of some sequences; give, for each, what its tokens see."""
        ### BEGIN SOLUTION
        held = {name: self.held.get(name, [])[-self.window :] for name in {*self.held, *work}}
        wanted = sum(map(len, held.values())) + sum(map(len, work.values()))
        if wanted > self.slots:
            raise RuntimeError("no slot is free")
        self.held = held
        ### STUB
        # for name in work:
        #     self.held[name] = self.held.get(name, [])[-self.window :]
        # wanted = sum(len(tokens) for tokens in work.values())
        # if sum(len(tokens) for tokens in self.held.values()) + wanted > self.slots:
        #     raise RuntimeError("no slot is free")
        ### END SOLUTION
        rows = {}
        for name, tokens in work.items():
            keys = [*self.held[name], *tokens]
            ends = range(len(self.held[name]) + 1, len(keys) + 1)
            rows[name] = [keys[max(0, end - self.window) : end] for end in ends]
            self.held[name] = keys
        return rows


# %% id="cf8-pool-check" role="check"
check("cf8-pool")
# hint("cf8-pool", 1)

# %% id="cf8-pool-graded" role="graded" points=3
# Graded, 3 points.
SEED = 0
rng = draw(SEED, "cf8-pool")
for caches in ([Pool, *versions.drawn("pool", rng)], versions.drawn("pool", rng)):
    print("your test:", *(versions.tried(catches_pool, Cache) for Cache in caches))
print("your class:", versions.tried(catches_pool, MendedPool), end="")
for window, slots in ((4, 14), (2, 8), (rng.choice([3, 5]), 17)):
    pool, n, names = MendedPool(window, slots), slots - 2 * window, iter(rng.sample(range(90), 90))
    print(f"; window {window}, {slots} slots:", end="")
    for work in ({"a": n}, {"b": n}, {"c": n}, {"a": 1}, {"b": slots}, {"b": 1, "c": 1}):
        tokens = {name: [next(names) for _ in range(k)] for name, k in work.items()}
        try:
            rows = pool.step(tokens)
            seen = [[sorted(row) for row in rows[name][-2:]] for name in work]
            print("", work, plain(seen), end="")
        except RuntimeError:
            print("", work, "no room", end="")
print()

# %% [markdown] role="hint" exercise="cf8-pool"
# Which sequences does the first loop go over? Which of them hold more than their window?

# %% [markdown] role="hint" exercise="cf8-pool"
# Cut all sequences to W before counting, not to nothing: those that wait come back. The test: chunks longer than W for
# one sequence after the other, with exactly as many slots as needed, `(count - 1) * window + n`; then a token for each
# in turn, and every row against the last W of its own sequence.

# %% [markdown] role="hint" exercise="cf8-pool"
# `for name in {*self.held, *work}: self.held[name] = self.held.get(name, [])[-self.window :]`. In the test
# `pool = Cache(window, (len(names) - 1) * window + n)` with `n = window + 2`; the test need not catch the error:
# raising is refusing.

# %% [markdown] role="solution" exercise="cf8-pool"
# Nothing was ever wrong in what was seen; the bug is one of bookkeeping, and shows as an error under load. A test with
# one sequence cannot meet it, nor one with room to spare. Emptying those that wait makes room, too, and moves the bug:
# they come back with a window of nothing. The answer above makes a new dict first, so that a step that is refused
# changes nothing.

# %% [markdown] id="predict10-why"
# ### Predict first
#
# *Difficulty 3 of 5 · 8 minutes · no points*
#
# Your tests are about to meet two libraries. How their caches work, in short (transformers 5.24.0, mlx-lm 0.32.2):
#
# - **transformers** keeps between steps `keys[-window + 1 :]`, and a step adds its own tokens. What does that
#   slice keep for each window from 1 to 6?
# - **mlx-lm** hands a chunk the keys held, in order of time, and then the chunk's. Row r sees the 6 columns that end
#   at its own. With two sinks and W = 4, after ten tokens, the columns for a chunk of three are
#   `0 1 7 8 9 10 11 12`.
#
# Predict `wrong_window`, the one window with which transformers' cache keeps every token; and `sinks_seen`, for each of
# the rows 10, 11 and 12 the list of the sinks that it sees.

# %% id="predict10" role="answer"
### BEGIN SOLUTION
wrong_window = 1
sinks_seen = [[0, 1], [1], []]
### STUB
# wrong_window = ...
# sinks_seen = [..., ..., ...]
### END SOLUTION

# %% id="predict10-check" role="check"
check("predict10")
# hint("predict10", 1)

# %% [markdown] role="hint" exercise="predict10"
# Try `list("abcde")[-3:]`, then -2, -1. What comes after -1? For the rows, mark where each begins: it has six columns.

# %% [markdown] role="hint" exercise="predict10"
# The slice starts at `-(window - 1)`. One of these numbers is no count from the end. Row 10 is the sixth column; its
# six columns begin with the first.

# %% [markdown] role="hint" exercise="predict10"
# `-0` is 0, and `keys[0:]` is everything. Row 11 sees `1 7 8 9 10 11`; shift once more for row 12.

# %% [markdown] role="solution" exercise="predict10"
# With W = 1 the slice is `keys[0:]`: nothing ever leaves, and soon the mask no longer fits. We know of no model
# with such a window, so it may never have hurt anybody; a test that begins at 1 meets it. The second is a mask made from columns: the sinks
# stand in the first ones and fall out of the band, one with each row. Token by token they stay
# (nearest report: ml-explore/mlx-lm#1914).

# %% [markdown] id="world-why"
# ## Your tests against the world
#
# Here three of your tests meet the course's ring and the caches of both libraries, where they are installed. An
# adapter reads off the attention what was seen; nothing else is changed. Then six recipes of `ringkv cases` are
# asked, with sinks where a cache has them. Whatever is refused is a difference from this course's rule, on the
# releases installed here.

# %% id="world" role="volatile"
scenes.world(catches_window, catches_keys, catches_flag)

# %% [markdown] id="end"
# ## What you have now
#
# - Eight tests that others can use: they need methods and no fields.
# - What made them good was nearly always the same: every window from 1 on, chunks and single tokens, a look after
#   each token, first and later, past the wrap, and **going on** after whatever happened.
# - Expectations written from the rule, never read off the cache.
# - What hides a bug: a window of 1, a full ring, a text that fits, padding on the left, rows that are alike, one
#   sequence, a length that is a multiple of W.
#
# `ringkv cases` aims 47 such recipes at any cache: `ringkv cases path/to/file.py:MyCache`
# (`course/known_bugs.md` lists the reports). Lesson 11 is the capstone: a budget, a conversation
# with hidden facts, and a policy of your own.

# %% id="save" role="volatile"
save_work(
    "catches_window", "catches_start", "catches_keys", "catches_half",
    "catches_flag", "catches_pads", "catches_keep", "catches_pool",
)  # fmt: skip
