class TokenRing:
    def __init__(self, window):
        self.window = window
        self.slots = torch.full((window,), -1)
        self.token = torch.zeros(1, dtype=torch.int64)
        self.seen = torch.zeros((), dtype=torch.int64)

    def write(self):
        here = torch.arange(self.window) == self.seen % self.window
        self.slots.copy_(torch.where(here, self.token, self.slots))
        self.seen.copy_(self.seen + 1)

    def reset(self):
        self.slots *= 0
        self.slots -= 1
        self.seen -= self.seen
