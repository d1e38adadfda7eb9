def fold(bank, vector):
    sums = [mean * n for mean, n in zip(bank.means, bank.counts)] + [1.0 * vector]
    counts = [*bank.counts, 1]
    if len(counts) > 1 and counts[-2] < bank.block:
        sums[-2:], counts[-2:] = [sums[-2] + sums[-1]], [counts[-2] + 1]
    elif len(counts) > bank.slots:
        sums[:2], counts[:2] = [sums[0] + sums[1]], [counts[0] + counts[1]]
    bank.means = [total / n for total, n in zip(sums, counts)]
    bank.counts = counts
