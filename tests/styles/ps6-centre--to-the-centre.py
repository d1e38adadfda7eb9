from ringkv_edu.given_rope import turned


def block_key(keys, positions):
    centre = (positions[0] + positions[-1]) / 2
    return sum(turned(key, centre - at) for key, at in zip(keys, positions)) / len(positions)
