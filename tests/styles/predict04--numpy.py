import numpy as np

W = 6
first_wrong = np.int64(W)
right_again = 2.0 * W - 1
