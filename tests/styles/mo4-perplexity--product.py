def perplexity(logits, tokens):
    inverse = 1.0
    for row, token in zip(logits[:-1], list(tokens)[1:]):
        inverse *= np.exp(np.asarray(row) - row[token]).sum()
    return inverse ** (1 / (len(tokens) - 1))
