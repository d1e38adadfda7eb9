W = 256
first_query = next(q for q in range(1000) if 0 not in range(q - W + 1, q + 1))
first_scored = first_query + 1
first_lost = min(set(range(4, 1000)))
lost_at = next(q for q in range(first_lost, 1000) if q - first_lost >= 252)
