def place_of(table, entries, size, position):
    slot = position % (entries * size)
    return table[slot // size], slot % size
