import numpy as np


def one_group(group):
    low, high = min(group), max(group)
    scale = (high - low) / 255
    return [round((x - low) / scale) if scale else 0 for x in group], scale, low


def quantized_block(keys, values):
    heads, tokens, head_dim = keys.shape
    k, v = np.zeros(keys.shape, np.uint8), np.zeros(values.shape, np.uint8)
    k_scale, k_low = np.zeros((2, heads, 1, head_dim))
    v_scale, v_low = np.zeros((2, heads, tokens, 1))
    for head in range(heads):
        for channel in range(head_dim):
            found = one_group(keys[head, :, channel].tolist())
            k[head, :, channel], k_scale[head, 0, channel], k_low[head, 0, channel] = found
        for token in range(tokens):
            found = one_group(values[head, token].tolist())
            v[head, token], v_scale[head, token, 0], v_low[head, token, 0] = found
    return [k, k_scale, k_low], [v, v_scale, v_low]


def restored(numbers, scale, low):
    return numbers * scale + low
