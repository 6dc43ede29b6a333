"""Quicker ways to compute what NumPy computes."""
