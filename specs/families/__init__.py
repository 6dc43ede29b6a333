"""Families of ops, included by `derivatives.yaml`."""
