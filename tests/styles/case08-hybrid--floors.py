def requests_at_once(windows, longest, page, pages):
    def blocks(tokens):
        return -(-tokens // page)

    each = sum(min(blocks(longest), blocks((w or longest + 1) - 1) + 1) for w in windows)
    return int(pages / each)
