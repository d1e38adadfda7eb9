def rows_mask(positions, seen, window):
    rows = []
    for held, count in zip(positions, seen):
        back = count - 1 - held
        rows.append((held >= 0) * (back >= 0) * (back < window))
    return torch.stack(rows)
