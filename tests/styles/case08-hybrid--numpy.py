import numpy as np


def requests_at_once(windows, longest, page, pages):
    whole = int(np.ceil(longest / page))
    sliding = np.array([w for w in windows if w is not None], int)
    needed = np.minimum(whole, 1 + np.ceil((sliding - 1) / page)).sum()
    needed += whole * (len(windows) - len(sliding))
    return int(pages // needed)
