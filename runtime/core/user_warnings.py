"""UserWarnings where PyTorch gives them: what is computed is probably not what was meant.

PyTorch's announcements about its own names, its future and its speed are not among them. All of
the library's warnings are given here: Python drops those that point at a module of ours (see
`numpy_warnings`).
"""

from __future__ import annotations

import sys
import warnings
from typing import Final

from .numpy_warnings import LIBRARY

_PACKAGE: Final = LIBRARY

_given: Final[set[str]] = set()
"""The warnings that were given, of those given once in a process."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning that points at the user's line, whichever function of ours gives it."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__package__")):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def warn_once(message: str) -> None:
    """`warn`, the first time in this process."""
    if message not in _given:
        warn(message)  # where that is an error it is one every time
        _given.add(message)


def _is_ours(package: str | None) -> bool:
    return package is not None and f"{package}.".startswith(f"{_PACKAGE}.")


def warn_of_lost_gradient() -> None:
    """Warn, once in a process, that a tensor becomes a Python number."""
    warn_once(
        "Converting a tensor with requires_grad=True to a scalar: no gradient flows through Python "
        "numbers. Use tensor.detach() first, or item(), if that is meant."
    )


def warn_of_imaginary_part() -> None:
    """Warn, once in a process, that complex numbers become real ones."""
    warn_once("Casting complex values to real discards the imaginary part: take x.real if meant.")
