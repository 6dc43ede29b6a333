"""How accurate the elementwise ops are, forward and backward: `python -m benchmarks.accuracy`."""
