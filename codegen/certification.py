"""Proofs of some ops by name, certificates of proofs, and their re-check.

None of it writes a package: a certificate is the only file.
"""

from __future__ import annotations

import hashlib
import platform
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .authoring.explanation import find_ops, suggestion
from .diagnostics import Diagnostic, Span, SpecError
from .emit.write import staged, write_file
from .pipeline import Plan, plan, prove_staged
from .prove.recheck.outcome import Recheck
from .prove.report import certificate
from .prove.report.certificate import BadCertificate, Certificate, Header, Record
from .prove.report.verdict import OpVerdict
from .prove.sources import prover_digest
from .spec.model import OpSpec
from .target import Target

_PACKAGES = ("gradspec", "numpy", "scipy", "sympy")


class UnknownOp(Exception):
    """A name that no op has, and what was meant, perhaps."""

    def __init__(self, name: str, help: str) -> None:
        super().__init__(f"There is no op `{name}`.")
        self.help = help


def check_replaceable(path: Path) -> None:
    """Raise SpecError if a certificate may not be written to a path: nothing else is replaced."""
    message = ""
    try:
        if not certificate.is_certificate(path):
            message = f"{path.name} is there, and is no certificate"
        elif not path.absolute().parent.is_dir():
            message = f"there is no folder {path.parent}"
    except OSError as error:
        message = f"this cannot be a file: {error.strerror or error}"
    if message:
        help = "name a file that is absent, or a certificate that was written before"
        raise SpecError([Diagnostic("GS084", Span("--certificate", 1, 1), message, help)])


def prove_named(
    target: Target,
    names: Sequence[str],
    *,
    jobs: int,
    backend: str = "",
    certificate_path: Path | None = None,
    begin: Callable[[list[OpSpec]], None] = lambda ops: None,
    progress: Callable[[OpVerdict], None] = lambda verdict: None,
) -> list[OpVerdict]:
    """Prove the ops that go by some names, and perhaps certify that.

    Raises UnknownOp for a name without an op, SpecError for mistakes in the spec and ProofFailure
    for refuted formulas.
    """
    if certificate_path is not None:
        check_replaceable(certificate_path)
    planned = plan(target)
    chosen = named_ops(planned, names)
    begin(chosen)
    lines: list[str] | None = None if certificate_path is None else []
    with staged(planned.built.files, planned.verbatim) as staging:
        verdicts = prove_staged(target, planned, chosen, staging, jobs, progress, backend, lines)
    if certificate_path is not None and lines is not None:
        write(certificate_path, planned, lines)
    return verdicts


def named_ops(planned: Plan, names: Sequence[str]) -> list[OpSpec]:
    """The ops that go by names, in the order of the table. Raises UnknownOp."""
    found: set[str] = set()
    for name in names:
        ops = find_ops(planned.table, name, planned.everything)
        if not ops:
            raise UnknownOp(name, suggestion(planned.table, name))
        found |= {op.name for op in ops}
    return [op for op in planned.table.ops if op.name in found]


def write(path: Path, planned: Plan, lines: Sequence[str]) -> None:
    """Write a certificate of the ops that the lines are about. Raises SpecError if that fails."""
    header = Header(
        scope="all" if len(lines) == len(planned.table.ops) else "named",
        ops=len(lines),
        prover=prover_digest(),
        table=_table_digest(planned),
        versions=_versions(),
    )
    check_replaceable(path)
    try:
        write_file(path, certificate.text(header, lines))
    except OSError as error:
        message = f"the certificate cannot be written: {error.strerror or error}"
        found = Diagnostic("GS084", Span("--certificate", 1, 1), message)
        raise SpecError([found]) from None


def _table_digest(planned: Plan) -> str:
    lines = (f"{op.name} {planned.digests[op.name]}\n" for op in planned.table.ops)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


