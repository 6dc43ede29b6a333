"""The error of files that cannot be read."""

from __future__ import annotations

import pickle


class FormatError(ValueError, pickle.UnpicklingError):
    """A file is damaged, or holds what is not read from files; programs may expect either base."""
