def no_mask_needed(positions, written, window, slack):
    filled = 0
    for position in positions:
        if position != -1:
            filled += 1
    return filled == window + (len(positions) - window) and slack < 1
