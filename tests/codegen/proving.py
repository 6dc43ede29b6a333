"""Builds a package from a spec's text, and proves or imports it, as `gradspec codegen` does."""

from __future__ import annotations

import functools
import importlib
import shutil
import sys
from pathlib import Path
from types import ModuleType

from gradspec_codegen.auto import fill_in
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.emit.write import staged
from gradspec_codegen.prove.report.verdict import OpVerdict
from gradspec_codegen.prove.workers import prove_ops
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec, Table

ROOT = Path(__file__).parents[2]


@functools.cache
def own_table() -> Table:
    """The ops of gradspec itself."""
    return load_table(ROOT / "specs" / "derivatives.yaml")


def read_table(path: Path) -> Table:
    """The ops of a spec that builds on gradspec's own, with the rules that it leaves out."""
    table = load_table(path, base=own_table())
    return fill_in(table, Table((*own_table().ops, *table.ops)), {})


def prove_text(
    text: str, directory: Path, package: str, *, jobs: int = 1
) -> dict[str, tuple[OpSpec, OpVerdict]]:
    """The ops of a spec that builds on gradspec's own, each with its verdict."""
    path = directory / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    built = PackageBuilder(table, package, own_table()).build()
    with staged(built.files) as staging:
        verdicts = prove_ops(table.ops, staging, package, jobs=jobs)
    return {op.name: (op, verdict) for op, verdict in zip(table.ops, verdicts, strict=True)}


def imported(text: str, folder: Path, name: str, family: str = "ops") -> ModuleType:
    """The package of a spec, generated and imported."""
    (folder / f"{family}.yaml").write_text(text, encoding="utf-8")
    table = read_table(folder / f"{family}.yaml")
    files = PackageBuilder(table, name, own_table()).build().files
    with staged(files) as staging:
        shutil.copytree(staging, folder / name)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
