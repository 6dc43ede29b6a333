"""One run of the generator, from the YAML files to the new tree.

    load → derive what is `auto` → render → stage → prove what changed → replace → lock

Nothing outside a private directory is written before every proof has succeeded.
"""

from __future__ import annotations

import dataclasses
import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from . import auto, proof_cache, table_cache
from .batching import BatchingRules
from .diagnostics import Diagnostic, SpecError
from .emit.batching import BATCHING
from .emit.changes import changes
from .emit.format import format_tree
from .emit.ownership import Refusal, signed
from .emit.package import GeneratedPackage, PackageBuilder
from .emit.views import OriginView
from .emit.write import check_target, contents, remove_leftovers, replace, staged, write_file
from .failures import causes
from .prove import sources
from .prove.report import lock
from .prove.report.verdict import OpVerdict
from .spec.elementwise import with_pointwise
from .spec.load import load_table
from .spec.model import OpSpec, Table
from .spec.own_kernels import MODULE, OwnKernels, read_own_kernels
from .target import NUMPY, Target, builtin_spec, plain
from .targets.frameworks import framework
from .targets.installed import too_old
from .targets.package import FrameworkPackage


@dataclass(frozen=True, slots=True)
class Known:
    """The ops that formulas of a spec may call: its own, those it builds on; and its kernels."""

    table: Table
    base: Table | None = None
    kernels: OwnKernels | None = None

    @property
    def everything(self) -> Table:
        """The ops of the table, and those it builds on."""
        return Table((*(self.base.ops if self.base else ()), *self.table.ops))


def known_ops(target: Target) -> Known:
    """Load the spec of a target, and what it builds on. Raises SpecError for every mistake."""
    is_builtin = target.spec.resolve() == builtin_spec().resolve()
    if is_builtin and not target.is_extension and not target.kernels:
        return Known(builtin_table())
    base = builtin_table() if target.is_extension else None
    kernels = read_own_kernels(target.kernels) if target.kernels else None
    table = load_table(target.spec, base=base, kernels=kernels)
    return Known(table, base, kernels)


@cache
def builtin_table() -> Table:
    """The table that comes with gradspec, on which others build; read once by a process."""
    return table_cache.read(builtin_spec())


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of a run, known before anything is proved."""

    table: Table
    built: GeneratedPackage
    digests: dict[str, str]
    recorded: dict[str, lock.Entry]
    derived: dict[str, auto.Derived]
    """The rules of each op that the spec leaves to the generator."""
    bases: dict[str, str]
    """The digest of what these were derived from, for the ops that have some."""
    batching: BatchingRules
    base: Table | None = None
    """The ops that an extension builds on."""
    kernels: OwnKernels | None = None
    verbatim: dict[str, str] = field(default_factory=dict)
    """Files of the package that are not rendered."""
    emitted: FrameworkPackage | None = None
    """The package for another framework, written in the place of the one that is proved."""

    @property
    def everything(self) -> Table:
        """The ops of the table, and those it builds on."""
        return Table((*(self.base.ops if self.base else ()), *self.table.ops))

    def stale(self, *, everything: bool = False) -> list[OpSpec]:
        """The ops whose recorded proof does not fit what would be generated."""
        return [
            op
            for op in self.table.ops
            if everything
            or op.name not in self.recorded
            or self.recorded[op.name].digest != self.digests[op.name]
        ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run."""

    verdicts: list[OpVerdict]
    """Verdicts on the ops that were proved in this run."""
    entries: dict[str, lock.Entry]
    """Entries of the lock for all ops."""
    wrote: bool
    unknown: tuple[str, ...] = ()
    """Warnings about what could not be checked."""


class ProofFailure(Exception):
    """Some formulas are refuted; nothing was written."""

    def __init__(self, failures: list[tuple[OpSpec, OpVerdict]], planned: Plan) -> None:
        super().__init__(f"{len(failures)} ops refuted")
        self.failures = failures
        self.planned = planned


def plan(target: Target, unwritten: Mapping[str, lock.Entry] | None = None) -> Plan:
    """Load, derive and render; nothing is written and nothing is proved.

    Proofs that are `unwritten`, kept from runs that failed, count as those in a lock do.
    """
    with _without_collection():
        return _planned(target, unwritten or {})


@contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: trees of a million nodes are made, and few are let go of."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _planned(target: Target, unwritten: Mapping[str, lock.Entry]) -> Plan:
    ops = known_ops(target)
    recorded = lock.read(target.proofs) if target.proofs else {}
    recorded |= lock.read(target.lock) if target.lock else {}
    base, kernels = ops.base, ops.kernels
    remembered = {**_remembered(ops, unwritten), **_remembered(ops, recorded)}
    table = with_pointwise(auto.fill_in(ops.table, ops.everything, remembered), base)
    builder = PackageBuilder(
        table,
        target.staged_as,
        base,
        origin=OriginView(target.command, target.source),
        kernels=kernels,
    )
    built = builder.build()
    digests = lock.digests(
        {name: op.source for name, op in built.ops.items()},
        {
            name: op.calls | sources.definition_calls(table.by_name(name), table)
            for name, op in built.ops.items()
        },
        {name: sources.kernel_sources(op.kernels, kernels) for name, op in built.ops.items()},
        {op.name: sources.examples_of(op) for op in table.ops},
        sources.prover_digest(),
    )
    recorded |= {n: entry for n, entry in unwritten.items() if entry.digest == digests.get(n)}
    derived = {op.name: auto.derived_rules(op, table.by_name(op.name)) for op in ops.table.ops}
    bases = {
        op.name: auto.derivation_digest(op, ops.everything, derived[op.name])
        for op in ops.table.ops
        if derived[op.name]
    }
    verbatim = {"py.typed": ""} if target.is_extension else {}
    if kernels is not None:
        head = (
            f"# Copied from {plain(kernels.file)} by `{target.command}`; change that, not this.\n"
        )
        verbatim[f"{MODULE}.py"] = head + kernels.text
    rules = BatchingRules(builder, built, recorded, digests)
    built.files[f"{BATCHING}.py"] = rules.staged()
    emitted = None if target.framework == NUMPY else _emitted(target, table, ops)
    return Plan(
        table, built, digests, recorded, derived, bases, rules, base, kernels, verbatim, emitted
    )


def _emitted(target: Target, table: Table, ops: Known) -> FrameworkPackage:
    """The ops for another framework. Raises SpecError for all that it lacks."""
    everything = Table((*(ops.base.ops if ops.base else ()), *table.ops))
    origin = OriginView(target.command, target.source)
    chosen = framework(target.framework)
    package = FrameworkPackage(table, everything, chosen, origin, target.folders)
    found = [] if (old := too_old(chosen)) is None else [old]
    try:
        package.files({})
    except SpecError as error:
        found += error.diagnostics
    if found:
        raise SpecError(found)
    return package


def _remembered(ops: Known, recorded: Mapping[str, lock.Entry]) -> auto.Derivations:
    """The recorded formulas that were derived from the definitions as they stand."""
    return {
        (op.name, param): formula
        for op in ops.table.ops
        if (entry := recorded.get(op.name)) is not None and entry.derived
        if entry.basis == auto.derivation_digest(op, ops.everything, entry.derived)
        for param, formula in entry.derived
    }


def generate(
    target: Target,
    *,
    jobs: int,
    prove_all: bool = False,
    discard_edits: bool = False,
    begin: Callable[[list[OpSpec]], None] = lambda stale: None,
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
    backend: str = "",
    certify: Callable[[Plan, list[str]], None] | None = None,
    keeps: bool = True,
) -> Outcome:
    """Prove what changed, then replace the generated tree and the lock.

    At the end `certify` is given the lines of a certificate of what was proved. Raises SpecError
    for mistakes in the spec and ProofFailure for refuted formulas; both leave every file as it was.
    If it `keeps`, what was proved until then, or until an interruption, is there for the next run.
    """
    with _located(target):
        out = _checked(target, discard_edits)
        remove_leftovers(out)
    lines: list[str] | None = None if certify is None else []
    with _worker_for(target):
        planned = plan(target, proof_cache.read(target) if keeps else None)
        stale = planned.stale(everything=prove_all)
        begin(stale)
        with _located(target):
            with staged(planned.built.files, planned.verbatim) as staging:
                with _kept(target if keeps else None, planned, progress) as noted:
                    verdicts = _prove(target, planned, stale, staging, jobs, noted, backend, lines)
                entries = _entries(planned, verdicts)
                files = _signed(target, staging, entries, planned)
            wrote = files != contents(out)
            if wrote:
                replace(out, files, target.source, discard_edits=discard_edits)
            if not target.is_extension:
                write_file(target.spec.with_name(lock.NAME), lock.text(entries.values()))
            proof_cache.forget(target)
    if certify is not None and lines is not None:
        certify(planned, lines)
    unknown = planned.emitted.unknown if planned.emitted is not None else ()
    return Outcome(verdicts, entries, wrote, unknown)


def _worker_for(target: Target) -> AbstractContextManager[None]:
    """A worker that gets ready while the spec is read, if that has changed since the proofs."""
    if (os.cpu_count() or 1) < 2 or not _has_changed(target):
        return nullcontext()
    from .prove import workers

    return workers.spare_worker()


def _has_changed(target: Target) -> bool:
    """Return whether a spec is newer than its proofs, as far as can be seen."""
    if target.lock is None:
        return False
    folder = target.spec.parent
    try:
        if not target.lock.exists():  # nothing is proved
            return True
        proved = target.lock.stat().st_mtime
        specs = (target.spec, *folder.glob("*.yaml"), *folder.glob("*/*.yaml"))
        return any(file.stat().st_mtime > proved for file in specs)
    except OSError:  # it will be told what is wrong when the files are read
        return False


