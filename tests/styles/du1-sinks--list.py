def keep_sinks(memory, sinks):
    older = list(memory.entries)[:-1]
    first = [e for e in older if e.position < sinks]
    queue = [e for e in older if e.position >= sinks] + first[::-1]
    for entry in queue:
        if memory.used <= memory.budget:
            break
        memory.drop(entry)
