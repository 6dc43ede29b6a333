"""YAML text to nodes that know where they stand.

Only the part of YAML that a table needs is read: no anchors, no tags, one document, no key twice.
libyaml's events are used rather than its tree: every one of them carries its place, and a depth
limit can stop before anything recurses.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, overload

import yaml

from ..diagnostics import Report, Span
from ..ir.nodes import TextSpan

try:
    from yaml import CSafeLoader as _Loader
except ImportError:
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 50
_TOO_DEEP = f"nested more than {MAX_DEPTH} deep"

_NOT_PRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_ESCAPE_WIDTHS = {"x": 4, "u": 6, "U": 10}
_INTEGER = re.compile(r"[-+]?\d{1,30}")
_NUMBER = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?|[-+]?\.?inf|\.?nan")
_WORDS: dict[str, object] = {
    "null": None,
    "None": None,
    "~": None,
    "": None,
    "true": True,
    "True": True,
    "false": False,
    "False": False,
}


class Source:
    """The text of one file, and the way from an offset in it to a line and a column."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def span(self, start: int, end: int | None = None) -> Span:
        """The place of `[start, end)`; of one character if it goes over a line's end."""
        line = bisect_right(self._line_starts, start)
        column = start - self._line_starts[line - 1] + 1
        width = 1
        if end is not None and end > start and "\n" not in self.text[start : end - 1]:
            width = end - start
        return Span(self.path, line, column, width)


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A text, and the range of the file it was read from."""

    source: Source
    start: int
    end: int
    value: str
    style: str
    """`'`, `"`, `|`, `>`, or empty for a plain scalar."""

    @property
    def span(self) -> Span:
        return self.source.span(self.start, self.end)

    def spans(self) -> Spans:
        """The place in the file of each character of `value`, and of its end."""
        return Spans(self)

    def offsets(self) -> tuple[int, ...]:
        """The offset from `start` of each character of `value`, and of its end."""
        return _value_offsets(self.value, self.source.text[self.start : self.end], self.style)

    def locate(self, place: TextSpan) -> Span:
        """Find `place` of the value in the file."""
        offsets = self.offsets()
        first = offsets[min(place.start, len(offsets) - 1)]
        last = offsets[min(max(place.end, place.start + 1) - 1, len(offsets) - 1)]
        return self.source.span(self.start + first, self.start + max(first, last) + 1)

    @property
    def literal(self) -> bool | int | float | str | None:
        """The value as YAML means it: a plain `2` is a number, `"2"` is a text."""
        if self.style:
            return self.value
        if self.value in _WORDS:
            return _WORDS[self.value]  # type: ignore[return-value]
        if _INTEGER.fullmatch(self.value):
            return int(self.value)
        if _NUMBER.fullmatch(self.value):
            return float(self.value.replace(".inf", "inf").replace(".nan", "nan"))
        return self.value


class Spans(Sequence[Span]):
    """The places of the characters of a text, found when they are asked for: few ever are."""

    def __init__(self, scalar: Scalar) -> None:
        self._scalar = scalar

    @cached_property
    def _all(self) -> tuple[Span, ...]:
        start, source = self._scalar.start, self._scalar.source
        return tuple(source.span(start + offset) for offset in self._scalar.offsets())

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Span, ...]: ...
    def __getitem__(self, index: int | slice) -> Span | tuple[Span, ...]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._scalar.value) + 1

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Sequence) and self._all == tuple(other))

    def __hash__(self) -> int:
        return hash(self._all)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process without the text of the file."""
        return SpanRuns, (self._scalar.source.path, _runs(self._all))


class SpanRuns(Spans):
    """Places as other processes and caches get them: some hundred numbers for 10,000 places."""

    def __init__(self, path: str, runs: tuple[int, ...]) -> None:
        self._path = path
        self._numbers = runs

    @cached_property
    def _all(self) -> tuple[Span, ...]:
        numbers = iter(self._numbers)
        return tuple(
            Span(self._path, line, column)
            for line, first, count in zip(numbers, numbers, numbers, strict=True)
            for column in range(first, first + count)
        )

    def __len__(self) -> int:
        return sum(self._numbers[2::3])

    def __reduce__(self) -> tuple[Any, ...]:
        return SpanRuns, (self._path, self._numbers)


