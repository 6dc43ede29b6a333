"""The error of files that cannot be read."""

from __future__ import annotations


class FormatError(ValueError):
    """A file is damaged, or holds what is not read from files."""
