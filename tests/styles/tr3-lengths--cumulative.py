def chunk_positions(seen, lengths, n, padding):
    column = torch.arange(n).expand(len(seen), n)
    real = column < lengths[:, None] if padding == "right" else column >= n - lengths[:, None]
    count = real.long().cumsum(1)
    return (seen[:, None] + count - 1).masked_fill(~real, -1), seen.clone().add_(lengths)
