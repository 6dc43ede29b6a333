"""Dtypes by name, their kinds, and how they promote."""
