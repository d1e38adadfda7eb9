def packed_mask(sequence, positions, window):
    back = positions.unsqueeze(1).sub(positions.unsqueeze(0))
    same = sequence.unsqueeze(1).sub(sequence.unsqueeze(0)).abs() == 0
    real = (sequence > -1).long()
    both = torch.outer(real, real)
    return same.long() * both * (back > -1).long() * (back <= window - 1).long() == 1
