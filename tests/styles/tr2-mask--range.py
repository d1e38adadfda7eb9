def rows_mask(positions, seen, window):
    last = (seen - 1).unsqueeze(1)
    first = (last - window + 1).clamp(min=0)
    return positions.ge(first) & positions.le(last) & (last >= 0)
