from collections import deque


def last(tokens, window):
    return list(deque(tokens, maxlen=window))
