def query_sees(query, window, sinks, block):
    exact, blocks = [], []
    for position in range(query + 1):
        if position < sinks or query - position < window:
            exact.append(position)
        elif not blocks or len(blocks[-1]) == block:
            blocks.append([position])
        else:
            blocks[-1].append(position)
    return [exact, blocks]
