"""Emit ops of gradspec's own table one by one, and import what was emitted."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType

from gradspec_codegen import auto
from gradspec_codegen.emit.views import OriginView
from gradspec_codegen.spec.model import OpSpec, Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from gradspec_codegen.targets.renderer import function_name
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
    return getattr(family, function_name(op))


