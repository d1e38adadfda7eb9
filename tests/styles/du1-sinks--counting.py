def keep_sinks(memory, sinks):
    over = memory.used - memory.budget
    while over > 0:
        place = 0
        while place < len(memory.entries) - 1 and memory.entries[place].position < sinks:
            place += 1
        if place == len(memory.entries) - 1:
            place -= 1
        over -= memory.entries[place].nbytes
        memory.drop(memory.entries[place])
