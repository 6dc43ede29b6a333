"""`python -m benchmarks`: gradspec beside NumPy by hand and other libraries of its kind."""
