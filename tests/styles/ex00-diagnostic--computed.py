wraps_to, negative_wrap = 14 % 4, -1 % 4
tail = tuple([0, 1, 2, 3, 4, 5][-3:])
first_weight = 1 / 2
keys_seen = len(range(10))
