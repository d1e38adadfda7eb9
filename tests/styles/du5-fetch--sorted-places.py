def fetch(memory, query):
    scores = memory.search(query)
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    for entry in [memory.archive[at] for at in order]:
        if memory.used + entry.nbytes > memory.budget:
            break
        memory.fetch(entry)
