def readable_slots(positions, query_position, window):
    def readable(slot):
        return 0 <= positions[slot] <= query_position < positions[slot] + window

    return filter(readable, range(len(positions)))