def _runs(spans: Sequence[Span]) -> tuple[int, ...]:
    """Line, first column and count of all characters that stand side by side, run after run."""
    numbers: list[int] = []
    for span in spans:
        if numbers and (span.line, span.column) == (numbers[-3], numbers[-2] + numbers[-1]):
            numbers[-1] += 1
        else:
            numbers += (span.line, span.column, 1)
    return tuple(numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """A YAML sequence."""

    source: Source
    start: int
    end: int
    items: tuple[Located, ...]

    @property
    def span(self) -> Span:
        return self.source.span(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """A YAML mapping with text keys, each once, in the order of the file."""

    source: Source
    start: int
    end: int
    items: tuple[tuple[Scalar, Located], ...]

    @property
    def span(self) -> Span:
        return self.source.span(self.start)

    def get(self, key: str) -> Located | None:
        """The value of a key, None if it is not there."""
        return next((value for name, value in self.items if name.value == key), None)

    def key(self, key: str) -> Scalar | None:
        """The key itself, for its place."""
        return next((name for name, _ in self.items if name.value == key), None)


Located: TypeAlias = Scalar | Listing | Mapping


def read_source(path: Path, report: Report, *, asked_by: Span | None = None) -> Source | None:
    """The text of a file, or None after reporting why it is no text; `asked_by` is its include."""
    place = asked_by or Span(str(path), 1, 1)
    try:
        if path.exists() and not path.is_file():  # a pipe or a device might never end
            report.error("GS001", place, f"cannot read {path}: it is no ordinary file")
            return None
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        report.error("GS001", place, f"cannot read {path}: {reason or error}")
        return None
    if len(data) > MAX_BYTES:
        limit = f"a spec file holds {MAX_BYTES // 1024**2} MB at most"
        report.error("GS001", place, f"cannot read {path}: {limit}", "split it with `include:`")
        return None
    return decode(str(path), data, report)


def decode(path: str, data: bytes, report: Report) -> Source | None:
    """The bytes of a file as text YAML may hold, or None after reporting the first that is not."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = Source(path, _unix_lines(data[: error.start].decode("utf-8-sig", "replace")))
        report.error(
            "GS002",
            before.span(len(before.text)),
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            "save the file as UTF-8",
        )
        return None
    text = _unix_lines(text)
    source = Source(path, text)
    if found := _NOT_PRINTABLE.search(text):
        place = source.span(found.start())
        report.error("GS003", place, f"the character U+{ord(found[0]):04X} is not text")
        return None
    return source


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def compose(source: Source, report: Report) -> Located | None:
    """The one document of a file; None if it is empty or, after reporting, not readable."""
    builder = _Builder(source, report)
    try:
        for event in yaml.parse(source.text, Loader=_Loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        _report_syntax(source, error, report)
        return None
    except _Stop:
        return None
    return builder.root


class _Stop(Exception):
    """Reported, and nothing after it can be trusted."""


def _report_syntax(source: Source, error: yaml.MarkedYAMLError, report: Report) -> None:
    mark = error.problem_mark or error.context_mark
    index = min(mark.index if mark is not None else 0, len(source.text))
    problem = error.problem or "unreadable"
    if "nesting depth" in problem:  # a limit of libyaml's, which reads ahead of the events
        report.error("GS007", source.span(index), _TOO_DEEP)
        return
    help = ""
    if source.text[index : index + 1] == "\t":
        problem, help = "a tab where an indent is expected", "indent with spaces"
    elif "mapping values are not allowed" in problem:
        help = "a value with `: ` in it must stand in quotes"
    elif "expected ',' or ']'" in problem:
        help = "in a list between brackets, an item with brackets of its own must stand in quotes"
    report.error("GS004", source.span(index), f"not YAML: {problem}", help)


@dataclass(slots=True)
class _Open:
    """A sequence or mapping whose end has not come yet."""

    start: int
    is_mapping: bool
    items: list[Any]
    key: Scalar | None = None
    keys: dict[str, Scalar] | None = None


class _Builder:
    """Builds located nodes from events, with a stack of its own instead of recursion."""

    def __init__(self, source: Source, report: Report) -> None:
        self.root: Located | None = None
        self._source = source
        self._report = report
        self._stack: list[_Open] = []
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Take the next event; raises _Stop where reading on makes no sense."""
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._fail("GS009", event, "a second document", "one file, one list of ops")
            case yaml.AliasEvent():
                self._fail("GS005", event, f"the alias `*{event.anchor}`", "write the value out")
            case yaml.ScalarEvent():
                self._refuse_properties(event)
                self._add(self._scalar(event))
            case yaml.CollectionStartEvent():
                self._refuse_properties(event)
                self._open(event)
            case yaml.CollectionEndEvent():
                self._close(event)

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        style = "" if event.style is None else str(event.style)
        return Scalar(self._source, _start(event), _end(event), event.value, style)

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._fail("GS007", event, _TOO_DEEP, "")
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if is_mapping and self._key_expected():
            self._fail("GS010", event, "a mapping as a key", "a key is a text")
        self._stack.append(_Open(_start(event), is_mapping, [], keys={} if is_mapping else None))

    def _close(self, event: yaml.CollectionEndEvent) -> None:
        done = self._stack.pop()
        kind = Mapping if done.is_mapping else Listing
        self._add(kind(self._source, done.start, _end(event), tuple(done.items)))

    def _key_expected(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_mapping and self._stack[-1].key is None

    def _add(self, node: Located) -> None:
        if not self._stack:
            self.root = node
            return
        parent = self._stack[-1]
        if not parent.is_mapping:
            parent.items.append(node)
        elif parent.key is None:
            self._add_key(parent, node)
        else:
            parent.items.append((parent.key, node))
            parent.key = None

    def _add_key(self, parent: _Open, node: Located) -> None:
        if not isinstance(node, Scalar):
            self._report.error("GS010", node.span, "a list as a key", "a key is a text")
            raise _Stop
        assert parent.keys is not None
        first = parent.keys.setdefault(node.value, node)
        if first is not node:
            self._report.error(
                "GS008",
                node.span,
                f"the key `{node.value}` is here for the second time",
                f"the first is in line {first.span.line}",
            )
        parent.key = node

    def _refuse_properties(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.anchor is not None:
            self._fail("GS005", event, f"the anchor `&{event.anchor}`", "write the value out")
        if event.tag is not None:
            self._fail("GS006", event, f"the tag `{event.tag}`", "leave it out: a spec is data")

    def _fail(self, code: str, event: yaml.Event, what: str, help: str) -> None:
        place = self._source.span(_start(event))
        self._report.error(code, place, f"{what} has no place in a spec", help)
        raise _Stop


def _start(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.index


def _end(event: yaml.Event) -> int:
    assert event.end_mark is not None
    return event.end_mark.index


def _value_offsets(value: str, raw: str, style: str) -> tuple[int, ...]:
    """For each character of `value` its offset in `raw`, and the offset of the end.

    `raw` is the scalar as written, quotes and block header included. Folding turns line ends and
    indents to blanks, so blanks are matched loosely; every other character is exact.
    """
    if value == raw:
        return tuple(range(len(raw) + 1))
    position = _first_offset(raw, style)
    offsets: list[int] = []
    for character in value:
        position = _next_match(character, raw, position, style)
        offsets.append(min(position, max(len(raw) - 1, 0)))
        position += _width(raw, position, style)
    return (*offsets, min(position, len(raw)))


def _first_offset(raw: str, style: str) -> int:
    if style in ("|", ">"):
        return raw.find("\n") + 1
    return len(style)


def _next_match(character: str, raw: str, position: int, style: str) -> int:
    """The first place from `position` on that can stand for `character`."""
    while position < len(raw):
        here = raw[position]
        if here == character or (here.isspace() and character.isspace()):
            break
        if style == '"' and raw.startswith("\\\n", position):
            # An escaped line end stands for nothing.
            position += 2
        elif here.isspace():
            position += 1
        else:
            break
    return position


def _width(raw: str, position: int, style: str) -> int:
    """Count the characters of `raw` that one character of the value took."""
    pair = raw[position : position + 2]
    if style == "'" and pair == "''":
        return 2
    if style == '"' and pair.startswith("\\"):
        return _ESCAPE_WIDTHS.get(pair[1:], 2)
    return 1
