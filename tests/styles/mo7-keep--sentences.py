import re


def keep(tokens, budget, system):
    n = len(tokens)
    if n <= budget:
        return np.arange(n)
    sentences, current = [], []
    for position in range(system, n):
        current.append(position)
        if re.search(r"[.!?]$", tokens[position]):
            sentences.append(current)
            current = []
    if current:
        sentences.append(current)
    chosen = []
    for sentence in reversed(sentences):
        if len(sentence) + len(chosen) > budget - system:
            break
        chosen = sentence + chosen
    return list(range(system)) + (chosen or list(range(n - (budget - system), n)))
