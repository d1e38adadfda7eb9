def distances(positions):
    out = []
    for held in positions:
        out.append(max(positions) - held if held != -1 else None)
    return out
