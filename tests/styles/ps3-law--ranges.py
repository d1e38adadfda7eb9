import numpy as np


def query_sees(query, window, sinks, block):
    edge = max(sinks, query - window + 1)
    exact = [*range(min(sinks, query + 1)), *range(edge, query + 1)]
    starts = np.arange(sinks, edge, block)
    return exact, [range(start, min(start + block, edge)) for start in starts]
