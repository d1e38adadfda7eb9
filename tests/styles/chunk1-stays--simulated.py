def stays(seen, n, window, sinks, slack):
    in_slot = {}
    for position in range(seen, seen + n):  # one by one, the later over the earlier
        around = (position - sinks) % (window + slack)
        in_slot[position if position < sinks else sinks + around] = position
    return sorted((position, slot) for slot, position in in_slot.items())
