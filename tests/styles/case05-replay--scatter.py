class TokenRing:
    def __init__(self, window):
        self.window = window
        self.slots = torch.full((window,), -1)
        self.token = torch.zeros(1, dtype=torch.int64)
        self.seen = torch.tensor([0])

    def write(self):
        self.slots.scatter_(0, self.seen % self.window, self.token)
        self.seen.add_(1)

    def reset(self):
        self.slots[:] = -1
        self.seen[:] = 0
