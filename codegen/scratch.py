"""Proves ops that are not in the table: generated beside it, in a directory that is thrown away."""

from __future__ import annotations

import compileall
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .emit.package import PackageBuilder
from .prove.verdict import OpVerdict
from .spec.model import OpSpec, Table


@contextmanager
def staged_beside(
    ops: Sequence[OpSpec], table: Table, package: str, base: Table | None = None
) -> Iterator[Path]:
    """A directory with a package of the ops of `table` and of `ops`, gone when the block ends.

    The installed tree is neither read nor changed. Raises SpecError for a formula that cannot be
    rendered.
    """
    built = PackageBuilder(Table((*table.ops, *ops)), package, base).build()
    with tempfile.TemporaryDirectory(prefix="gradspec-") as folder:
        for name, text in built.files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        # Once for all workers: thousands of mutants take long to compile.
        compileall.compile_dir(folder, quiet=2)
        yield Path(folder)


def prove_beside(
    ops: Sequence[OpSpec],
    table: Table,
    package: str,
    *,
    base: Table | None = None,
    jobs: int = 1,
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> list[OpVerdict]:
    """The verdicts on `ops`, generated in one package with the ops of `table`."""
    from .prove.workers import prove_ops  # joblib: only when there is something to prove

    with staged_beside(ops, table, package, base) as staging:
        return prove_ops(ops, staging, package, jobs=jobs, progress=progress)
