import numpy as np


def no_mask_needed(positions, written, window, slack):
    return np.min(positions) > -1 and not slack
