"""A wrong answer for one exercise of each lesson or more, and words of the mistake it is named as."""

from __future__ import annotations

WRONG = {
    "ex00-last": ("def last(tokens, window):\n    return tokens[len(tokens) - window:]",
                  "goes below 0 while the list is still short"),
    "ex02-append": ("def append(ring, key, value, position):\n    while True:\n        pass",
                    "a loop that never ends"),
    "ex03-visible": ("def visible(ring):\n    return [Entry(ring.keys[s], ring.values[s], "
                     "ring.positions[s], ring.insert_count[s], s) for s in range(ring.window_size) "
                     "if ring.positions[s] >= 0]", "the order of slots is given as the order of time"),
    "ex05-edge": ("def sees(query_position, key_position, window):\n"
                  "    return 0 <= query_position - key_position <= window",
                  "the window is one too wide, as if written t - W"),
    "ex07-distance": ("def distances(positions):\n    newest = positions.index(max(positions))\n"
                      "    return [None if p < 0 else newest - s for s, p in enumerate(positions)]",
                      "the slot is used as the position"),
    "np5-mask": ("def attend_seen(q, keys, values, positions, query_position, window):\n"
                 "    weights = np.exp(keys @ q / np.sqrt(len(q)))\n"
                 "    return weights @ values / weights.sum()", "no mask"),
    "np6-groups": ("def attend_groups(q, keys, values, mask):\n"
                   "    keys, values = (np.concatenate([x] * (len(q) // len(x))) for x in (keys, values))\n"
                   "    scores = np.einsum('hd,hsd->hs', q, keys) / np.sqrt(q.shape[1])\n"
                   "    weights = np.where(mask, np.exp(scores - scores.max()), 0)\n"
                   "    return np.einsum('hs,hsd->hd', weights, values) / weights.sum(1)[:, None]",
                   "h % kv_heads"),
    "chunk3-step": ("def step(ring, q, k, v):\n"
                    "    new = np.arange(ring.seen, ring.seen + k.shape[1])\n"
                    "    place(ring, k, v)\n"
                    "    return attend_at(new, q, ring.positions, ring.keys, ring.values,\n"
                    "                     ring.window, ring.sinks)",
                    "the chunk is written before it attends"),
    "chunk4-rewind": ("def rewind(ring, n):\n    ring.seen -= n\n"
                      "    gone = ring.positions >= ring.seen\n    ring.positions[gone] = -1\n"
                      "    ring.keys[:, gone] = ring.values[:, gone] = 0", "nothing is ever refused"),
    "tr1-write": ("def write_rows(rows, k, v):\n    slot = rows.seen[:1] % rows.window\n"
                  "    rows.keys.index_copy_(2, slot, k[:, :, None])\n"
                  "    rows.values.index_copy_(2, slot, v[:, :, None])\n"
                  "    rows.positions.index_copy_(1, slot, rows.seen[:, None])\n    rows.seen += 1",
                  "row 0's cursor serves every row"),
    "tr5-leak": ("def packed_mask(sequence, positions, window):\n"
                 "    distance = positions[:, None] - positions[None, :]\n"
                 "    return (distance >= 0) & (distance < window)", "sequence"),
    "ps5-log-n": ("def attend_summaries(q, keys, values, summary_keys, summary_values, counts):\n"
                  "    full = counts > 0\n"
                  "    blurred = summary_keys[full] @ q + np.log(counts[full])\n"
                  "    scores = np.concatenate([keys @ q, blurred]) / np.sqrt(len(q))\n"
                  "    weights = np.exp(scores - scores.max())\n"
                  "    both = np.concatenate([values, summary_values[full]])\n"
                  "    return weights / weights.sum() @ both", "log n is added before scaling"),
    "rope4-write": ("def write(ring, k, v):\n    slot = ring.seen % ring.window\n"
                    "    ring.keys[:, slot] = turned(k, slot)\n    ring.values[:, slot] = v\n"
                    "    ring.positions[slot] = ring.seen\n    ring.seen += 1\n\n\n"
        "def read(ring, q):\n    query = turned(q, ring.seen - 1)\n"
        "    found = (ring.keys * query[:, None]).sum(axis=2) / np.sqrt(q.shape[1])\n"
        "    return np.where(ring.positions >= 0, found, -np.inf)",
                    "the key is turned to its slot"),
    "bg3-floor": ("def step_seconds(weights, token, window, lengths, bandwidth):\n"
                  "    read = sum(n if window is None else min(n, window) for n in lengths)\n"
                  "    return (weights * len(lengths) + token * read) / bandwidth\n\n\n"
        "def tokens_a_second(weights, token, window, lengths, bandwidth):\n"
        "    return len(lengths) / step_seconds(weights, token, window, lengths, bandwidth)",
                  "one reading serves the whole batch"),
    "by1-pages": ("def pages_needed(window, size):\n    return -(-(window - 1) // size) + 1\n\n\n"
        "def leaving(table, position, window, size):\n"
        "    return [block for block in table if block * size < position - window + 1]",
                  "a page goes back when its first token leaves"),
    "cf2-start": ("def catches_start(Cache):\n    for window in range(1, 7):\n"
                  "        cache = Cache(window)\n        for n in range(20):\n"
                  "            cache.write(n)\n            last = range(max(0, n - window + 1), n + 1)\n"
                  "            assert list(cache.read()) == list(last)\n\n\n"
        "MendedStart = RollingStart", "the class is as it was reported"),
    "du2-score": ("def keep_by_score(memory, recent):\n    while memory.used > memory.budget:\n"
                  "        memory.drop(min(memory.entries, key=lambda entry: entry.mass))",
                  "the newest tokens are weighed like the others"),
}  # fmt: skip
