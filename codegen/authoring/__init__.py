"""Entries of a spec, written for their author: derived from a formula, or a skeleton to fill in."""
