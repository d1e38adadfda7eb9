def last(tokens, window):
    skipped = max(0, len(tokens) - window)
    yield from (token for place, token in enumerate(tokens) if place >= skipped)
