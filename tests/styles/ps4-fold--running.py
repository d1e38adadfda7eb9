import numpy as np


def fold(bank, vector):
    if len(bank.counts) and bank.counts[-1] != bank.block and bank.counts[-1] < bank.block:
        bank.counts[-1] += 1
        bank.means[-1] = bank.means[-1] + (vector - bank.means[-1]) / bank.counts[-1]
    else:
        if len(bank.means) >= bank.slots:
            first, second = bank.counts.pop(0), bank.counts.pop(0)
            a, b = bank.means.pop(0), bank.means.pop(0)
            bank.counts.insert(0, first + second)
            bank.means.insert(0, np.average([a, b], axis=0, weights=[first, second]))
        bank.means.append(np.array(vector))
        bank.counts.append(1)
