next_slot = 10 % 4
still_there = list(range(10))[-4:]
