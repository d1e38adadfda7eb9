def stale(entries):
    def name(entry):
        return entry.text[: entry.text.index("=")]

    facts = [e for e in entries if "=" in e.text]
    return [
        old.position
        for at, old in enumerate(facts)
        if any(name(new) == name(old) for new in facts[at + 1 :])
    ]
