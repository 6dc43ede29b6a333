"""The errors of all libraries as the tables of docs/accuracy.md, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradspec_codegen.lint.sweep import BOUNDS

from .calls import Called
from .race import Entry

BEGIN = "<!-- measured: make accuracy -->\n"
END = "<!-- end of what was measured -->\n"

_KEPT = ("date", "numpy", "torch", "jax", "python")
"""Description of the machine on the pages."""


def libraries(entries: Iterable[Entry]) -> list[str]:
    """The libraries that took part, gradspec first."""
    return list(dict.fromkeys(entry.library for entry in entries))


def markdown(entries: Sequence[Entry], facts: Mapping[str, str]) -> str:
    """Write the part of docs/accuracy.md between its marks."""
    packages = ("numpy", "torch", "jax", "autograd", "mygrad", "python")
    versions = ", ".join(f"{name} {facts[name]}" for name in packages if name in facts)
    return "\n".join(
        [f"{facts['date']}; {versions}:", "", *_summary(entries), "", *_by_op(entries), ""]
    )


def _summary(entries: Sequence[Entry]) -> list[str]:
    """Count the results of each library that are above the bounds."""
    lines = [
        "| library | value | VJP | JVP | second derivative |",
        "| --- | --: | --: | --: | --: |",
    ]
    for library in libraries(entries):
        cells = [library]
        for how in ("forward", "VJP", "JVP", "second"):
            some = [e for e in entries if e.library == library and e.swept.quantity[0] == how]
            above = sum(entry.is_above for entry in some)
            cells.append(f"{above} of {len(some)}" if some else "–")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _by_op(entries: Sequence[Entry]) -> list[str]:
    """The worst relative error of the VJPs of each op that some library has above a bound."""
    names = libraries(entries)
    rows: dict[tuple[str, str], dict[tuple[str, str], Entry]] = {}
    for entry in entries:
        how, by = entry.swept.quantity
        if how == "VJP":
            row = rows.setdefault((entry.swept.subject, by[0]), {})
            row[entry.library, entry.swept.dtype] = entry
    heads = [f"{name} {dtype}" for name in names for dtype in BOUNDS]
    lines = [
        f"| VJP of | {' | '.join(heads)} |",
        f"| --- |{' --: |' * len(heads)}",
    ]
    for (subject, argument), row in rows.items():
        if any(entry.is_above for entry in row.values()):
            cells = [_cell(row.get((name, dtype))) for name in names for dtype in BOUNDS]
            lines.append(f"| `{subject}` by {argument} | {' | '.join(cells)} |")
    return lines


def _cell(entry: Entry | None) -> str:
    if entry is None:
        return "–"
    worst = entry.swept.worst
    text = "no digit" if math.isinf(worst) else f"{worst:.0e}"
    return f"**{text}**" if entry.is_above else text


def write_json(entries: Sequence[Entry], facts: Mapping[str, str], path: Path) -> None:
    """Every result with its worst error."""
    rows: list[dict[str, Any]] = [
        {
            "library": entry.library,
            "op": entry.swept.subject,
            "of": entry.swept.what,
            "dtype": entry.swept.dtype,
            "points": entry.swept.checked,
            # JSON has no infinity: an answer without a right digit has no relative error.
            "worst": entry.swept.worst if math.isfinite(entry.swept.worst) else None,
        }
        for entry in entries
    ]
    text = json.dumps({"facts": dict(facts), "bounds": BOUNDS, "results": rows}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def write_measured(entries: Sequence[Entry], facts: Mapping[str, str], path: Path) -> None:
    """Round what the pages of the atlas show to two digits: by op, quantity, dtype and library.

    The first choice of numbers of an op is also there along its first argument.
    """
    ops: dict[str, Any] = {}
    drawn: dict[str, Any] = {}
    subjects = {entry.swept.op: entry.swept.subject for entry in reversed(entries)}
    for entry in entries:
        if entry.library not in ("gradspec", "PyTorch", "JAX"):
            continue
        swept = entry.swept
        of = f"{swept.what}, {swept.dtype}"
        row = ops.setdefault(swept.subject, {}).setdefault(of, {})
        row[entry.library] = float(f"{swept.worst:.1e}") if math.isfinite(swept.worst) else None
        is_drawn = swept.quantity in (("forward", ()), ("VJP", swept.arguments[:1]))
        if is_drawn and swept.subject == subjects[swept.op]:
            row = drawn.setdefault(swept.subject, {}).setdefault(of, {})
            row[entry.library] = entry.along
    head = json.dumps({name: facts[name] for name in _KEPT if name in facts})
    text = f'{{"facts": {head},\n"bounds": {json.dumps(BOUNDS)},\n'
    text += f'"ops": {_a_line_each(ops)},\n"along": {_a_line_each(drawn)}}}\n'
    path.write_text(text, encoding="utf-8")


def write_calls(
    found: Sequence[Called], left: Mapping[str, str], facts: Mapping[str, str], path: Path
) -> None:
    """Round what the pages of the atlas show of ops that are not swept to two digits.

    What a file of before has of other ops stays. Rows are sorted by name, whatever came last.
    """
    looked_at = {each.op for each in found} | {*left}
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    calls, reasons, ops, drawn = (
        {op: row for op, row in kept.get(part, {}).items() if op not in looked_at}
        for part in ("calls", "left", "ops", "along")
    )
    reasons |= left
    for each in found:
        calls[each.op] = [each.call, each.scaled]
        for one in each.found:
            how, by = one.quantity
            of = f"{how} of {by[0]}, {one.dtype}" if by else f"{how}, {one.dtype}"
            row = ops.setdefault(each.op, {}).setdefault(of, {})
            row[one.library] = float(f"{one.worst:.1e}") if math.isfinite(one.worst) else None
            is_drawn = by in ((), (each.scaled,))
            if one.along and is_drawn:
                drawn.setdefault(each.op, {}).setdefault(of, {})[one.library] = one.along
    head = json.dumps({name: facts[name] for name in _KEPT if name in facts})
    parts = {"calls": calls, "left": reasons, "ops": ops, "along": drawn}
    lines = (
        f'"{part}": {_a_line_each(dict(sorted(rows.items())))}' for part, rows in parts.items()
    )
    text = f'{{"facts": {head},\n"bounds": {json.dumps(BOUNDS)},\n' + ",\n".join(lines) + "}\n"
    path.write_text(text, encoding="utf-8")


def _a_line_each(rows: Mapping[str, Any]) -> str:
    lines = ",\n".join(f"{json.dumps(op)}: {json.dumps(row)}" for op, row in rows.items())
    return f"{{\n{lines}\n}}"


def put_into(document: Path, text: str) -> None:
    """Replace what was measured before in a document."""
    old = document.read_text(encoding="utf-8")
    head, _, rest = old.partition(BEGIN)
    _, _, tail = rest.partition(END)
    document.write_text(f"{head}{BEGIN}{text}{END}{tail}", encoding="utf-8")
