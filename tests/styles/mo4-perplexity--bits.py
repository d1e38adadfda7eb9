import math


def perplexity(logits, tokens):
    bits = 0.0
    for place in range(1, len(tokens)):
        row = [float(x) for x in logits[place - 1]]
        top = max(row)
        total = math.fsum(math.exp(x - top) for x in row)
        bits -= (row[tokens[place]] - top) / math.log(2) - math.log2(total)
    return 2 ** (bits / (len(tokens) - 1))
