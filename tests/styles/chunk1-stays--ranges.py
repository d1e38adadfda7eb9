def stays(seen, n, window, sinks, slack):
    end, ring = seen + n, window + slack
    pairs = [[p, p] for p in range(seen, min(sinks, end))]
    slot = None
    for p in range(max(seen, sinks, end - ring), end):
        slot = sinks + (p - sinks) % ring if slot is None else slot + 1
        slot = sinks if slot == sinks + ring else slot
        pairs.append([p, slot])
    return iter(pairs)
