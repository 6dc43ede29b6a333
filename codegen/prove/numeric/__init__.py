"""The same rules at numbers."""
