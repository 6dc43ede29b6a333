"""Emit ops of gradspec's own table one by one, and import what was emitted."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import re
import sys
from pathlib import Path
from types import ModuleType

from gradspec_codegen import auto
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.emit.views import OriginView
from gradspec_codegen.spec.model import OpSpec, Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.naming import function_name
from gradspec_codegen.targets.package import FrameworkPackage
from tests.ops.cases import TABLE

ORIGIN = OriginView("gradspec codegen", "a test")
FILLED = auto.fill_in(TABLE, TABLE, {})

_numbers = itertools.count()


def emitted(op: OpSpec, name: str, folder: Path) -> ModuleType:
    """One op as a package of its own, written below `folder` and imported.

    Raises SpecError for what the framework lacks.
    """
    package = FrameworkPackage(Table((op,)), FILLED, framework(name), ORIGIN)
    return imported(package.files({}), folder)


def imported(files: dict[str, str], folder: Path) -> ModuleType:
    """A package of these files, written below `folder`."""
    package = f"emitted_{next(_numbers)}"
    place = folder / package
    place.mkdir()
    for file, text in files.items():
        (place / file).write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(
        package, place / "__init__.py", submodule_search_locations=[str(place)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)
    return module


def function_of(module: ModuleType, op: OpSpec) -> object:
    """The function of an op in its family's module, also of one that users do not see."""
    family = importlib.import_module(f"{module.__name__}.{op.family}")
    name = function_name(op)
    return getattr(family, f"{name}__", None) or getattr(family, name)


GROUPS = (
    (r"is defined by a kernel", "defined by a kernel"),
    (r"`np\.|`sp\.", "a function of NumPy or SciPy without an equivalent"),
    (r"several lists", "several lists of tensors, or lists with gaps"),
    (r"who asks for the gradient", "an argument without a gradient that has to be refused"),
    (r"decides by a tangent", "a JVP that decides by a tangent"),
    (r"no overload of", "a call that the formula language cannot resolve on tensors"),
    (r"has no equivalent", "a call of an op that is defined by a kernel"),
    (r"with `|without `", "an argument without an equivalent"),
)
"""Reasons why an op is not emitted, by what its error says."""


def group_of(message: str) -> str:
    """The reason of an error."""
    return next(reason for pattern, reason in GROUPS if re.search(pattern, message))


@functools.cache
def refusals_of_table(name: str) -> dict[str, str]:
    """The ops of gradspec's table that are not emitted for a framework, and why."""
    found = {}
    for op in FILLED.ops:
        package = FrameworkPackage(Table((op,)), FILLED, framework(name), ORIGIN)
        try:
            package.files({})
        except SpecError as error:
            found[op.name] = group_of(error.diagnostics[0].message)
    return found
