def keep_sinks(memory, sinks):
    def goes_first(entry):
        if entry.position < sinks:
            return (1, -entry.position)
        return (0, entry.position)

    while memory.used > memory.budget and len(memory.entries) > 1:
        memory.drop(min(memory.entries[:-1], key=goes_first))
