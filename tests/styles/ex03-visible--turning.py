def visible(ring):
    slots = list(range(ring.window_size))
    in_time = slots[ring.head :] + slots[: ring.head]
    entries = []
    for s in in_time:
        if ring.keys[s] is None:
            continue
        entries.append(
            Entry(ring.keys[s], ring.values[s], ring.positions[s], ring.insert_count[s], s)
        )
    return entries
