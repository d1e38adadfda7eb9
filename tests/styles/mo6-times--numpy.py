def latencies(arrived, steps):
    out = {}
    for name, asked in arrived.items():
        times = np.array([end for end, names in steps if name in names])
        ttft = times[0] - asked if times.size else None
        out[name] = (ttft, np.diff(times).mean() if times.size > 1 else None)
    return out


def throughput(arrived, steps):
    given = np.concatenate([np.array(names) for _, names in steps])
    return given.size / (steps[-1][0] - np.min(list(arrived.values())))
