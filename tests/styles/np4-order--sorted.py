def time_order(positions):
    stored = [slot for slot in range(len(positions)) if positions[slot] >= 0]
    return sorted(stored, key=lambda slot: positions[slot])
