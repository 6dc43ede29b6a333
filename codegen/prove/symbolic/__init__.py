"""Arrays of symbols, what a proof decides about them, and exact models of NumPy's functions."""
