def score(q, k, query_position, key_position):
    return sum(a * b for a, b in zip(q, turned(k, key_position - query_position)))
