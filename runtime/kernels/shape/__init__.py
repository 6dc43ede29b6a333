"""Kernels that arrange elements anew."""
