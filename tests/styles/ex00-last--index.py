def last(tokens, window):
    first = max(0, len(tokens) - window)
    return [tokens[place] for place in range(first, len(tokens))]
