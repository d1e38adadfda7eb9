changed = {12, 11, 10, 9}
