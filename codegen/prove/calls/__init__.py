"""Calls that no example makes, with numbers: every derivative beside the slopes of its values."""
