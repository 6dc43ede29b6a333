"""Modules whose parameters need no initial values."""

from __future__ import annotations

from typing import Any

from ...core.devices import check_device
from ..module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """Make a module whose parameters are about to be overwritten.

    They may hold anything; here they are initialised, as there is no memory but the CPU's.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    check_device("skip_init", kwargs.pop("device", None))
    return module_cls(*args, **kwargs)
