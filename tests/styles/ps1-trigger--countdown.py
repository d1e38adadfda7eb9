class SlidingWindowCache:
    def __init__(self, window_size, summary_interval):
        self.window_size = window_size
        self.summary_interval = summary_interval
        self.window = []
        self.points = []
        self.left = summary_interval

    def add(self, token):
        self.window = [*self.window, token][-self.window_size :]
        self.left -= 1
        if self.left == 0:
            self.points.append((len(self.points) + 1) * self.summary_interval)
            self.left = self.summary_interval
