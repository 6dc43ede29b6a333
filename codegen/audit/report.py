"""An audit as text for a terminal, as Markdown and as a page for browsers."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from .findings import Finding
from .grading import Grade
from .published import Published, is_wrong_still
from .run import Audited

_FIRST_LINES = re.compile(
    r"## .+\n\n\d[\d,]* functions, |<!doctype html>\n(.*\n){0,4}<title>Audit of "
)
"""First lines of a report."""

_LONGEST_START = 1024

MEANINGS = {
    Grade.STRUCTURAL: "The formula is wrong at usual points, or in a mode; finite differences of "
    "the library's own function agree with the exact value.",
    Grade.BOUNDARY: "Wrong at isolated points (zeros, singular matrices, removable "
    "singularities) where the function is smooth, or not between the slopes of both sides of a "
    "kink.",
    Grade.NUMERICAL: "The formula is right; it overflows or cancels where the derivative is a "
    "normal float64, and more than three digits of it are lost.",
    Grade.MISSING: "No derivative is declared: plain reverse mode refuses, and the other modes "
    "answer zero. A feature that is missing rather than a mistake.",
    Grade.CONVENTION: "A choice where there is no derivative, and not gradspec's: no mistake.",
}


def summary(found: Audited, seconds: float) -> str:
    """Format findings for a terminal: each with its program, and their numbers."""
    blocks = [_block(finding) for finding in found.findings]
    counts = _counted(found.findings)
    told = ", ".join(f"{n} {grade}" for grade, n in counts.items()) or "no finding"
    blocks.append(
        f"{found.library.title} {found.version}: {len(found.functions)} functions, "
        f"{found.answers} derivatives: {told}, in {seconds:.0f} s."
    )
    for op, text in found.own:
        blocks.append(f"gradspec's own rules of {op} differ from each other at {text}")
    if found.published:
        blocks.append(_of_published(found))
    return "\n".join(blocks)


def _block(finding: Finding) -> str:
    where = f" at {finding.where}" if finding.where else ""
    lines = [
        f"{finding.grade}: {finding.function}, {', '.join(finding.modes)}",
        f"  {finding.found!r}{where}; {told_exact(finding)}",
        *(f"    {line}" for line in finding.program.splitlines()),
        "",
    ]
    return "\n".join(lines)


def told_exact(finding: Finding) -> str:
    """The right answer in words."""
    if finding.exact == finding.exact:
        return f"right is {finding.exact!r}"
    return "there is no derivative"


def _counted(findings: Sequence[Finding]) -> Counter[str]:
    return Counter(str(finding.grade) for finding in findings)


def _of_published(found: Audited) -> str:
    wrong = [(each, answer) for each, answer in found.published if is_wrong_still(each, answer)]
    again = sum(found.finds(each) for each, _ in wrong)
    return (
        f"Of {len(found.published)} published reports {len(wrong)} are still wrong here; "
        f"the audit finds {again} of these."
    )


def markdown_report(found: Audited) -> str:
    """The report for the documentation."""
    return _environment(False).get_template("report.md.j2").render(**_view(found))


def html_report(found: Audited) -> str:
    """The report for browsers: one file that needs no other."""
    return _environment(True).get_template("report.html.j2").render(**_view(found))


def is_report(file: Path) -> bool:
    """Return whether a file is a report that an audit has written. Raises OSError."""
    with open(file, encoding="utf-8", errors="replace") as opened:
        return bool(_FIRST_LINES.match(opened.read(_LONGEST_START)))


@functools.cache
def _environment(escape: bool) -> Environment:
    return Environment(
        loader=PackageLoader(__package__ or "", "."),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _view(found: Audited) -> dict[str, Any]:
    return {
        "title": found.library.title,
        "name": found.library.name,
        "version": found.version,
        "functions": len(found.functions),
        "answers": found.answers,
        "sections": list(_sections(found)),
        "shared": [_row(finding) for finding in found.shared],
        "published": [_published_row(found, *each) for each in found.published],
        "of_published": _of_published(found) if found.published else "",
    }


def _sections(found: Audited) -> Iterator[dict[str, Any]]:
    for grade, meaning in MEANINGS.items():
        rows = [_row(f) for f in found.findings if f.grade is grade]
        yield {
            "grade": str(grade),
            "meaning": meaning,
            "findings": rows,
            "count": len(rows),
        }


def _row(finding: Finding) -> dict[str, Any]:
    return {
        "function": finding.function,
        "modes": ", ".join(finding.modes),
        "where": finding.where or "usual points",
        "found": f"{finding.found:.6g}",
        "exact": told_exact(finding) if finding.exact != finding.exact else f"{finding.exact:.6g}",
        "count": finding.count,
        "digits": finding.digits,
        "program": finding.program.rstrip(),
        "issues": [{"name": issue, "url": url_of(issue)} for issue in finding.issues],
    }


def url_of(issue: str) -> str:
    """The address of a report."""
    repository, _, number = issue.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


def _published_row(found: Audited, report: Published, answer: float | None) -> dict[str, Any]:
    wrong = is_wrong_still(report, answer)
    return {
        "name": report.issue,
        "url": url_of(report.issue),
        "title": report.title,
        "printed": "an error" if answer is None else f"{answer:.6g}",
        "exact": f"{report.exact:.6g}",
        "is_wrong": wrong,
        "is_found": found.finds(report),
    }
