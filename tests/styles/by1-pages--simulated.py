def pages_needed(window, size):
    most = 0
    for first in range(size):  # wherever on a page the window begins
        most = max(most, len({position // size for position in range(first, first + window)}))
    return most


def leaving(table, position, window, size):
    seen = range(position - window + 1, position + 10 * window + 1)  # by this query or a later one
    return {block for block in table if all(p not in seen for p in places(block, size))}


def places(block, size):
    return range(block * size, (block + 1) * size)
