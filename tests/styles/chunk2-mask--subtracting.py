import numpy as np


def chunk_mask(positions, seen, n, window, sinks):
    held = np.append(positions, range(seen, seen + n))
    back = np.subtract.outer(np.arange(seen, seen + n), held)
    mask = (back >= 0) & (back < window)
    mask[:, (held >= 0) & (held < sinks)] |= back[:, (held >= 0) & (held < sinks)] >= 0
    mask[:, held == -1] = False
    return mask.astype(float)
