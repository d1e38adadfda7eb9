# %% [markdown] id="start"
# # 00 Start here
#
# This course teaches one idea to the bottom: **a sliding window is a ring, and a slot is not a
# position**. You will write the memory that lets a language model talk without end in a fixed
# number of bytes, first in plain Python, then in NumPy, then in torch, and finally inside a real
# model.
#
# This first lesson takes 15 minutes. It shows how the notebooks work, lets you try out five facts
# that lesson 01 relies on, and shows a cliff that you will cause yourself in lesson 07.
#
# Click a cell and press Shift+Enter to run it. Begin with the next one.

# %% id="setup"
from ringkv_edu.graded import draw, plain
from ringkv_edu.lesson import check, hint, show

# %% [markdown] id="cliff"
# ## A cliff
#
# A model read 2,560 tokens of English. Perplexity says how surprised it is by each next token: lower
# is better. Three runs differ only in which keys and values the model was allowed to keep.
#
# ![](figure:cliff.png)
#
# | tokens | keep everything | keep the last 256 | keep the last 252 and the first 4 |
# |---|---|---|---|
# | 0-128 | 22.76 | 22.76 | 22.76 |
# | 128-256 | 12.93 | 12.93 | 12.93 |
# | 256-512 | 13.06 | **39.14** | 13.46 |
# | 512-1024 | 8.71 | 19.27 | 9.92 |
# | 1024-2048 | 11.61 | 22.67 | 12.74 |
# | 2048-2560 | 10.37 | 26.64 | 12.21 |
#
# *Recorded* with SmolLM2-135M-Instruct on one text, not computed here; in lesson 07 you measure your
# own. At token 256 the window slides for the first time, token 0 leaves, and the model,
# which was trained without a window, stumbles. Four kept tokens mend most of it. Why the first four, of
# all tokens, gets its reason in lesson 07.

# %% [markdown] id="ring-why"
# ## The ring, live
#
# What keeps the last `W` tokens is a ring of slots. Step through it; after a click on the picture the arrow keys
# work, too. Above it each step is said in words. Under **predict** it asks for the slot of the next write before it
# shows it.

# %% id="ring-live" role="scene"
show("ring", tokens="to be or not to be that is the question".split(), window=4, step=6)

# %% [markdown] id="ex00-last-why"
# ## Exercise: the last W of a list
#
# *Difficulty 1 of 5 · 4 minutes · 1 point*
#
# Every exercise that earns points has the same four cells: this one (what and why), **your answer**, a
# **check** and a **graded cell**.
#
# Write `last(tokens, window)`. It gives the last `window` items of a list, oldest first, or all of
# them while there are fewer: a list. `window` is at least 1. The caller's list stays as it is.
#
# | `tokens` | `window` | result |
# |---|---|---|
# | `[5, 6, 7, 8, 9]` | 4 | `[6, 7, 8, 9]` |
# | `[5, 6, 7]` | 4 | `[5, 6, 7]` |


# %% id="ex00-last" role="answer"
def last(tokens, window):
    """The last `window` tokens, oldest first."""
    ### BEGIN SOLUTION
    return tokens[-window:]
    ### END SOLUTION


# %% [markdown] id="check-how"
# The check tells you at once whether it is right and, if not, which mistake it is. It earns no
# points, and you can run it as often as you like. Try a wrong answer on purpose, such as
# `tokens[:window]`, to see what it says.

# %% id="ex00-last-check" role="check"
check("ex00-last")
# hint("ex00-last", 1)    # remove the first # for a nudge; then 2 for a plan, 3 for nearly the code

# %% [markdown] id="graded-how"
# The graded cell prints what your code computes. What it printed for the right answer is stored
# below it until you run it. Instructors run it with another seed, so there is nothing to copy.
# You cannot edit it, and a changed copy is put back before grading.

