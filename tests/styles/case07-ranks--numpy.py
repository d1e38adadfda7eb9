def query_turns(positions, query, window, sinks):
    keys = np.asarray(positions)
    sink = (keys >= 0) & (keys < sinks) & (keys <= query)
    near = (keys >= 0) & (keys <= query) & (query - keys < window)
    out = np.full(len(keys), None)
    out[near] = query
    out[sink] = query if query < sinks + window else sinks + window - 1
    return out.tolist()
