def packed_mask(sequence, positions, window):
    rows = []
    for i in range(len(sequence)):
        own = sequence.eq(sequence[i]) & sequence.ne(-1)
        back = positions[i] - positions
        rows.append(own & back.ge(0) & back.lt(window))
    return torch.stack(rows)
