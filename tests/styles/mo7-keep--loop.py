def keep(tokens, budget, system):
    if len(tokens) <= budget:
        return range(len(tokens))
    cut = system + len(tokens) - budget
    start = cut
    while start < len(tokens) and tokens[start - 1][-1] not in ".!?":
        start += 1
    if start == len(tokens):
        start = cut
    return [*range(system), *range(start, len(tokens))]
