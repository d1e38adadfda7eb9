def keep_by_score(memory, recent):
    older = sorted(memory.entries[:-recent], key=lambda e: (e.mass, e.position))
    for entry in older + memory.entries[-recent:]:
        if memory.used <= memory.budget:
            return
        memory.drop(entry)
