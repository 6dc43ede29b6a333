"""Kernels of layers and losses."""
