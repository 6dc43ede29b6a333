"""Readings of a formula: one file a target."""
