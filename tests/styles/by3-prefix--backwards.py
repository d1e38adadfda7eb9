import math


def prefix_hit(held, size, window):
    blocks = len(held)
    while blocks > 0:
        need = blocks if window is None else min(blocks, math.ceil((window - 1) / size))
        if sum(map(bool, held[blocks - need : blocks])) == need:
            return blocks * size
        blocks -= 1
    return 0


def hybrid_hit(everything, sliding, size, window):
    for blocks in range(len(everything), 0, -1):
        need = min(blocks, math.ceil((window - 1) / size))
        if all(everything[:blocks]) and all(sliding[blocks - need : blocks]):
            return blocks * size
    return 0
