order = ("retrieval", "window + sinks", "window", "summaries")
