"""Certificates: what a run has proved, as lines of JSON that can be checked again.

    {"gradspec certificate": 1, "scope": "all", "ops": 645, "prover": "...", "table": "...", ...}
    {"op": "mul.Tensor", "digest": "sha256:...", "status": "proved", ..., "calls": [...]}
    ...
    {"end": 645}

Free of sympy: the parent process writes and reads them, workers fill in and check the records.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from .verdict import OpVerdict, Status

VERSION = 1

_KIND = "gradspec certificate"

_FIRST_CHARACTERS = f'{{"{_KIND}": '.encode()

_LONGEST_LINE = 256 * 1024**2

Json: TypeAlias = Any


class BadCertificate(Exception):
    """A file that is no certificate: the line and column at which that shows, and why."""

    def __init__(self, line: int, message: str, column: int = 1, help: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message
        self.help = help


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: what was proved, by what."""

    scope: str
    """`all`, or `named` for some ops of the table."""
    ops: int
    prover: str
    """A digest of the prover and the runtime."""
    table: str
    """A digest of all ops with their digests, in their order."""
    versions: Mapping[str, str]
    """The versions of gradspec, Python, NumPy, SciPy and sympy."""

    def to_line(self) -> str:
        """The header as text."""
        return _line(
            {
                _KIND: VERSION,
                "scope": self.scope,
                "ops": self.ops,
                "prover": self.prover,
                "table": self.table,
                "versions": dict(self.versions),
            }
        )


