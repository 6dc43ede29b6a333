"""`python -m benchmarks`: gradspec beside hand-written NumPy and PyTorch's eager mode."""
