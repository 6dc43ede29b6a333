"""An audit as text, Markdown, HTML."""

from __future__ import annotations

from .run import Audited


def summary(found: Audited, seconds: float) -> str:
    """A few lines on a terminal."""
    lines = []
    for finding in found.findings:
        lines.append(f"{finding.grade}: {finding.function}, {', '.join(finding.modes)}")
        lines.append(f"  {finding.where}: it is {finding.found!r} and should be {finding.exact!r}")
        lines += [f"    {line}" for line in finding.program.splitlines()]
    lines.append(f"{len(found.functions)} functions {found.answers} answers {seconds}")
    return "\n".join(lines)


def html_report(found: Audited) -> str:
    return ""


def markdown_report(found: Audited) -> str:
    return ""
