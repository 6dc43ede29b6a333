"""The refusal of a record."""

from __future__ import annotations


class Rejected(Exception):
    """What a certificate says is not so."""
