"""`proofs.lock`: what was proved, and a digest of everything the proof depends on.

    mul.Tensor  proved   142 identities, 3 chambers, 418 calls, 2 conditions   sha256:1f2e...
        batched by align: 75 of 75 calls, 12 exact
    softsign    proved    38 identities, 4 chambers, 240 calls, 0 conditions   sha256:90ab...
        self = grad / (1 + abs(self))**2
        derived from sha256:77c0...

Calls are those beside the examples that were compared with slopes; of conditions every one came out
both ways.

One op a line, in the order of the table; below it its batching rules, with the calls that they fit
and those on symbols that they were proved at; and the formulas that were derived for it, with a
digest of these and of what they were derived from. An op whose digest has not changed need not be
proved again.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .verdict import Batching, OpVerdict

NAME = "proofs.lock"

_HEADER = """\
# What `gradspec codegen` has proved, and a digest of what each proof depends on.
# Written by the generator; do not edit. Run `gradspec prove --all` to prove everything again.
"""

_FIRST_LINES = tuple(
    f"# What `{command} codegen` has proved, and a digest of what each proof depends on.\n".encode()
    for command in ("gradspec", "make")
)

_LONGEST_LINE = 200

_LOOP = "a loop"
"""Written for the rules of an op that has none."""

_LINE_END = "\\n"
"""A line of a derived formula ends in these two characters, as an op has a line here."""

_LINE = re.compile(
    r"(?P<name>\S+) +(?P<status>\w+) +(?P<identities>\d+) identities, (?P<chambers>\d+) chambers?"
    r", (?P<calls>\d+) calls?, (?P<conditions>\d+) conditions?"
    r" +(?P<digest>sha256:[0-9a-f]+)"
)
_BASIS = re.compile(r"    derived from (?P<basis>sha256:[0-9a-f]+)")
_BATCHING = re.compile(
    r"    batched by (?P<rules>.+): (?P<fitting>\d+) of (?P<calls>\d+) calls, (?P<exact>\d+) exact"
)
_DERIVED = re.compile(r"    (?P<param>\w+) = (?P<formula>.+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One proved op."""

    name: str
    status: str
    identities: int
    chambers: int
    calls: int
    conditions: int
    digest: str
    derived: tuple[tuple[str, str], ...] = ()
    """`(argument or output, rule)` where the spec leaves a rule to the generator."""
    basis: str = ""
    """The digest of these formulas and of what they were derived from."""
    batching: Batching | None = None

    @classmethod
    def of(cls, verdict: OpVerdict, digest: str) -> Entry:
        """The line for a verdict."""
        return cls(
            verdict.name,
            verdict.status.value,
            verdict.identities,
            verdict.chambers,
            verdict.calls,
            verdict.conditions,
            digest,
            batching=verdict.batching,
        )


def read(path: Path) -> dict[str, Entry]:
    """The entries by name; none if there is no lock. A line that cannot be read is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[str, Entry] = {}
    last = ""
    for line in text.splitlines():
        if match := _DERIVED.fullmatch(line):
            if last:
                formula = match["formula"].replace(_LINE_END, "\n")
                derived = (*found[last].derived, (match["param"], formula))
                found[last] = replace(found[last], derived=derived)
            continue
        if match := _BASIS.fullmatch(line):
            if last:
                found[last] = replace(found[last], basis=match["basis"])
            continue
        if match := _BATCHING.fullmatch(line):
            if last:
                found[last] = replace(found[last], batching=_batching(match))
            continue
        match = _LINE.fullmatch(line)
        last = match["name"] if match else ""
        if match:
            found[last] = Entry(
                last,
                match["status"],
                int(match["identities"]),
                int(match["chambers"]),
                int(match["calls"]),
                int(match["conditions"]),
                match["digest"],
            )
    return found


def _batching(match: re.Match[str]) -> Batching:
    rules = () if match["rules"] == _LOOP else tuple(match["rules"].split("; "))
    return Batching(rules, int(match["fitting"]), int(match["calls"]), int(match["exact"]))


def text(entries: Iterable[Entry]) -> str:
    """The whole file."""
    return _HEADER + "".join(f"{line}\n" for line in _lines(list(entries)))


def is_lock(path: Path) -> bool:
    """Return whether a file may be replaced by a lock: it is one, or is not there."""
    if not os.path.lexists(path):
        return True
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE)
    return first in _FIRST_LINES or not first


def _lines(entries: list[Entry]) -> Iterable[str]:
    name_width = max((len(entry.name) for entry in entries), default=0)
    status_width = max((len(entry.status) for entry in entries), default=0)
    for entry in entries:
        counts = ", ".join(
            [
                f"{entry.identities:>5} identities",
                counted(entry.chambers, "chamber"),
                counted(entry.calls, "call"),
                counted(entry.conditions, "condition"),
            ]
        )
        yield (
            f"{entry.name:<{name_width}}  {entry.status:<{status_width}}  {counts:<57}"
            f"  {entry.digest}"
        )
        if (batching := entry.batching) is not None:
            rules = "; ".join(batching.rules) or _LOOP
            counts = f"{batching.fitting} of {batching.calls} calls, {batching.exact} exact"
            yield f"    batched by {rules}: {counts}"
        for param, formula in entry.derived:
            line = formula.replace("\n", _LINE_END)
            yield f"    {param} = {line}"
        if entry.basis:
            yield f"    derived from {entry.basis}"


def counted(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def digests(
    sources: Mapping[str, str],
    calls: Mapping[str, Collection[str]],
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


def _reached(name: str, calls: Mapping[str, Collection[str]], known: Mapping[str, str]) -> set[str]:
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
