from random import Random

import numpy as np

rng = Random(7)
keys = np.array([rng.gauss(0, 1) for _ in range(64 * 32)]).reshape(64, 32)
keys[:, 3] = 60 + 20 * keys[:, 3]
errors = {}
for name, along in (("tensor", (0, 1)), ("token", 1), ("channel", 0)):
    low, high = keys.min(along, keepdims=True), keys.max(along, keepdims=True)
    scale = (high - low) / 255
    back = low + scale * np.rint((keys - low) / scale)
    errors[name] = np.linalg.norm(np.delete(back - keys, 3, axis=1))
order = sorted(errors, key=errors.get)
ratio = errors["token"] / errors["channel"]
times = np.array([1, 14, 250])[np.abs(np.log(np.array([1, 14, 250]) / ratio)).argmin()]
at_once = "token"
