class my_policy:
    """Facts in 8 bits, found by name; the disk is never asked."""

    def __init__(self):
        self.named = {}

    def __call__(self, memory):
        newest = memory.entries[-1]
        for entry in list(memory.entries[:-1]):
            if "=" not in entry.text:
                memory.drop(entry)
        name, fact, _ = newest.text.partition("=")
        if fact:
            old = self.named.get(name)
            if old is not None and any(old is entry for entry in memory.entries):
                memory.drop(old)
            self.named[name] = newest
        for bits in (8, 4):
            for entry in memory.entries[:-1]:
                if memory.used > memory.budget and entry.bits > bits:
                    memory.shrink(entry, bits)
        while memory.used > memory.budget:
            memory.drop(memory.entries[0])
