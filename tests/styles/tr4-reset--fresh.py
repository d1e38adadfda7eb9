def start_again(rows, done):
    batch, heads, window, d = rows.keys.shape
    fresh = RingRows(batch, window, heads, d)
    wide = done[:, None, None, None]
    rows.keys[...] = torch.where(wide, fresh.keys, rows.keys)
    rows.values[...] = torch.where(wide, fresh.values, rows.values)
    rows.positions[...] = torch.where(done[:, None], fresh.positions, rows.positions)
    rows.seen *= ~done
