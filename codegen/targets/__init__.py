"""Emit ops for other frameworks: formulas as code on tensors of PyTorch and arrays of JAX."""
