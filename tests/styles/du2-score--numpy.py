import numpy as np


def keep_by_score(memory, recent):
    while memory.used > memory.budget:
        masses = np.array([entry.mass for entry in memory.entries])
        masses[max(0, len(masses) - recent) :] = np.inf
        memory.drop(memory.entries[int(np.argmin(masses))])
