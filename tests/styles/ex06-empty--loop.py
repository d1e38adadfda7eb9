def readable_slots(positions, query_position, window):
    first = max(0, query_position - window + 1)
    slots = []
    for slot in range(len(positions)):
        if positions[slot] in range(first, query_position + 1):
            slots.append(slot)
    return slots
