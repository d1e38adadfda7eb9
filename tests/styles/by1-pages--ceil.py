from math import ceil


def pages_needed(window, size):
    return 1 + ceil((window - 1) / size)


def leaving(table, position, window, size):
    first_kept = (position - window + 1) // size
    return sorted((block for block in table if block < first_kept), reverse=True)
