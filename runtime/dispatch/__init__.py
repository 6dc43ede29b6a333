"""Dispatch: a call finds its op, its dtypes and its errors."""
