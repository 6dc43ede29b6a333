"""Proves ops that are not in the table: generated beside it, in a directory that is thrown away."""

from __future__ import annotations

import compileall
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .emit.package import PackageBuilder
from .emit.write import write_files
from .prove.report.verdict import OpVerdict
from .spec.model import OpSpec, Table
from .spec.own_kernels import MODULE, OwnKernels


@contextmanager
def staged_beside(
    ops: Sequence[OpSpec],
    table: Table,
    package: str,
    base: Table | None = None,
    kernels: OwnKernels | None = None,
) -> Iterator[Path]:
    """A directory with a package of the ops of `table` and of `ops`, gone when the block ends.

    The installed tree is neither read nor changed. Raises SpecError for a formula that cannot be
    rendered.
    """
    both = Table((*table.ops, *ops))
    built = PackageBuilder(both, package, base, kernels=kernels).build()
    files = built.files | ({f"{MODULE}.py": kernels.text} if kernels else {})
    with tempfile.TemporaryDirectory(prefix="gradspec-") as folder:
        write_files(Path(folder), files)
        # Once for all workers: thousands of mutants take long to compile.
        compileall.compile_dir(folder, quiet=2)
        yield Path(folder)


def prove_beside(
    ops: Sequence[OpSpec],
    table: Table,
    package: str,
    *,
    base: Table | None = None,
    kernels: OwnKernels | None = None,
    jobs: int = 1,
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> list[OpVerdict]:
    """The verdicts on `ops`, generated in one package with the ops of `table`."""
    from .prove.workers import prove_ops  # joblib: only when there is something to prove

    with staged_beside(ops, table, package, base, kernels) as staging:
        return prove_ops(ops, staging, package, jobs=jobs, progress=progress)
