def write_rows(rows, k, v):
    here = torch.nn.functional.one_hot(rows.seen % rows.window, rows.window).bool()
    rows.keys[:] = torch.where(here[:, None, :, None], k[:, :, None], rows.keys)
    rows.values[:] = torch.where(here[:, None, :, None], v[:, :, None], rows.values)
    rows.positions.copy_(torch.where(here, rows.seen[:, None], rows.positions))
    rows.seen[:] = rows.seen + 1
