"""Lazy imports: families of ops, and their kernels.

A program pays at its start only for what the engine itself needs, and for each family of ops when
it calls one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .missing import no_attribute
from .numpy_warnings import import_quietly


def lazy_attributes(
    namespace: dict[str, Any], homes: Mapping[str, tuple[str, str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module, for names that live in other modules.

    `namespace` is the module's `globals()`; `homes` has the module of each name, seen from the
    package, and what it is called there ("" for the module itself).
    """
    module, package = namespace["__name__"], namespace["__package__"]

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise no_attribute(module, name)
        home, attribute = homes[name]
        module_there = import_quietly(home, package)
        namespace[name] = getattr(module_there, attribute) if attribute else module_there
        return namespace[name]

    def __dir__() -> list[str]:
        return sorted({*namespace, *homes})

    return __getattr__, __dir__


class LazyModule:
    """Lazy module proxy: replaced by the module when one of its names is first read.

    `namespace` are the `globals()` in which it is called `name`; `module` may be relative to them.
    """

    __slots__ = ("_module", "_name", "_namespace")

    def __init__(self, module: str, namespace: dict[str, Any], name: str) -> None:
        self._module = module
        self._namespace = namespace
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        module = import_quietly(self._module, self._namespace["__package__"])
        self._namespace[self._name] = module
        return getattr(module, attribute)
