import copy


def write_page(pool, table, position, token):
    block, place = divmod(position, pool.size)
    fresh = [None] * pool.size
    if block in table and pool.owners[table[block]] == 1:
        pool.pages[table[block]][place] = token
        return
    new = max(page for page, owners in enumerate(pool.owners) if not owners)
    if block in table:
        fresh = copy.deepcopy(pool.pages[table[block]])
        pool.owners[table[block]] -= 1
    fresh[place] = token
    pool.pages[new], pool.owners[new], table[block] = fresh, 1, new
