import numpy as np

left, said = 2, []
for take, write in ((1, 0), (2, 3), (2, 0), (1, 1), (2, 1), (2, 0)):
    said.append(take <= left)
    left = min(2, left - take * (take <= left) + write)
allowed = np.array(said)
