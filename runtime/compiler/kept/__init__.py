"""Findings that a process leaves for later ones, in files."""
