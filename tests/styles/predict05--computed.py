seen = torch.tensor([10, 0, 3])
next_positions = seen
next_slots = seen % 4
ring_mib = 1024 * 2 * 8 * 128 * 2 / 2**20
growing_mib = 102_400 * 2 * 8 * 128 * 2 / 2**20
