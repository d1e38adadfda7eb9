next_positions = (10, 0, 3)
next_slots = (2, 0, 3)
ring_mib, growing_mib = 4.0, 400.0
