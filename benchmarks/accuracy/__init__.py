"""The accuracy of the elementwise ops, forward and backward: `python -m benchmarks.accuracy`."""
