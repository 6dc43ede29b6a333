"""`gradspec prove --target`: emit ops for a framework, and compare them with exact values."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..certification import named_ops
from ..diagnostics import Diagnostic, SpecError
from ..emit.views import OriginView
from ..emit.write import staged
from ..pipeline import Plan, plan
from ..prove.workers import LocalPool
from ..spec.model import OpSpec, Table
from ..target import Target
from ..targets.frameworks import Framework, framework
from ..targets.installed import check_installed
from ..targets.package import FrameworkPackage
from .worker import Agreement, Emitted, agree_in_worker


def agreements(
    target: Target,
    names: Sequence[str],
    name: str,
    *,
    runs: Collection[str] = (),
    jobs: int,
    begin: Callable[[int], None] = lambda count: None,
    progress: Callable[[Agreement], None] = lambda agreement: None,
) -> tuple[list[Agreement], list[Diagnostic]]:
    """Compare ops, or all of a spec, with exact values; and say which could not be emitted.

    `runs` are the modules of which functions may be run that the spec names. Raises SpecError for
    mistakes in the spec, for functions of other modules, and where the framework is not installed
    or older than the emitted code; UnknownOp for a name without an op. Of gradspec's own table an
    op that the framework lacks is told and left out; a spec of one's own must be emitted whole.
    """
    chosen = framework(name)
    check_installed(chosen)
    planned = plan(target)
    _check_runs(planned.table, chosen, runs)
    ops = named_ops(planned, names) if names else list(planned.table.ops)
    with _emitted(planned, ops, chosen, target) as (items, refused):
        begin(len(items))
        found: dict[str, Agreement] = {}
        with staged(planned.built.files, planned.verbatim) as staging:
            pool = LocalPool(staging, target.staged_as, jobs)
            for _, agreement in pool.each(agree_in_worker, items, _crashed):
                found[agreement.name] = agreement
                progress(agreement)
    return [found[op.name] for op, _ in items], refused


def _check_runs(table: Table, chosen: Framework, runs: Collection[str]) -> None:
    """Raise SpecError for functions that are not of the modules which the command names.

    A spec alone runs nothing, and it may name any function of Python.
    """
    kernels = (kernel for op in table.ops if (kernel := op.target_kernel(chosen.name)) is not None)
    refused = []
    for kernel in kernels:
        module = kernel.function.rpartition(".")[0]
        if module not in runs:
            message = f"`{kernel.function}` would be run, and the command does not name its module"
            help = f"`--run {module}` lets functions of it run, if it is yours"
            refused.append(Diagnostic("GS089", kernel.span, message, help))
    if refused:
        raise SpecError(refused)


@contextmanager
def _emitted(
    planned: Plan, ops: list[OpSpec], chosen: Framework, target: Target
) -> Iterator[tuple[list[tuple[OpSpec, Emitted]], list[Diagnostic]]]:
    """The ops in packages on disk, gone when the block ends, and why some are not there."""
    origin = OriginView("gradspec prove", "a proof")
    whole = target.is_extension
    folders = target.folders if whole else ()
    refused: list[Diagnostic] = []
    items: list[tuple[OpSpec, Emitted]] = []
    with tempfile.TemporaryDirectory(prefix="gradspec-", ignore_cleanup_errors=True) as name:
        for number, table in enumerate([planned.table] if whole else [Table((op,)) for op in ops]):
            folder = Path(name) / f"package_{number}"
            package = FrameworkPackage(table, planned.everything, chosen, origin, folders)
            try:
                files = package.files({})
            except SpecError as error:
                if whole:
                    raise
                refused += error.diagnostics
                continue
            folder.mkdir()
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8")
            items += (
                (op, Emitted(chosen.name, folder, op.family, package.function(op), folders))
                for op in ops
                if op in table.ops
            )
        yield items, refused


def _crashed(item: tuple[OpSpec, Emitted], reason: str) -> Agreement:
    return Agreement(item[0].name, problems=(f"the comparison {reason}",))
