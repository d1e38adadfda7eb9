def write_rows(rows, k, v):
    slot = rows.seen.remainder(rows.window)
    index = slot.view(-1, 1, 1, 1).expand(-1, k.shape[1], 1, k.shape[2])
    rows.keys.scatter_(2, index, k.unsqueeze(2))
    rows.values.scatter_(2, index, v.unsqueeze(2))
    rows.positions.scatter_(1, slot[:, None], rows.seen[:, None])
    rows.seen.add_(1)
