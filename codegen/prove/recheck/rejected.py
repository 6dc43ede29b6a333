"""The refusal of a record."""

from __future__ import annotations


class Rejected(Exception):
    """Raised where a certificate is wrong."""
