class TokenRing:
    def __init__(self, window):
        self.window = window
        self.slots = torch.full((window,), -1)
        self.token = torch.zeros(1, dtype=torch.int64)
        self.seen = torch.zeros(1, dtype=torch.int64)

    def write(self):
        self.slots[self.seen % self.window] = self.token
        self.seen += 1

    def reset(self):
        self.slots.fill_(-1)
        self.seen.fill_(0)
