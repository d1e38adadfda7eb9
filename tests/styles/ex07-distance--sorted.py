def distances(positions):
    newest = sorted(positions)[-1]
    return tuple([newest - held, None][held == -1] for held in positions)
