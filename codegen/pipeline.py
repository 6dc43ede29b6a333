"""What one run of the generator does, from the YAML files to the new tree."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .diagnostics import SpecError
from .emit.package import GENERATED_PACKAGE, PackageBuilder
from .emit.write import is_same, replace, staged
from .spec.load import load_table
from .spec.model import OpSpec, Table


@dataclass(frozen=True, slots=True)
class Target:
    """Where a run reads, where it writes, and what the package is called."""

    spec: Path
    out: Path
    package: str = GENERATED_PACKAGE


def generate_unproved(target: Target) -> int:
    table = load_table(target.spec)
    built = PackageBuilder(table, target.package).build()
    with staged(target.out, built.files) as staging:
        if not is_same(staging, target.out):
            replace(target.out, staging)
    return len(table.ops)
