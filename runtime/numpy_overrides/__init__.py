"""NumPy's functions on tensors: `np.sin(x)` is `gs.sin(x)`, and a gradient flows through it."""
