def query_turns(positions, query, window, sinks):
    def seen(p):
        return 0 <= p <= query and (p < sinks or p > query - window)

    # the query's rank: how many of the tokens that a full cache would show are older
    rank = sum(seen(p) for p in range(query))
    return [None if not seen(p) else rank if p < sinks else query for p in positions]
