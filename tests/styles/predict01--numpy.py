import numpy as np

next_slot = np.int64(3)
still_there = np.arange(13)[::-1][:5]
