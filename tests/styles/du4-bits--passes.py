def fewer_bits(memory):
    for bits in (8, 4):
        for entry in memory.entries[:-1]:
            if memory.used <= memory.budget:
                return
            if entry.bits > bits:
                memory.shrink(entry, bits)
    while memory.used > memory.budget:
        memory.drop(memory.entries[0])
