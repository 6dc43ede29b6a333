"""Spec files to a `Table`: follows includes and families, then reads and checks every entry."""

from __future__ import annotations

import dataclasses
import keyword
from pathlib import Path

from ..diagnostics import Report, Span, did_you_mean
from ..ir.walk import calls
from .aliases import with_base_names
from .choices import with_choices
from .copies import with_copies
from .entry import Entry, RawEntry, declared_name, read_entry
from .lint import lint
from .model import Formula, OpSpec, Table
from .own_kernels import OwnKernels
from .source import Listing, Located, Mapping, Scalar, compose, read_source
from .vocabulary import RESERVED_FAMILIES

MAX_INCLUDE_DEPTH = 20

_ITEM_KEYS = ("name", "family", "include")


def load_table(
    path: Path, *, base: Table | None = None, kernels: OwnKernels | None = None
) -> Table:
    """Read a spec file and everything it includes.

    `base` holds further ops that formulas may call, `kernels` further kernels. Raises SpecError
    with every mistake of every file; a table that is returned has none. Nothing in a file is ever
    executed.
    """
    report = Report()
    files = _Files(report)
    files.read(path)
    entries: list[Entry] = []
    unreadable: list[str] = []
    for raw in files.entries:
        entry = read_entry(raw, report)
        if entry is not None:
            entries.append(entry)
        elif (name := declared_name(raw.mapping)) is not None:
            unreadable.append(name)
    lint(entries, unreadable, base, report, kernels)
    report.raise_if_any()
    table = Table(tuple(with_copies(entry.op for entry in entries)))
    return _with_helpers(with_choices(with_base_names(table, base)), base)


def _with_helpers(table: Table, base: Table | None) -> Table:
    """The table with the helpers of each op: private ones; of a spec of one's own, all of it."""
    known = Table(tuple(op for op in table.ops if op.is_private or base is not None))
    return Table(tuple(dataclasses.replace(op, helpers=_helpers(op, known)) for op in table.ops))


def _helpers(op: OpSpec, known: Table) -> tuple[OpSpec, ...]:
    """The ops that an op calls, directly or through others, each once and without itself."""
    rules = [op.definition, op.kernel, op.batch, *(r for _, r in op.vjps), *(r for _, r in op.jvps)]
    found: dict[str, OpSpec] = {}
    formulas = [rule for rule in rules if isinstance(rule, Formula)]
    while formulas:
        for call in calls(formulas.pop().block):
            for helper in known.overloads(call.function):
                if helper.name not in {op.name, *found}:
                    found[helper.name] = helper
                    formulas += [f for f in (helper.definition,) if f is not None]
    return tuple(found.values())


class _Files:
    """Reads a file and its includes into one flat list of entries."""

    def __init__(self, report: Report) -> None:
        self.entries: list[RawEntry] = []
        self._report = report
        self._seen: set[Path] = set()
        self._depth = 0

    def read(self, path: Path, asked_by: Span | None = None) -> None:
        """Add the entries of `path`; `asked_by` is the include that names it."""
        self._seen.add(path.resolve())
        self._depth += 1
        self._read(path, asked_by)
        self._depth -= 1

    def _read(self, path: Path, asked_by: Span | None) -> None:
        source = read_source(path, self._report, asked_by=asked_by)
        root = None if source is None else compose(source, self._report)
        if root is None:
            return
        if not isinstance(root, Listing):
            help = "a spec file is a list: each op begins with `- name:`"
            self._report.error("GS011", root.span, "the file is not a list", help)
            return
        family: str | None = None
        for item in root.items:
            family = self._item(item, path, family)

    def _item(self, item: Located, path: Path, family: str | None) -> str | None:
        """Take one item of the list; returns the family of what follows, None if none is named."""
        kinds = [key for key in _ITEM_KEYS if isinstance(item, Mapping) and item.get(key)]
        if not isinstance(item, Mapping) or not kinds:
            self._not_an_item(item)
        elif kinds[0] == "name":
            if family is None:
                # A file is its own family; a bad name is told once.
                family = path.stem
                self._check_family(family, item.span)
            self.entries.append(RawEntry(item, family))
        else:
            self._check_alone(item, kinds[0])
            value = item.get(kinds[0])
            if not isinstance(value, Scalar):
                self._report.error("GS010", item.span, f"`{kinds[0]}` must be a text")
            elif kinds[0] == "include":
                self._include(value, path)
            elif self._check_family(value.value, value.span):
                return value.value
        return family

    def _not_an_item(self, item: Located) -> None:
        keys = [key.value for key, _ in item.items] if isinstance(item, Mapping) else []
        help = next((hint for key in keys if (hint := did_you_mean(key, _ITEM_KEYS))), "")
        self._report.error(
            "GS011",
            item.span,
            "an item of the list has none of `name`, `family`, `include`",
            help,
        )

    def _check_alone(self, item: Mapping, kind: str) -> None:
        for key, _ in item.items:
            if key.value != kind:
                help = f"`- {kind}: ...` stands alone"
                self._report.error("GS012", key.span, f"`{key.value}` beside `{kind}`", help)

    def _check_family(self, family: str, span: Span) -> bool:
        """A family is a module of the generated package, so its name must be one."""
        good = (
            family.isidentifier()
            and family.isascii()
            and not keyword.iskeyword(family)
            and not family.startswith("_")
            and family not in RESERVED_FAMILIES
            and not family.endswith("_names")  # modules of namespaces
        )
        if not good:
            help = "a family is the name of a Python module: `- family: linalg`"
            self._report.error("GS014", span, f"`{family}` cannot be a family", help)
        return good

    def _include(self, node: Scalar, path: Path) -> None:
        target = path.parent / node.value
        folder = path.parent.resolve()
        try:
            resolved = target.resolve()
        except (OSError, ValueError, RuntimeError):
            self._report.error("GS013", node.span, f"`{node.value}` is not a path")
            return
        if Path(node.value).is_absolute() or not resolved.is_relative_to(folder):
            help = "an include is a relative path below the including file"
            self._report.error("GS013", node.span, f"`{node.value}` leads out of {folder}", help)
        elif resolved in self._seen:
            help = "each file is included once, and never by itself"
            self._report.error("GS013", node.span, f"`{node.value}` is read already", help)
        elif self._depth >= MAX_INCLUDE_DEPTH:
            message = f"`{node.value}` is included over more than {MAX_INCLUDE_DEPTH} files"
            self._report.error("GS013", node.span, message, "include it from the first file")
        else:
            self.read(target, node.span)
