def start_again(rows, done):
    rows.keys[done] = 0
    rows.values[done] = 0
    rows.positions[done] = -1
    rows.seen[done] = 0
