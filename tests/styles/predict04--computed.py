def right(newest, window=6):
    held = range(max(0, newest - window + 1), newest + 1)
    return all(newest % window - p % window == newest - p for p in held)


first_wrong = next(t for t in range(100) if not right(t))
right_again = next(t for t in range(first_wrong, 100) if right(t))
