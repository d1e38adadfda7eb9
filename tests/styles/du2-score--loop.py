def keep_by_score(memory, recent):
    while memory.used > memory.budget:
        count = len(memory.entries) - recent
        if count <= 0:
            memory.drop(memory.entries[0])
            continue
        least = memory.entries[0]
        for entry in memory.entries[:count]:
            if entry.mass < least.mass:
                least = entry
        memory.drop(least)
