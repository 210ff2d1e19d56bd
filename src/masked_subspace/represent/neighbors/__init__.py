"""Which samples may rebuild which: exact and approximate search for candidates."""
