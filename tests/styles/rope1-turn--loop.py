from math import cos, sin


def rotate(x, position, base=10000.0):
    d = len(x)
    out = [0.0] * d
    for i in range(d // 2):
        angle = position / base ** (2 * i / d)
        out[i] = x[i] * cos(angle) - x[i + d // 2] * sin(angle)
        out[i + d // 2] = x[i] * sin(angle) + x[i + d // 2] * cos(angle)
    return out
