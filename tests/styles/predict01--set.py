next_slot = 3
still_there = {12, 11, 10, 9, 8}
