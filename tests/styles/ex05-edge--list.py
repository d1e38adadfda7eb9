def sees(query_position, key_position, window):
    return key_position in list(range(query_position + 1))[-window:]
