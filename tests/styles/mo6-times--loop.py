def latencies(arrived, steps):
    first, last, count = {}, {}, {}
    for end, names in steps:
        for name in names:
            first.setdefault(name, end)
            last[name] = end
            count[name] = count.get(name, 0) + 1
    out = {}
    for name in arrived:
        if name not in count:
            out[name] = [None, None]
        elif count[name] == 1:
            out[name] = [first[name] - arrived[name], None]
        else:
            waits = count[name] - 1
            out[name] = [first[name] - arrived[name], (last[name] - first[name]) / waits]
    return out


def throughput(arrived, steps):
    tokens = 0
    for _, names in steps:
        tokens += len(names)
    return tokens / (max(end for end, _ in steps) - sorted(arrived.values())[0])
