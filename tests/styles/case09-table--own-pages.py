def place_of(table, entries, size, position):
    own = table[:entries][::-1]  # any order will do
    return [own[(position // size) % len(own)], position % size]
