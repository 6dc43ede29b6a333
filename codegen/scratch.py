"""Proves ops that are not in the table: generated beside it, in a directory that is thrown away."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .emit.package import PackageBuilder
from .emit.write import staged
from .prove.verdict import OpVerdict
from .spec.model import OpSpec, Table


def prove_beside(
    ops: Sequence[OpSpec],
    table: Table,
    package: str,
    *,
    base: Table | None = None,
    jobs: int = 1,
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> list[OpVerdict]:
    """The verdicts on `ops`, generated in one package with the ops of `table`.

    The installed tree is neither read nor changed. Raises SpecError for a formula that cannot be
    rendered.
    """
    from .prove.workers import prove_ops  # joblib: only when there is something to prove

    built = PackageBuilder(Table((*table.ops, *ops)), package, base).build()
    with (
        tempfile.TemporaryDirectory(prefix="gradspec-") as folder,
        staged(Path(folder) / "generated", built.files) as staging,
    ):
        return prove_ops(ops, staging, package, jobs=jobs, progress=progress)
