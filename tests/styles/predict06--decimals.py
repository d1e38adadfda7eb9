import numpy as np

without = 0.059
with_log = np.exp(np.log(16)) / 32
