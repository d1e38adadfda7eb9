def attend_seen(q, keys, values, positions, query_position, window):
    seen = np.isin(positions, np.arange(max(0, query_position - window + 1), query_position + 1))
    keys, values = keys[seen], values[seen]
    scores = keys @ q / np.sqrt(len(q))
    weights = np.exp(scores - scores.max())
    return weights @ values / weights.sum()
