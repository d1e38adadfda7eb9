from collections import deque
from itertools import count


class SlidingWindowCache:
    def __init__(self, window_size, summary_interval):
        self.window = deque(maxlen=window_size)
        self.interval = summary_interval
        self.numbers = count(1)
        self.points = ()

    def add(self, token):
        self.window.append(token)
        number = next(self.numbers)
        if not number % self.interval:
            self.points += (number,)
