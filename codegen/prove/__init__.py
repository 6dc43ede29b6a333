"""Proves that a generated library computes the derivatives it claims to."""
