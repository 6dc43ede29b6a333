"""Mutation testing: every formula made wrong in every small way, to see that the proof notices."""
