import numpy as np


def fetch(memory, query):
    left = list(zip(memory.search(query), list(memory.archive), strict=True))
    while left:
        at = int(np.argmax([score for score, _ in left]))
        _, entry = left.pop(at)
        if entry.nbytes > memory.budget - memory.used:
            return
        memory.fetch(entry)
