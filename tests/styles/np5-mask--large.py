def attend_seen(q, keys, values, positions, query_position, window):
    scores = keys @ q / np.sqrt(len(q))
    scores[positions == -1] = -1e9
    scores[positions > query_position] = -1e9
    scores[positions <= query_position - window] = -1e9
    weights = np.exp(scores - scores.max())
    return np.average(values, axis=0, weights=weights)
