import numpy as np

wraps_to = np.int64(14) % 4
negative_wrap = np.mod(-1, 4)
tail = np.arange(6)[-3:]
first_weight = np.float64(0.5)
keys_seen = 10.0
