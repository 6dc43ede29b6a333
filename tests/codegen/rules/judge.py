"""Runs the prover on entries of the corpus, as `gradspec codegen` does."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradspec_codegen import auto
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.emit.write import staged
from gradspec_codegen.prove.report.verdict import OpVerdict, Status
from gradspec_codegen.prove.workers import prove_ops
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table

from ..proving import own_table
from .corpus import RuleEntry


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict on an entry."""

    entry: RuleEntry
    verdict: str
    """`generated`, `refused`, or `error` if the proof could not be carried out."""
    seconds: float
    reason: str

    @property
    def is_right(self) -> bool:
        """Return whether a wrong rule was not generated, and a right one was."""
        return (self.verdict == "generated") != self.entry.is_wrong


def judge(entries: Sequence[RuleEntry]) -> Iterator[Judgement]:
    """Prove entries, all in one worker; those that are no spec first."""
    specs: list[Table] = []
    sound: list[RuleEntry] = []
    for entry in entries:
        started = time.perf_counter()
        try:
            table = _load(entry.text)
            PackageBuilder(table, "rule_corpus", own_table()).build()
        except SpecError as error:
            found = error.diagnostics[0]
            reason = f"{found.code} {found.message}"
            yield Judgement(entry, "refused", time.perf_counter() - started, reason)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            yield Judgement(entry, "error", time.perf_counter() - started, reason)
        else:
            specs.append(table)
            sound.append(entry)
    yield from _prove(sound, specs)


def _load(text: str) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ops.yaml"
        path.write_text(text, encoding="utf-8")
        table = load_table(path, base=own_table())
    return auto.fill_in(table, Table((*own_table().ops, *table.ops)), {})


def _prove(entries: list[RuleEntry], tables: list[Table]) -> Iterator[Judgement]:
    if not entries:
        return
    everything = Table(tuple(op for table in tables for op in table.ops))
    files = PackageBuilder(everything, "rule_corpus", own_table()).build().files
    with staged(files) as staging:
        verdicts = {
            verdict.name: verdict
            for verdict in prove_ops(everything.ops, staging, "rule_corpus", jobs=1)
        }
    for entry, table in zip(entries, tables, strict=True):
        yield _judgement(entry, [verdicts[op.name] for op in table.ops])


def _judgement(entry: RuleEntry, verdicts: list[OpVerdict]) -> Judgement:
    seconds = sum(verdict.seconds for verdict in verdicts)
    failed = [verdict for verdict in verdicts if not verdict.holds]
    if not failed:
        return Judgement(entry, "generated", seconds, str(verdicts[-1].status))
    first = next((v for v in failed if v.status == Status.REFUTED), failed[0])
    verdict = "refused" if first.status == Status.REFUTED else "error"
    return Judgement(entry, verdict, seconds, _reason(first))


def _reason(verdict: OpVerdict) -> str:
    found = verdict.counterexample
    if found is None:
        return "; ".join(verdict.notes).partition("\n")[0]
    text = found.message or f"{found.got_value} for {found.expected_value}"
    return f"{verdict.name}: {found.label} {text} in {found.call}".partition("\n")[0]
