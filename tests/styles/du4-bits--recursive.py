def fewer_bits(memory):
    if memory.used <= memory.budget:
        return
    older = memory.entries[:-1]
    widest = max((entry.bits for entry in older), default=4)
    if widest == 4:
        memory.drop(memory.entries[0])
    else:
        first = next(entry for entry in older if entry.bits == widest)
        memory.shrink(first, {32: 8, 8: 4}[widest])
    fewer_bits(memory)
