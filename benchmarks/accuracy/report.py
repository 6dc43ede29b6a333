"""The findings of a sweep as a table and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .bounds import BOUNDS, Allowance, broken, excessive
from .sweep import DTYPES, Error, Finding


def print_table(
    findings: Sequence[Finding], exceptions: Sequence[Allowance], console: Console
) -> None:
    """Worst relative errors, a line for each op and quantity."""
    libraries = list(findings[0].errors)
    table = Table(title="Worst relative error where the true value is a normal number")
    table.add_column("op")
    table.add_column("of", no_wrap=True)
    for library in libraries:
        for dtype in DTYPES:
            table.add_column(f"{library} {dtype}", justify="right", no_wrap=True)
    table.add_column("worst at")
    for key, group in _lines(findings).items():
        cells = [
            _colored(group[dtype], library, exceptions) for library in libraries for dtype in DTYPES
        ]
        table.add_row(*key, *cells, _place(group))
    console.print(table)


def print_verdict(
    findings: Sequence[Finding], exceptions: Sequence[Allowance], console: Console
) -> None:
    """List what broke a bound, what was excused, and how often each library breaks the bounds."""
    for library in findings[0].errors:
        count = sum(f.worst(library) > BOUNDS[f.dtype] for f in findings if library in f.errors)
        console.print(
            f"{library}: {count} of {len(findings)} results have an error above the bound."
        )
    for exception in exceptions:
        where = f"{exception.op}, {', '.join(exception.dtypes)}, {exception.where}"
        console.print(f"Allowed: {where}: {exception.reason}", highlight=False)
    for finding in findings:
        for error in broken(finding, exceptions)[:1]:
            console.print(f"[red]Out of bounds[/]: {_sentence(finding, error)}", highlight=False)


def write_json(findings: Sequence[Finding], facts: Mapping[str, str], path: Path) -> None:
    """Every finding with its worst error."""
    rows: list[dict[str, Any]] = [
        {
            "op": f.subject,
            "of": f.quantity,
            "dtype": f.dtype,
            "points": f.checked,
            "worst": {name: _json(errors) for name, errors in f.errors.items()},
        }
        for f in findings
    ]
    text = json.dumps({"facts": facts, "bounds": BOUNDS, "findings": rows}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def _lines(findings: Sequence[Finding]) -> dict[tuple[str, str], dict[str, Finding]]:
    lines: dict[tuple[str, str], dict[str, Finding]] = {}
    for finding in findings:
        quantity = "forward" if finding.quantity == "forward" else f"VJP {finding.quantity}"
        lines.setdefault((finding.subject, quantity), {})[finding.dtype] = finding
    return lines


def _colored(finding: Finding, library: str, exceptions: Sequence[Allowance]) -> str:
    if library not in finding.errors:
        return "–"
    worst = finding.worst(library)
    text = f"{worst:.1e}" if worst > 0 else "< 1 ulp"
    if worst <= BOUNDS[finding.dtype]:
        return text
    allowed = library == "gradspec" and not broken(finding, exceptions)
    return f"[yellow]{text}*[/]" if allowed else f"[red]{text}[/]"


def _place(group: Mapping[str, Finding]) -> str:
    worst = max(group.values(), key=lambda f: f.worst("gradspec") / BOUNDS[f.dtype])
    errors = worst.errors["gradspec"]
    return ", ".join(f"{x:.7g}" for x in errors[0].point) if errors else ""


def _sentence(finding: Finding, error: Error) -> str:
    point = ", ".join(map(repr, error.point))
    return (
        f"{finding.subject}, {finding.quantity} in {finding.dtype} at ({point}): {error.computed!r}"
        f" instead of {error.true!r}, and {len(excessive(finding))} of {finding.checked} points"
    )


def _json(errors: Sequence[Error]) -> dict[str, Any]:
    if not errors:
        return {"relative": 0.0}
    worst = errors[0]
    # JSON has no infinity: an answer that is nan or inf has no relative error.
    relative = worst.relative if math.isfinite(worst.relative) else None
    return {"relative": relative, "at": [repr(x) for x in worst.point]}
