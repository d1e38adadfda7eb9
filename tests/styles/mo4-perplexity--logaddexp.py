def perplexity(logits, tokens):
    logits = np.asarray(logits)[:-1]
    wanted = np.take_along_axis(logits, np.asarray(tokens)[1:, None], axis=1)[:, 0]
    return np.exp(np.mean(np.logaddexp.reduce(logits, axis=1) - wanted))
