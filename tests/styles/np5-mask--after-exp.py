def attend_seen(q, keys, values, positions, query_position, window):
    lowest = max(0, query_position - window + 1)
    seen = (lowest <= positions) & (positions <= query_position)
    scores = keys @ q * len(q) ** -0.5
    weights = np.exp(np.minimum(scores - scores[seen].max(), 0)) * seen  # masked before the sum
    return (weights / weights.sum()) @ values
