"""Kernels that treat every element by itself."""
