def requests_at_once(windows, longest, page, pages):
    def touched(window):
        if window is None or window >= longest:
            return (longest - 1) // page + 1
        starts = range(min(page, longest - window + 1))  # the pages look the same from there on
        return max((first + window - 1) // page - first // page + 1 for first in starts)

    left, count = pages - sum(map(touched, windows)), 0
    while left >= 0:
        count, left = count + 1, left - sum(map(touched, windows))
    return count
