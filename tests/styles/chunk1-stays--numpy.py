import numpy as np


def stays(seen, n, window, sinks, slack):
    positions = np.arange(seen, seen + n)
    kept = positions[(positions < sinks) | (positions > positions[-1] - window - slack)]
    slots = np.where(kept < sinks, kept, sinks + (kept - sinks) % (window + slack))
    return np.stack([kept, slots], axis=1)
