def my_policy(memory):
    newest = memory.entries[-1]
    last = {}
    for entry in memory.entries:
        if "=" in entry.text:
            last[entry.text.split("=")[0]] = entry
    keep = {id(entry) for entry in last.values()} | {id(newest)}
    for entry in list(memory.entries):
        if id(entry) not in keep:
            memory.drop(entry)
        elif entry.bits > 4 and entry is not newest:
            memory.shrink(entry, 4)
    while memory.used > memory.budget:
        memory.drop(memory.entries[0])
