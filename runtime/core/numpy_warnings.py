"""No warnings of NumPy's from an op: 1 / 0 and log(-1) have values, which PyTorch gives silently.

To say so around every op would take 0.75 µs each (`np.errstate`), or 0.18 (the context variable
behind it); a filter of `warnings` would belong to the whole process, and lose to `-W error`. But
Python gives no warning that arises in a module whose `__name__` is None: it takes it for one that
is being cleared at exit (`warn_explicit` in CPython's `_warnings.c`). So the namespaces of the
modules that compute are marked so, once each, and an op costs what it did. NumPy still warns of
what users compute with it themselves, and `np.errstate(divide="raise")` still raises in ops too.

Functions of NumPy's and SciPy's that are written in Python warn in modules of their own: the few
kernels that call such a one are decorated with `np.errstate`, beside which they are slow.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any, Final

LIBRARY: Final = "gradspec"
"""The package whose modules compute without NumPy's warnings."""


class QuietModule(ModuleType):
    """A module that goes by its name, though its own namespace does not say it."""

    @property
    def __name__(self) -> str:  # type: ignore[override]
        spec = self.__spec__
        return "" if spec is None else spec.name


def mute(namespace: dict[str, Any]) -> None:
    """Let the code of the module with these `globals()` compute without warnings of NumPy's."""
    module = sys.modules.get(namespace["__name__"] or "")
    if module is not None and vars(module) is namespace:
        module.__class__ = QuietModule
        namespace["__name__"] = None


def mute_package(package: str) -> None:
    """`mute` whatever modules of a package have been imported, and are not packages themselves."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith(f"{package}.") and type(module) is ModuleType:
            # Classes that are yet to be made take their `__module__` from the name.
            is_being_imported = getattr(module.__spec__, "_initializing", False)
            if not is_being_imported and not hasattr(module, "__path__"):
                mute(vars(module))


def import_quietly(name: str, package: str | None = None) -> ModuleType:
    """`import_module` of a module of this library, and `mute` what came with it."""
    module = import_module(name, package)
    if type(module) is not QuietModule:
        mute_package(LIBRARY)
    return module