@contextmanager
def _kept(
    target: Target | None, planned: Plan, progress: Callable[[OpVerdict], None]
) -> Iterator[Callable[[OpVerdict], None]]:
    """Report progress; if the proofs end with an exception, keep what was proved for a target."""
    proved: list[OpVerdict] = []

    def noted(verdict: OpVerdict) -> None:
        if verdict.holds:
            proved.append(verdict)
        progress(verdict)

    try:
        yield noted
    except BaseException:
        if target is not None:
            proof_cache.keep(target, _entries(planned, proved).values())
        raise


def differences(target: Target) -> list[str]:
    """List what a run would change: files, and ops that it would prove."""
    planned = plan(target)
    assert target.out is not None
    with _located(target), staged(planned.built.files, planned.verbatim) as staging:
        stale = [op.name for op in planned.stale()]
        entries = {} if stale else _entries(planned, ())
        files = _signed(target, staging, entries, planned)
        there = contents(target.out)
    if stale:  # what follows from proofs is not known yet
        follows = {lock.NAME, f"{BATCHING}.py"} & there.keys()
        files |= {name: there[name] for name in follows}
    return [*changes(there, files), *(f"{op}: not proved as it stands" for op in stale)]


def _signed(
    target: Target, staging: Path, entries: dict[str, lock.Entry], planned: Plan
) -> dict[str, str]:
    """The files of the package, ready to be written."""
    if entries:
        module = staging / f"{BATCHING}.py"
        module.write_text(planned.batching.module(entries), encoding="utf-8")
        format_tree(module)
    files = contents(staging)
    if planned.emitted is not None:
        with staged(planned.emitted.files(entries or planned.recorded), {"py.typed": ""}) as other:
            files = contents(other)
    if target.is_extension:
        files[lock.NAME] = lock.text(entries.values())
    return {name: signed(name, text, target.source) for name, text in files.items()}


def _checked(target: Target, discard_edits: bool) -> Path:
    """The folder to write to. Raises Refusal if anything would be lost there."""
    assert target.out is not None
    there = os.listdir(target.out) if discard_edits and target.out.is_dir() else ()
    check_target(target.out, target.source, there)
    if target.kernels is not None and target.kernels.resolve().is_relative_to(target.out):
        raise Refusal(
            f"{target.kernels.name} is in the folder that is generated", "keep it elsewhere"
        )
    if not target.is_extension and not lock.is_lock(target.spec.with_name(lock.NAME)):
        raise Refusal(
            f"{lock.NAME} beside {target.spec.name} is not what the generator has written there",
            "move it elsewhere",
        )
    return target.out


@contextmanager
def _located(target: Target) -> Iterator[None]:
    """Refusals to write, and what the system refuses, as mistakes in the name of the folder."""
    try:
        yield
    except Refusal as refusal:
        found = Diagnostic("GS080", target.place, refusal.message, refusal.help)
        raise SpecError([found]) from None
    except OSError as error:
        message = f"the package cannot be written: {error.strerror or error}"
        raise SpecError([Diagnostic("GS080", target.place, message)]) from None


def _prove(
    target: Target,
    planned: Plan,
    stale: list[OpSpec],
    staging: Path,
    jobs: int,
    progress: Callable[[OpVerdict], None],
    backend: str = "",
    lines: list[str] | None = None,
) -> list[OpVerdict]:
    if not stale:
        return []
    return prove_staged(target, planned, stale, staging, jobs, progress, backend, lines)


def prove_staged(
    target: Target,
    planned: Plan,
    ops: list[OpSpec],
    staging: Path,
    jobs: int,
    progress: Callable[[OpVerdict], None],
    backend: str = "",
    lines: list[str] | None = None,
) -> list[OpVerdict]:
    """Prove ops of a package; `lines` are filled with those of a certificate.

    Raises ProofFailure for refuted formulas.
    """
    from .prove import workers  # joblib: only when there is something to prove

    if lines is None:
        verdicts = workers.prove_ops(
            ops, staging, target.staged_as, jobs=jobs, backend=backend, progress=progress
        )
    else:
        answers = workers.certify_ops(
            ops,
            planned.digests,
            staging,
            target.staged_as,
            jobs=jobs,
            backend=backend,
            progress=progress,
        )
        verdicts = [verdict for verdict, _ in answers]
        lines += [line for _, line in answers]
    failures = [(planned.table.by_name(v.name), v) for v in verdicts if not v.holds]
    if failures:
        raise ProofFailure(causes(failures, planned.built), planned)
    return verdicts


def _entries(planned: Plan, verdicts: Iterable[OpVerdict]) -> dict[str, lock.Entry]:
    """The lock's lines for the ops that are proved, in the order of the table."""
    fresh = {v.name: lock.Entry.of(v, planned.digests[v.name]) for v in verdicts}
    stale = {op.name for op in planned.stale()} - fresh.keys()
    return {
        op.name: dataclasses.replace(
            fresh.get(op.name) or planned.recorded[op.name],
            derived=planned.derived[op.name],
            basis=planned.bases.get(op.name, ""),
        )
        for op in planned.table.ops
        if op.name not in stale
    }
