def visible(ring):
    used = [slot for slot in range(ring.window_size) if ring.insert_count[slot] >= 0]
    used.sort(key=lambda slot: ring.insert_count[slot])
    return tuple(
        Entry(
            key=ring.keys[slot],
            value=ring.values[slot],
            position=ring.positions[slot],
            insert_seq=ring.insert_count[slot],
            physical_slot=slot,
        )
        for slot in used
    )
