def spread(run, tokens, at):
    changed = np.array(tokens)
    changed[at] = (changed[at] + 3) % 10
    return tuple(
        np.nonzero(np.abs(a - b).sum(axis=1))[0].max() for a, b in zip(run(tokens), run(changed))
    )


def reach(windows, position):
    if any(window is None for window in windows):
        return 0
    return max(position + len(windows) - sum(windows), 0)
