import numpy as np


class Summary:
    def __init__(self, head_dim):
        self.total = np.zeros(head_dim)
        self.number = 0

    def add(self, key):
        self.total += key
        self.number += 1

    def read(self):
        return (self.total / max(self.number, 1)).astype(np.float16)
