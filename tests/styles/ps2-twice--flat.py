from collections import Counter


def times_counted(newest, exact, summaries):
    everyone = Counter(exact)
    for first, last in summaries:
        everyone.update(range(first, last + 1))
    return tuple(everyone[position] for position in range(newest + 1))
