"""Kernels that sum, count, order and compare along dimensions."""
