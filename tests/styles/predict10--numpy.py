import numpy as np

wrong_window = np.int64(1)
sinks_seen = (np.array([0, 1]), np.array([1]), np.array([], int))
