next_slot = 2
still_there = {9, 8, 7, 6}
