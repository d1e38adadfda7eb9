def distances(positions):
    newest = max(positions)
    return (newest - held if held > -1 else None for held in positions)
