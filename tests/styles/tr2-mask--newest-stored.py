def rows_mask(positions, seen, window):
    newest = positions.max(dim=1, keepdim=True).values
    return torch.logical_and(positions > newest - window, positions != -1)
