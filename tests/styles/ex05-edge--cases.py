def sees(query_position, key_position, window):
    if key_position > query_position:
        return 0
    if key_position <= query_position - window:
        return 0
    return 1
