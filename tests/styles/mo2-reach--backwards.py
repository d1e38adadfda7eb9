def spread(run, tokens, at):
    before = run(tokens)
    after = run([9 - token if place == at else token for place, token in enumerate(tokens)])
    found = []
    for old, new in zip(before, after):
        position = len(tokens) - 1
        while np.allclose(old[position], new[position], rtol=0, atol=1e-12):
            position -= 1
        found.append(position)
    return found


def reach(windows, position):
    for window in reversed(windows):
        position = 0 if window is None else max(0, position - window + 1)
    return position