@dataclass(frozen=True, slots=True)
class Record:
    """The line of one op."""

    line: int
    op: str
    digest: str
    status: Status
    content: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A whole file."""

    header: Header
    records: tuple[Record, ...]


def text(header: Header, records: Iterable[str]) -> str:
    """The whole file, from the lines of the ops."""
    return f"{header.to_line()}{''.join(records)}{_line({'end': header.ops})}"


def record_line(verdict: OpVerdict, digest: str, calls: Json) -> str:
    """The line of an op."""
    return _line(
        {
            "op": verdict.name,
            "digest": digest,
            "status": verdict.status.value,
            "identities": verdict.identities,
            "chambers": verdict.chambers,
            "notes": list(verdict.notes),
            "calls": calls,
        }
    )


def is_certificate(path: Path) -> bool:
    """Return whether a file may be replaced by a certificate: it is one, or is not there."""
    if not os.path.lexists(path):
        return True
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.read(len(_FIRST_CHARACTERS))
    return first == _FIRST_CHARACTERS or not first


def read(path: Path) -> Certificate:
    """Read a file. Raises BadCertificate where it is none, and OSError if it cannot be read."""
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE)
        if not first.startswith(_FIRST_CHARACTERS):
            help = "certificates are written by `gradspec prove --all --certificate FILE`"
            raise BadCertificate(1, "this is no certificate", help=help)
        header = _header(_parsed(1, first))
        records: dict[str, Record] = {}
        number = 1
        while line := file.readline(_LONGEST_LINE):
            number += 1
            content = _parsed(number, line)
            if "end" in content:
                _check_end(number, content, header, len(records), file.read(1))
                return Certificate(header, tuple(records.values()))
            record = _record(number, content)
            if record.op in records:
                raise BadCertificate(number, f"`{record.op}` is there twice")
            records[record.op] = record
    raise BadCertificate(number, "the file is truncated: its last line is missing", help=_AGAIN)


_AGAIN = "write it again, with `gradspec prove --certificate`"


def _check_end(
    line: int, content: Mapping[str, Json], header: Header, found: int, rest: bytes
) -> None:
    if rest:
        raise BadCertificate(line + 1, "there is more after the last line")
    if content != {"end": header.ops} or found != header.ops:
        message = f"{found} ops are there, and the first line speaks of {header.ops}"
        raise BadCertificate(line, message)


def _parsed(line: int, text: bytes) -> dict[str, Json]:
    if not text.endswith(b"\n"):
        raise BadCertificate(line, "the file is truncated within this line", help=_AGAIN)
    try:
        found = json.loads(text.decode("utf-8"), object_pairs_hook=_without_repetition)
    except json.JSONDecodeError as error:
        raise BadCertificate(line, f"this is not JSON: {error.msg}", error.colno) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        reason = {UnicodeDecodeError: "no UTF-8", RecursionError: "nested too deeply"}
        raise BadCertificate(line, f"this is not JSON: {reason.get(type(error), error)}") from None
    if not isinstance(found, dict):
        raise BadCertificate(line, "this line is no JSON object")
    return found


def _without_repetition(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


_DIGEST = re.compile(r"(sha256:)?[0-9a-f]{32,64}")


def _header(content: dict[str, Json]) -> Header:
    version = content.pop(_KIND, None)
    if version != VERSION or isinstance(version, bool):
        message = f"this is version {json.dumps(version)} of the format, and not {VERSION}"
        raise BadCertificate(1, message, help="prove it with the gradspec that is to check it")
    _check_fields(1, content, _HEADER)
    if content["scope"] not in ("all", "named"):
        raise BadCertificate(1, "`scope` is neither `all` nor `named`")
    return Header(**content)


def _record(line: int, content: dict[str, Json]) -> Record:
    _check_fields(line, content, _RECORD)
    if content["status"] not in ("proved", "certified", "tested"):
        raise BadCertificate(line, "`status` is not that of a proof that holds")
    for number, call in enumerate(content["calls"], 1):
        place = f"call {number}"
        _check_fields(line, call, _LEFT_CALL if "left" in call else _CALL, place)
        if call["of"] not in ("call", "sweep", "kinks"):
            raise BadCertificate(line, f"{place}: `of` is not known")
        for which, run in enumerate(call["runs"], 1):
            _check_run(line, run, f"{place}, run {which}")
    status = Status(content["status"])
    return Record(line, content["op"], content["digest"], status, content)


def _check_run(line: int, run: Json, place: str) -> None:
    fields = {name: test for name, test in _RUN.items() if name in _NEEDED or name in run}
    _check_fields(line, run, fields, place)


def _check_fields(
    line: int, found: Json, fields: Mapping[str, Callable[[Json], bool]], place: str = ""
) -> None:
    at = f"{place}: " if place else ""
    if not isinstance(found, dict):
        raise BadCertificate(line, f"{at}no JSON object is here")
    for name, is_right in fields.items():
        if name not in found:
            raise BadCertificate(line, f"{at}`{name}` is missing")
        if not is_right(found[name]):
            raise BadCertificate(line, f"{at}`{name}` is not what it should be")
    if unknown := found.keys() - fields.keys():
        raise BadCertificate(line, f"{at}`{min(unknown)}` is not known")


def _is_text(found: Json) -> bool:
    return isinstance(found, str)


def _is_count(found: Json) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and found >= 0


def _is_digest(found: Json) -> bool:
    return isinstance(found, str) and _DIGEST.fullmatch(found) is not None


def _is_list(found: Json) -> bool:
    return isinstance(found, list)


def _is_texts(found: Json) -> bool:
    return isinstance(found, list) and all(map(_is_text, found))


def _is_text_by_text(found: Json) -> bool:
    return isinstance(found, dict) and all(map(_is_text, found.values()))


def _is_rows(found: Json) -> bool:
    """Identities: a label, how it was decided, the residues of one or both sides."""
    return isinstance(found, list) and all(_is_texts(row) and len(row) in (3, 4) for row in found)


_HEADER: Mapping[str, Callable[[Json], bool]] = {
    "scope": _is_text,
    "ops": _is_count,
    "prover": _is_digest,
    "table": _is_digest,
    "versions": _is_text_by_text,
}
_RECORD: Mapping[str, Callable[[Json], bool]] = {
    "op": _is_text,
    "digest": _is_digest,
    "status": _is_text,
    "identities": _is_count,
    "chambers": _is_count,
    "notes": _is_texts,
    "calls": _is_list,
}
_CALL: Mapping[str, Callable[[Json], bool]] = {
    "of": _is_text,
    "call": _is_text,
    "args": lambda found: found is None or isinstance(found, dict),
    "runs": _is_list,
}
_LEFT_CALL = {**_CALL, "left": _is_text}
_RUN: Mapping[str, Callable[[Json], bool]] = {
    "at": lambda found: found in ("chamber", "tie", "isolated", "kink"),
    "witness": _is_text_by_text,
    "place": _is_text,
    "decisions": _is_texts,
    "identities": _is_rows,
}
_NEEDED = ("at", "witness", "identities")


def encoded(args: Iterable[tuple[str, Any]]) -> dict[str, Json]:
    """The arguments of an example; what JSON has no word for is an object of one key."""
    return {name: _encoded(value) for name, value in args}


def _encoded(value: Any) -> Json:
    if isinstance(value, tuple):
        return {"tuple": [_encoded(item) for item in value]}
    if isinstance(value, list):
        return [_encoded(item) for item in value]
    if isinstance(value, Mapping):
        return {"data": {key: _encoded(item) for key, item in value.items()}}
    if isinstance(value, complex):
        return {"number": [repr(value.real), repr(value.imag)]}
    if isinstance(value, float):
        return {"number": [repr(value)]}
    return value


def decoded(args: Mapping[str, Json]) -> tuple[tuple[str, Any], ...]:
    """The arguments again. Raises ValueError for what `encoded` does not write."""
    return tuple((name, _decoded(value)) for name, value in args.items())


def _decoded(value: Json) -> Any:
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"tuple": list(items)}:
            return tuple(_decoded(item) for item in items)
        case {"data": dict(items)}:
            return {key: _decoded(item) for key, item in items.items()}
        case {"number": [str(real)]}:
            return float(real)
        case {"number": [str(real), str(imaginary)]}:
            return complex(float(real), float(imaginary))
    raise ValueError("these are not the arguments of a call")


def _line(content: Mapping[str, Json]) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(", ", ": ")) + "\n"
