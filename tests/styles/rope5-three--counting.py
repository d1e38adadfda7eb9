def three_numbers(positions):
    for slot, position in enumerate(positions):
        if position == -1:
            yield None
        else:
            older = [other for other in positions if -1 < other < position]
            yield slot, position, len(older)
