def start_again(rows, done):
    for memory, empty in ((rows.keys, 0), (rows.values, 0), (rows.positions, -1), (rows.seen, 0)):
        mask = done.view(-1, *(1 for _ in memory.shape[1:]))
        memory.copy_(torch.where(mask, torch.full_like(memory, empty), memory))