# %% id="ex00-last-graded" role="graded" points=1
# Graded, 1 point.
SEED = 0
rng = draw(SEED, "ex00-last")
for window, count in ((1, 3), (4, 9), (7, 5), (rng.randrange(2, 9), rng.randrange(9, 12))):
    tokens = [rng.randrange(100) for _ in range(count)]
    print(plain(tokens), "window", window, "->", plain(last(list(tokens), window)))
    last(tokens, window)
    print("  the list afterwards", plain(tokens))

# %% [markdown] role="hint" exercise="ex00-last"
# Python counts a negative index from the end of a list: `tokens[-1]` is the last item.

# %% [markdown] role="hint" exercise="ex00-last"
# A slice takes a start: `tokens[-2:]` gives the last two items, and all of a list that is shorter
# than two.

# %% [markdown] role="hint" exercise="ex00-last"
# `return tokens[-window:]`. A slice makes a new list, so the caller's list is safe.

# %% [markdown] role="solution" exercise="ex00-last"
# A slice that starts before the beginning is cut there, so short lists need no special case.
# `tokens[len(tokens) - window:]` looks the same and is wrong for short lists: its start is negative
# and is then counted from the end. This list is also the simplest window there is. What is wrong
# with it as a cache is the subject of lesson 01.

# %% [markdown] id="ex00-diagnostic-why"
# ## Five facts to have at hand
#
# *Difficulty 1 of 5 · 6 minutes · no points*
#
# Work these out **in your head** and write the values in. The check explains the usual mistakes, and
# nothing is recorded against you.
#
# 1. `wraps_to`: the value of `14 % 4`.
# 2. `negative_wrap`: the value of `-1 % 4`.
# 3. `tail`: the value of `[0, 1, 2, 3, 4, 5][-3:]`.
# 4. `first_weight`: softmax turns scores into weights that add up to 1. What is the first weight for
#    the scores `[7.0, 7.0]`?
# 5. `keys_seen`: a causal model without a window lets each token look at itself and at everything
#    before it. How many keys does the token at position 9 see? Positions count from 0.

# %% id="ex00-diagnostic" role="answer"
### BEGIN SOLUTION
wraps_to = 2
negative_wrap = 3
tail = [3, 4, 5]
first_weight = 0.5
keys_seen = 10
### STUB
# wraps_to = ...
# negative_wrap = ...
# tail = ...
# first_weight = ...
# keys_seen = ...
### END SOLUTION

# %% id="ex00-diagnostic-check" role="check"
check("ex00-diagnostic")
# hint("ex00-diagnostic", 1)

# %% [markdown] role="hint" exercise="ex00-diagnostic"
# `a % b` is what is left of `a` after taking away as many whole `b` as fit. It is what turns a
# straight count into a walk round a circle.

# %% [markdown] role="hint" exercise="ex00-diagnostic"
# On a clock with four hours 0, 1, 2, 3: where are you after 14 steps from 0, and where one step
# *back* from 0? Equal scores must get equal weights, and there are two of them. Count the positions
# 0 to 9 on your fingers.

# %% [markdown] role="hint" exercise="ex00-diagnostic"
# After 14 steps you have gone round three times (12 steps) and 2 more. One step back from 0 is 3. The last
# three of six items have the indices 3, 4, 5. Two equal weights that add up to 1 are one half each.
# Ten fingers.

# %% [markdown] role="solution" exercise="ex00-diagnostic"
# `14 % 4` is 2 and `-1 % 4` is 3: in Python the result has the sign of the divisor, so a step back
# from slot 0 lands on the last slot, as on a real ring. The other three are the slice, the softmax
# and the causal mask that lesson 01 is made of.

# %% [markdown] id="next"
# ## Where to go from here
#
# Open `01_plain_python_ring.ipynb`. A few things that help:
#
# - Write everything an answer needs **into its answer cell**: when a notebook is graded, only the
#   answer cells are taken from it.
# - `ringkv status`, in a terminal, shows how far you are; `ringkv check` grades one notebook.
# - `ringkv reset 01` gives you a fresh lesson and keeps your old file beside it.
# - A kernel that hangs: Kernel > Restart. The check survives endless loops in Python code, but not
#   those inside a library.
