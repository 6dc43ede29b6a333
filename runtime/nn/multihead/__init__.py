"""Attention of several heads: its function and its module."""
