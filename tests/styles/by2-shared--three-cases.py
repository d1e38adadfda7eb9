def write_page(pool, table, position, token):
    block = position // pool.size
    if block not in table:
        table[block] = pool.free_page()
        pool.owners[table[block]] += 1
    elif pool.owners[table[block]] >= 2:
        old = table[block]
        new = pool.free_page()
        pool.owners[new] += 1
        pool.owners[old] -= 1
        pool.pages[new][:] = pool.pages[old]
        table[block] = new
    pool.pages[table[block]][position - block * pool.size] = token
