"""Names that emitted code uses of its own, and those of a spec beside them: they cannot collide.

A package is rendered twice. The first time every name of the spec is marked, which no spec can do
by itself; what is without a mark in that code are the names that the code has a use for. The second
time the spec's names go as they are, but for these.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from ..spec.model import OpSpec

MARK = "__"
"""Behind a name of a spec where emitted code has another use for it; no spec can write it."""


class Naming:
    """The names of one package: `used` by its code, and those of its ops by full name."""

    def __init__(self, ops: Iterable[OpSpec], used: Collection[str] | None = None) -> None:
        self._used = used
        """None while everything is marked."""
        self._functions: dict[str, str] = {}
        self._classes: dict[str, str] = {}
        ops = list(ops)
        for op in ops:
            self._functions[op.name] = self._free(function_name(op), ())
        names = {*self._functions.values(), *(self.alias(a) for op in ops for a in op.aliases)}
        for op in ops:
            self._classes[op.name] = self._free(_class_name(op), names)
        classes = self._classes.values()
        self._module = {
            *names,
            *classes,
            *(f"{name}_{part}" for name in classes for part in ("Reverse", "Keeping", "Formula")),
        }
        kernels = (kernel.function for op in ops for kernel in op.target_kernels)
        self._kernels: dict[str, str] = {}
        for kernel in kernels:
            module = kernel.rpartition(".")[0]
            root = module.partition(".")[0]
            is_free = self._free(root, self._module) == root
            self._kernels[module] = module if is_free else module.replace(".", "_") + MARK
        self._module |= {name.partition(".")[0] for name in self._kernels.values()}

    @property
    def marks_all(self) -> bool:
        """True while it is asked which names the code uses."""
        return self._used is None

    def function(self, op: OpSpec) -> str:
        """The function of an op in its module."""
        return self._functions[op.name]

    def class_name(self, op: OpSpec) -> str:
        """The class with both modes of an op: `LogitSoftcap` for `logit_softcap`."""
        return self._classes[op.name]

    def alias(self, name: str) -> str:
        """Another name of a function in its module."""
        return self._free(name, ())

    def kernel(self, name: str) -> str:
        """Spell a function of a module of the user's."""
        module, _, function = name.rpartition(".")
        return f"{self._kernels[module]}.{function}"

    def kernel_import(self, name: str) -> str:
        """Import the module of a function of the user's; without one, nothing."""
        module = name.rpartition(".")[0]
        if not module:
            return ""
        spelled = self._kernels[module]
        return f"import {module}" if spelled == module else f"import {module} as {spelled}"

    def inside(self, name: str, taken: Collection[str] = ()) -> str:
        """A name of a spec in functions of the code; `taken` are those that it has there so far."""
        return self._free(name, {*self._module, *taken})

    def _free(self, name: str, taken: Collection[str]) -> str:
        found = name + MARK if self._used is None or name in self._used else name
        while found in taken:
            found += MARK
        return found


def used_names(source: str) -> set[str]:
    """Every name without a mark that code reads, assigns or takes as an argument.

    Imports that nothing uses do not count.
    """
    return {name for name in _names(ast.parse(source)) if MARK not in name}


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def function_name(op: OpSpec) -> str:
    """The function of an op for users: its base name, with the overload of gradspec's own ops."""
    name = op.signature.name
    return f"{name}_{op.signature.overload.lower()}" if op.signature.overload else name


def _class_name(op: OpSpec) -> str:
    name = function_name(op)
    words = name.split("_")
    if name.startswith("_"):
        words[0] = "_"
    return "".join(word[:1].upper() + word[1:] for word in words)
