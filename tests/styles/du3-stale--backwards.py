def stale(entries):
    seen, found = set(), []
    for entry in reversed(entries):
        name, is_fact, _ = entry.text.partition("=")
        if is_fact and name in seen:
            found.append(entry.position)
        if is_fact:
            seen.add(name)
    return found[::-1]
