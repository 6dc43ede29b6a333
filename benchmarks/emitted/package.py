"""The ops of ops.yaml as a package for PyTorch, emitted into a folder and imported."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

from gradspec_codegen import auto
from gradspec_codegen.emit.views import OriginView
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from gradspec_codegen.target import builtin_spec
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage

SPEC = Path(__file__).with_name("ops.yaml")
NAME = "emitted_ops"


def imported(folder: Path) -> ModuleType:
    """Write the package below a folder, without proofs, and import it."""
    builtin = load_table(builtin_spec())
    own = load_table(SPEC, base=builtin)
    own = auto.fill_in(own, Table((*builtin.ops, *own.ops)), {})
    everything = Table((*builtin.ops, *own.ops))
    origin = OriginView("python -m benchmarks.emitted", SPEC.name)
    place = folder / NAME
    place.mkdir()
    for file, text in (
        FrameworkPackage(own, everything, framework("torch"), origin).files({}).items()
    ):
        (place / file).write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    return importlib.import_module(NAME)
