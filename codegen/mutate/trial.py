"""Every mutant before the prover: killed, equal to the original, or a survivor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..prove.report.verdict import OpVerdict, Status
from ..scratch import staged_beside
from ..spec.model import OpSpec, Table
from ..spec.own_kernels import OwnKernels
from .mutants import Mutant, renamed


class Fate(StrEnum):
    """The fate of a mutant."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"
    UNTRIED = "untried"
    """The original is refused, too, under a name of this kind: points are drawn by the name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One mutant, and why it is believed to be killed, equal or a survivor."""

    mutant: Mutant
    fate: Fate
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the trial as data for JSON."""
        mutant = self.mutant
        return {
            "op": mutant.original,
            "formula": mutant.key,
            "mode": mutant.mode,
            "kind": mutant.kind,
            "before": mutant.before,
            "after": mutant.after,
            "mutant": mutant.text,
            "fate": self.fate.value,
            "reason": self.reason,
        }


class BrokenTrial(Exception):
    """Every unchanged op is refused as well: nothing can be said of the mutants."""


def try_mutants(
    mutants: Sequence[Mutant],
    table: Table,
    package: str,
    *,
    base: Table | None = None,
    kernels: OwnKernels | None = None,
    jobs: int = 1,
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> list[Outcome]:
    """Prove every mutant, and look for a difference between those that pass and their originals.

    Each original is proved beside its mutants, under a name of the same kind; nothing can be said
    of mutants where that fails. Raises BrokenTrial if it fails for all.
    """
    from ..prove.workers import find_differences, prove_ops  # joblib

    originals = {m.original: renamed(table.by_name(m.original), "0") for m in mutants}
    ops = [*originals.values(), *(m.op for m in mutants)]
    with staged_beside(ops, table, package, base, kernels) as staging:
        verdicts = prove_ops(ops, staging, package, jobs=jobs, progress=progress)
        found = {verdict.name: verdict for verdict in verdicts}
        refused = _refused(originals, found)
        passed = [m for m in mutants if found[m.op.name].holds and m.original not in refused]
        pairs = [(originals[m.original], m.op) for m in passed]
        differences = find_differences(pairs, staging, package, jobs=jobs) if pairs else []
    told = dict(zip((m.op.name for m in passed), differences, strict=True))
    return [
        Outcome(m, Fate.UNTRIED, refused[m.original])
        if m.original in refused
        else _outcome(m, found[m.op.name], *told.get(m.op.name, ("", 0)))
        for m in mutants
    ]


def score(outcomes: Sequence[Outcome]) -> float:
    """The part of the mutants that differ from their originals which is killed; 1 of none."""
    fates = Counter(outcome.fate for outcome in outcomes)
    different = fates[Fate.KILLED] + fates[Fate.SURVIVED]
    return fates[Fate.KILLED] / different if different else 1.0


def _refused(originals: dict[str, OpSpec], found: dict[str, OpVerdict]) -> dict[str, str]:
    """Say of which ops the original is refused, and why; BrokenTrial if it is that of each."""
    reasons: dict[str, str] = {}
    for name, control in originals.items():
        verdict = found[control.name]
        if not verdict.holds:
            shown = verdict.counterexample
            reason = shown.label if shown is not None else "; ".join(verdict.notes)
            reasons[name] = f"`{name}` itself is refused: {reason}"
    if reasons and len(reasons) == len(originals):
        raise BrokenTrial(next(iter(reasons.values())))
    return reasons


def _outcome(mutant: Mutant, verdict: OpVerdict, difference: str, agreed: int) -> Outcome:
    if not verdict.holds:
        found = verdict.counterexample
        reason = found.label if found is not None else "; ".join(verdict.notes)
        return Outcome(mutant, Fate.KILLED, reason)
    if difference:
        return Outcome(mutant, Fate.SURVIVED, f"{verdict.status}, but differs at {difference}")
    if verdict.status is not Status.PROVED and not agreed:
        return Outcome(mutant, Fate.SURVIVED, f"only {verdict.status}")
    return Outcome(mutant, Fate.EQUIVALENT, f"{verdict.status}; the same in {agreed} more calls")
