next_slot = 13 % 5
still_there = list(range(13))[-5:]
