"""`proofs.lock`: what was proved, and a digest of everything the proof depends on.

    mul.Tensor     proved     142 identities, 3 chambers   sha256:1f2e...
    softsign       proved      38 identities, 4 chambers   sha256:90ab...
        self = grad / (1 + abs(self))**2

One op a line, in the order of the table; below it the formulas that were derived for it. An op
whose digest has not changed need not be proved again.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .verdict import OpVerdict

_HEADER = """\
# What `make codegen` has proved, and a digest of what each proof depends on.
# Written by the generator; do not edit. Delete a line, or run `make prove`, to prove again.
"""

_LINE = re.compile(
    r"(?P<name>\S+) +(?P<status>\w+) +(?P<identities>\d+) identities, (?P<chambers>\d+) chambers?"
    r" +(?P<digest>sha256:[0-9a-f]+)"
)
_DERIVED = re.compile(r"    (?P<param>\w+) = (?P<formula>.+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One proved op."""

    name: str
    status: str
    identities: int
    chambers: int
    digest: str
    derived: tuple[tuple[str, str], ...] = ()
    """`(argument, formula)` where the spec says `auto`."""

    @classmethod
    def of(cls, verdict: OpVerdict, digest: str) -> Entry:
        """The line for a verdict."""
        return cls(
            verdict.name,
            verdict.status.value,
            verdict.identities,
            verdict.chambers,
            digest,
        )


def read(path: Path) -> dict[str, Entry]:
    """The entries by name; none if there is no lock. A line that cannot be read is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    found: dict[str, Entry] = {}
    last = ""
    for line in text.splitlines():
        if match := _DERIVED.fullmatch(line):
            if last:
                derived = (*found[last].derived, (match["param"], match["formula"]))
                found[last] = replace(found[last], derived=derived)
            continue
        match = _LINE.fullmatch(line)
        last = match["name"] if match else ""
        if match:
            found[last] = Entry(
                last,
                match["status"],
                int(match["identities"]),
                int(match["chambers"]),
                match["digest"],
            )
    return found


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Replace the lock at once: a reader sees the old file or the new one."""
    text = _HEADER + "".join(f"{line}\n" for line in _lines(list(entries)))
    temporary = path.with_name(f"{_prefix(path)}{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_leftovers(path: Path) -> None:
    """Clear away what runs that were killed had written to be the lock."""
    for temporary in path.parent.glob(f"{_prefix(path)}*"):
        if not Path(f"/proc/{temporary.name.removeprefix(_prefix(path))}").exists():
            temporary.unlink(missing_ok=True)


def _prefix(path: Path) -> str:
    return f".{path.name}-"


def _lines(entries: list[Entry]) -> Iterable[str]:
    name_width = max((len(entry.name) for entry in entries), default=0)
    status_width = max((len(entry.status) for entry in entries), default=0)
    for entry in entries:
        chambers = f"{entry.chambers} chamber{'' if entry.chambers == 1 else 's'}"
        counts = f"{entry.identities:>5} identities, {chambers}"
        yield (
            f"{entry.name:<{name_width}}  {entry.status:<{status_width}}  {counts:<32}"
            f"  {entry.digest}"
        )
        for param, formula in entry.derived:
            yield f"    {param} = {formula}"


def digests(
    sources: Mapping[str, str],
    calls: Mapping[str, set[str]],
    kernels: Mapping[str, str],
    examples: Mapping[str, str],
    prover: str,
) -> dict[str, str]:
    """A digest for each op, of everything that its proof depends on.

    `sources` are the generated blocks, `calls` the ops that each calls, which count with all that
    they call in turn; `kernels` the source of the kernels a block uses, `examples` what the spec
    says to prove it with, `prover` a digest of the prover and the runtime.
    """
    own = {name: _sha256(source, kernels.get(name, ""), prover) for name, source in sources.items()}
    return {
        name: "sha256:"
        + _sha256(examples.get(name, ""), *(own[op] for op in sorted(_reached(name, calls, own))))
        for name in sources
    }


def _reached(name: str, calls: Mapping[str, set[str]], known: Mapping[str, str]) -> set[str]:
    """The op and all that it calls, directly or not."""
    found = {name}
    stack = [name]
    while stack:
        for called in calls.get(stack.pop(), ()):
            if called not in found and called in known:
                found.add(called)
                stack.append(called)
    return found


def _sha256(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part.encode()).digest())
    return digest.hexdigest()[:32]
