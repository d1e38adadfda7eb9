def visible(ring):
    def entries():
        for write in range(max(0, ring.num_writes - ring.window_size), ring.num_writes):
            s = write % ring.window_size
            yield Entry(
                tuple(ring.keys[s]),
                list(ring.values[s]),
                ring.positions[s],
                ring.insert_count[s],
                s,
            )

    return list(entries())
