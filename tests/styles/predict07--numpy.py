queries = np.arange(600)
first_query = np.argmax(queries - 0 >= 256)
first_scored = np.int64(257)
first_lost = 4.0
lost_at = np.argmax(queries - 4 >= 252)
