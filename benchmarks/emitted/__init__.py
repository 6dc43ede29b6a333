"""`python -m benchmarks.emitted`: ops emitted for PyTorch beside Functions written by hand."""
