import numpy as np


def stale(entries):
    facts = [e for e in entries if e.text.count("=")]
    names = np.array([e.text.split("=")[0] for e in facts])
    later = [np.any(names[at + 1 :] == name) for at, name in enumerate(names)]
    return np.array([e.position for e in facts], dtype=int)[np.array(later, dtype=bool)]