@dataclass(frozen=True, slots=True)
class Verification:
    """A certificate that holds, and how that was found."""

    scope: str
    outcomes: list[Recheck]
    seed: str
    other_versions: tuple[str, ...]
    """Packages of which the certificate has another version than is installed."""


def verify(
    target: Target,
    path: Path,
    *,
    jobs: int,
    seed: str = "",
    backend: str = "",
    begin: Callable[[int], None] = lambda ops: None,
    progress: Callable[[Recheck], None] = lambda outcome: None,
) -> Verification:
    """Check a certificate again, at points that no one knew: those of `seed`, or of a new one.

    Raises SpecError, located in the certificate, for whatever does not hold.
    """
    from .prove.workers import recheck_ops  # joblib

    seed = seed or secrets.token_hex(8)
    with _located(path):
        found = certificate.read(path)
    planned = plan(target)
    _check_digests(path, found, planned)
    begin(len(found.records))
    items = [(planned.table.by_name(record.op), record.content, seed) for record in found.records]
    with staged(planned.built.files, planned.verbatim) as staging:
        outcomes = recheck_ops(
            items, staging, target.staged_as, jobs=jobs, backend=backend, progress=progress
        )
    pairs = zip(found.records, outcomes, strict=True)
    if wrong := [
        _at(path, record, outcome.problem) for record, outcome in pairs if outcome.problem
    ]:
        raise SpecError(wrong)
    return Verification(found.header.scope, outcomes, seed, _other_versions(found.header.versions))


@contextmanager
def _located(path: Path) -> Iterator[None]:
    """Report what is wrong with a file as a mistake in it."""
    try:
        yield
    except BadCertificate as bad:
        span = Span(str(path), bad.line, bad.column)
        raise SpecError([Diagnostic("GS084", span, bad.message, bad.help)]) from None
    except OSError as error:
        message = f"this cannot be read: {error.strerror or error}"
        raise SpecError([Diagnostic("GS084", Span(str(path), 1, 1), message)]) from None


_AGAIN = "the proof says nothing about what is here now: prove it again"


def _check_digests(path: Path, found: Certificate, planned: Plan) -> None:
    """The certificate is about the code that would be generated now, and the prover of now."""
    header = found.header
    if header.prover != prover_digest():
        raise _wrong(path, "this was proved by another prover, or with another runtime", _AGAIN)
    sympy = header.versions.get("sympy", "none")
    if sympy != version("sympy"):
        message = f"this was proved with sympy {sympy}, and here is {version('sympy')}"
        raise _wrong(path, message, "expressions may look different: use the same one")
    wrong: list[Diagnostic] = []
    for record in found.records:
        digest = planned.digests.get(record.op)
        if digest is None:
            wrong.append(_at(path, record, "there is no such op"))
        elif digest != record.digest:
            wrong.append(_at(path, record, "its formulas, or what they call, have changed", _AGAIN))
    certified = {record.op for record in found.records}
    missing = [op.name for op in planned.table.ops if op.name not in certified]
    if header.scope == "all" and missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        message = f"this is to be about all ops, but not about `{missing[0]}`{more}"
        wrong.append(Diagnostic("GS085", Span(str(path), 1, 1), message, _AGAIN))
    if wrong:
        raise SpecError(wrong)
    if header.scope == "all" and header.table != _table_digest(planned):
        raise _wrong(path, "the digest of the table is another", _AGAIN)


def _wrong(path: Path, message: str, help: str) -> SpecError:
    return SpecError([Diagnostic("GS085", Span(str(path), 1, 1), message, help)])


def _at(path: Path, record: Record, message: str, help: str = "") -> Diagnostic:
    """A mistake in the line of an op."""
    return Diagnostic("GS085", Span(str(path), record.line, 1), f"`{record.op}`: {message}", help)


def _other_versions(versions: Mapping[str, str]) -> tuple[str, ...]:
    here = _versions()
    return tuple(
        f"{name} {proved} (here {here.get(name, 'none')})"
        for name, proved in versions.items()
        if here.get(name, "none") != proved
    )
