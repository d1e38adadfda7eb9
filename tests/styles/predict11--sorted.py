recall = {"window": 0.49, "window + sinks": 0.72, "summaries": 0.33, "retrieval": 0.80}
order = sorted(recall, key=recall.get, reverse=True)
