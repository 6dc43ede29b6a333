"""Functions of the user's modules that compute ops: looked for in their files, and never run.

A spec executes nothing, and a framework need not be installed where a package is generated. So a
module is found as `import` would find it, and its text is read for the name of the function.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from ..diagnostics import Diagnostic
from ..spec.model import OpSpec, TargetKernel
from .frameworks import FRAMEWORKS, Framework

_DYNAMIC = frozenset({"globals", "__getattr__", "exec", "setattr"})
"""Words in a module's text that mean that names may come from elsewhere."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The outcome of a search for the functions that compute ops."""

    missing: tuple[Diagnostic, ...] = ()
    unknown: tuple[str, ...] = ()
    """Sentences about those of which their files do not tell whether they are there."""


def look_for_kernels(
    ops: Iterable[OpSpec], framework: Framework, folders: Sequence[Path]
) -> Looked:
    """Look for the function that each op names for a framework, in `folders` and Python's path."""
    missing, unknown = [], []
    for op in ops:
        kernel = op.target_kernel(framework.name)
        if kernel is None:
            continue
        problem = _problem(kernel, framework, folders)
        if isinstance(problem, Diagnostic):
            missing.append(problem)
        elif problem:
            unknown.append(f"`{op.name}`: `{kernel.function}` was not looked for: {problem}")
    return Looked(tuple(missing), tuple(unknown))


def _problem(
    kernel: TargetKernel, framework: Framework, folders: Sequence[Path]
) -> Diagnostic | str:
    """Describe what is wrong with a kernel, or why that is unknown; empty if it is there."""
    module, _, name = kernel.function.rpartition(".")
    root = module.partition(".")[0]
    try:
        found = _found(module, folders)
    except (ImportError, ValueError, OSError) as error:
        return f"`{module}` is not to be found out about ({error})"
    if found is None and root in FRAMEWORKS and _found(root, folders) is None:
        return f"`{root}` is not installed here"
    if found is None:
        known = ", ".join(f"`{folder}`" for folder in dict.fromkeys(map(str, folders)))
        message = f"there is no module `{module}` to compute this op for {framework.title}"
        help = f"it is looked for in {known}, and where Python looks (PYTHONPATH)"
        return Diagnostic("GS087", kernel.span, message, help)
    if found.origin is None or not found.origin.endswith(".py"):
        return f"`{module}` is no file of Python"
    names, are_all = _names(Path(found.origin))
    if name in names:
        return ""
    if not are_all:
        return f"`{module}` cannot be read, or makes names as it runs"
    message = f"`{module}` has no `{name}` to compute this op for {framework.title}"
    return Diagnostic("GS087", kernel.span, message, f"its file is `{found.origin}`")


def _found(module: str, folders: Sequence[Path]) -> ModuleSpec | None:
    """Locate a module; its parents are not imported, as `find_spec` would do."""
    root, *others = module.split(".")
    found = PathFinder.find_spec(root, [str(folder) for folder in folders])
    if found is None or (found.loader is None and not others):  # a folder is no module
        found = _of_python(root) or found
    for word in others:
        if found is None or found.submodule_search_locations is None:
            return None
        root = f"{root}.{word}"
        found = PathFinder.find_spec(root, list(found.submodule_search_locations))
    return None if found is None or found.loader is None else found


def _of_python(root: str) -> ModuleSpec | None:
    """A module as this Python finds it, which may have it already."""
    loaded = sys.modules.get(root)
    return loaded.__spec__ if loaded is not None else importlib.util.find_spec(root)


def _names(file: Path) -> tuple[set[str], bool]:
    """The names that a module's text gives to things, and whether these are all of them."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return set(), False
    found = set(_defined(tree))
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | found
    return found, "*" not in found and not words & _DYNAMIC


def _defined(node: ast.AST) -> Iterator[str]:
    """The names that code gives to things where it stands, not in functions and classes."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Lambda():
                pass
            case _:
                yield from _defined(child)
