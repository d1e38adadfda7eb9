def write_rows(rows, k, v):
    for row in range(k.shape[0]):
        slot = rows.seen[row : row + 1] % rows.window
        rows.keys[row].index_copy_(1, slot, k[row, :, None])
        rows.values[row].index_copy_(1, slot, v[row, :, None])
        rows.positions[row].index_copy_(0, slot, rows.seen[row : row + 1])
        rows.seen[row] += 1
