def chunk_positions(seen, lengths, n, padding):
    if padding == "left":
        turned, after = chunk_positions(seen, lengths, n, "right")
        start = n - lengths
        from_column = (torch.arange(n)[None] - start[:, None]) % n
        return turned.gather(1, from_column), after
    positions = seen.view(-1, 1) + torch.arange(n)
    end = (seen + lengths).view(-1, 1)
    return [torch.where(positions < end, positions, torch.full_like(positions, -1)), end[:, 0]]
