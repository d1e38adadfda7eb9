def time_order(positions):
    return [slot for position, slot in sorted(zip(positions.tolist(), range(99))) if position != -1]
