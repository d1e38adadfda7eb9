def no_mask_needed(positions, written, window, slack):
    return int(len([p for p in positions if p >= 0]) == len(positions) and slack == 0)
