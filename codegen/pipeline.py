"""What one run of the generator does, from the YAML files to the new tree.

    load → derive what is `auto` → render → stage → prove what changed → replace → lock

Nothing outside the staging directory is written before every proof has succeeded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from . import auto
from .diagnostics import Diagnostic, SpecError
from .emit.package import GENERATED_PACKAGE, GeneratedPackage, PackageBuilder
from .emit.write import is_same, replace, staged
from .prove import lock, sources
from .prove.verdict import OpVerdict, explain
from .spec.load import load_table
from .spec.model import Formula, OpSpec, Table


@dataclass(frozen=True, slots=True)
class Target:
    """Where a run reads and writes, and what the generated package is called."""

    spec: Path
    out: Path
    package: str = GENERATED_PACKAGE

    @property
    def lock(self) -> Path:
        """The proofs belong to the spec: one file beside it."""
        return self.spec.with_name("proofs.lock")

    @property
    def is_extension(self) -> bool:
        """Whether the package adds ops to gradspec's own table."""
        return self.package != GENERATED_PACKAGE


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run has to do: known before anything is proved."""

    table: Table
    built: GeneratedPackage
    digests: dict[str, str]
    recorded: dict[str, lock.Entry]
    derived: dict[str, tuple[tuple[str, str], ...]]
    """`(argument, formula)` of each op, for what the spec leaves to sympy."""
    base: Table | None = None
    """The ops that an extension builds on."""

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
    """What a run did."""

    verdicts: list[OpVerdict]
    """Of the ops that were proved in this run."""
    entries: dict[str, lock.Entry]
    """Of all ops."""
    wrote: bool


class ProofFailure(Exception):
    """Some formulas are refuted; nothing was written."""

    def __init__(
        self, failures: list[tuple[OpSpec, OpVerdict]], table: Table, base: Table | None = None
    ) -> None:
        super().__init__(f"{len(failures)} ops refuted")
        self.failures = failures
        self.table = table
        self.base = base

    def as_spec_error(self) -> SpecError:
        """The refutations as diagnostics at the formulas they are about.

        Ops that fail for one and the same reason, such as a broken runtime, are told once.
        """
        alike: dict[object, list[str]] = {}
        told: dict[object, list[Diagnostic]] = {}
        for op, verdict in self.failures:
            reason: object = verdict.counterexample or verdict.notes
            if reason in told:
                alike.setdefault(reason, []).append(op.name)
            else:
                told[reason] = explain(verdict, op)
        for reason, names in alike.items():
            others = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            note = f"{len(names)} more fail in the same way: {others}"
            told[reason] = [dataclasses.replace(d, help=note) for d in told[reason]]
        return SpecError([diagnostic for found in told.values() for diagnostic in found])


def causes(
    failures: list[tuple[OpSpec, OpVerdict]], built: GeneratedPackage
) -> list[tuple[OpSpec, OpVerdict]]:
    """The failures without those that only pass on a failure of an op they call.

    With a wrong `sin`, `cos` is wrong too, but only where its formula is differentiated again.
    """
    failed = {op.name for op, _ in failures}
    own = [
        (op, verdict)
        for op, verdict in failures
        if not (
            verdict.counterexample is not None
            and verdict.counterexample.label.startswith("double backward")
            and built.ops[op.name].calls & (failed - {op.name})
        )
    ]
    return own or failures


def plan(target: Target) -> Plan:
    """Load and render; nothing is written and nothing is proved. Leftovers are cleared away."""
    base = load_table(builtin_spec()) if target.is_extension else None
    lock.remove_leftovers(target.lock)
    recorded = lock.read(target.lock)
    known = {
        (entry.name, param): formula
        for entry in recorded.values()
        for param, formula in entry.derived
    }
    written = load_table(target.spec, base=base)
    planned = _render(target, written, base, recorded, known)
    outdated = {op.name for op in planned.stale()}
    remembered = {key: text for key, text in known.items() if key[0] not in outdated}
    if any(op.name in outdated and auto.automatic_params(op) for op in written.ops):
        # What was derived for another forward is worth nothing: derive it anew.
        planned = _render(target, written, base, recorded, remembered)
    return planned


def builtin_spec() -> Path:
    """gradspec's own table, which an extension builds on."""
    return Path(str(files("gradspec_codegen.specs") / "derivatives.yaml"))


def _render(
    target: Target,
    written: Table,
    base: Table | None,
    recorded: dict[str, lock.Entry],
    known: auto.Derivations,
) -> Plan:
    everything = Table((*(base.ops if base else ()), *written.ops))
    table = auto.fill_in(written, everything, known)
    built = PackageBuilder(table, target.package, base).build()
    digests = lock.digests(
        {name: op.source for name, op in built.ops.items()},
        {name: set(op.calls) for name, op in built.ops.items()},
        {name: sources.kernel_sources(op.kernels) for name, op in built.ops.items()},
        {op.name: sources.examples_of(op) for op in table.ops},
        sources.prover_digest(),
    )
    derived = {
        op.name: tuple(
            (param, rule.text)
            for param in auto.automatic_params(op)
            if isinstance(rule := table.by_name(op.name).rule(param), Formula)
        )
        for op in written.ops
    }
    return Plan(table, built, digests, recorded, derived, base)


def generate(
    target: Target,
    *,
    jobs: int,
    prove_all: bool = False,
    begin: Callable[[list[OpSpec]], None] = lambda stale: None,
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> Outcome:
    """Prove what changed, then replace the generated tree and the lock.

    Raises SpecError for mistakes in the spec and ProofFailure for refuted formulas; both leave
    every file as it was.
    """
    planned = plan(target)
    stale = planned.stale(everything=prove_all)
    begin(stale)
    with staged(target.out, planned.built.files) as staging:
        verdicts = _prove(target, planned, stale, staging, jobs, progress)
        entries = _entries(planned, verdicts)
        wrote = not is_same(staging, target.out)
        if wrote:
            replace(target.out, staging)
    if entries != planned.recorded:
        lock.write(target.lock, entries.values())
    return Outcome(verdicts, entries, wrote)


def is_fresh(target: Target) -> bool:
    """Whether the generated tree and the lock are what a run would leave behind."""
    planned = plan(target)
    with staged(target.out, planned.built.files) as staging:
        return is_same(staging, target.out) and not planned.stale()


def _prove(
    target: Target,
    planned: Plan,
    stale: list[OpSpec],
    staging: Path,
    jobs: int,
    progress: Callable[[OpVerdict], None],
) -> list[OpVerdict]:
    if not stale:
        return []
    from .prove.workers import prove_ops  # joblib: only when there is something to prove

    verdicts = prove_ops(stale, staging, target.package, jobs=jobs, progress=progress)
    failures = [(planned.table.by_name(v.name), v) for v in verdicts if not v.holds]
    if failures:
        raise ProofFailure(causes(failures, planned.built), planned.table, planned.base)
    return verdicts


def _entries(planned: Plan, verdicts: Iterable[OpVerdict]) -> dict[str, lock.Entry]:
    """The lock's lines, in the order of the table."""
    fresh = {v.name: lock.Entry.of(v, planned.digests[v.name]) for v in verdicts}
    return {
        op.name: dataclasses.replace(
            fresh.get(op.name) or planned.recorded[op.name], derived=planned.derived[op.name]
        )
        for op in planned.table.ops
    }
