def last(tokens, window):
    kept = list(tokens)
    while len(kept) > window:
        del kept[0]
    return kept
