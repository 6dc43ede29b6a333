"""Results of a sweep, as located diagnostics and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..diagnostics import Diagnostic, Span
from ..ir.nodes import TextSpan
from ..spec.model import Formula, OpSpec
from .subjects import Subject
from .sweep import BOUNDS, Swept

CODE = "GS090"


@dataclass(frozen=True, slots=True)
class Advice:
    """Formulas of an op that lose less, and what was found out about them."""

    formulas: tuple[tuple[str, str], ...]
    """`(what it gives, the formula)`"""
    rules: tuple[str, ...]
    """The entries of the table of rewrites that were applied, with their sources."""
    before: int
    after: int
    """The number of points at which digits are lost, before and after."""
    status: str
    """Kind of proof of the rewritten formulas."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One formula of one op that loses digits, in one dtype or in both."""

    subject: Subject
    swept: tuple[Swept, ...]
    """The worst dtype first."""
    what: str
    """`forward`, `VJP and JVP of self`, `second derivative by self, other`"""
    advice: Advice | None = None
    """Shown with the first finding of an op: formulas are rewritten together."""

    @property
    def span(self) -> Span:
        """The place of the formula at fault."""
        return _place(self.subject.op, self.swept[0])

    def diagnostic(self) -> Diagnostic:
        """The finding as the other mistakes of a spec are shown."""
        lines = [f"`{self.subject.label}` loses digits: its {self.what}"]
        lines += [_line(each) for each in self.swept]
        return Diagnostic(CODE, self.span, "\n".join(lines), self._help())

    def _help(self) -> str:
        if self.advice is None:
            return ""
        texts = "; ".join(f"{what}: {text}" for what, text in self.advice.formulas)
        left = f"digits are lost at {self.advice.after} points instead of {self.advice.before}"
        return f"write `{texts}` ({self.advice.status} equal; then {left})"

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON data; numbers that JSON lacks are strings."""
        advice = self.advice
        return {
            "op": self.subject.label,
            "of": self.what,
            "place": str(self.span),
            "lost": [_json(each) for each in self.swept],
            "rewritten": None
            if advice is None
            else {
                "formulas": dict(advice.formulas),
                "rules": list(advice.rules),
                "points_before": advice.before,
                "points_after": advice.after,
                "proof": advice.status,
            },
        }


def findings_of(
    subject: Subject, swept: Sequence[Swept], advice: Advice | None = None
) -> list[Finding]:
    """The findings of one op, a finding for each rule and each second derivative.

    Where the JVP is the VJP with a tangent in it, both are one finding.
    """
    own = {name for name, rule in subject.op.jvps if isinstance(rule, Formula)}
    groups: dict[str, list[Swept]] = {}
    for each in swept:
        how, by = each.quantity
        if each.lost and (own or how != "JVP"):
            what = f"VJP and JVP of {by[0]}" if how == "VJP" and not own else each.what
            groups.setdefault(what, []).append(each)
    found = []
    for what, group in groups.items():
        found.append(Finding(subject, tuple(sorted(group, key=lambda s: -s.worst)), what, advice))
        advice = None
    return found


def _line(swept: Swept) -> str:
    worst = swept.lost[0]
    where = ", ".join(
        f"{name} = {x!r}" for name, x in zip(swept.arguments, worst.point, strict=True)
    )
    points = f"{swept.count} of {swept.checked} points"
    return (
        f"  {swept.dtype}: at {where} it is {worst.got!r} and should be {worst.exact!r} "
        f"({worst.cause}; {_amount(worst.relative, swept.dtype)}); {points}"
    )


def _amount(relative: float, dtype: str) -> str:
    if relative == float("inf"):
        return "no digit is right"
    return f"relative error {relative:.1e}, bound {BOUNDS[dtype]:.0e}"


def _json(swept: Swept) -> dict[str, Any]:
    worst = swept.lost[0]
    return {
        "dtype": swept.dtype,
        "at": {n: repr(x) for n, x in zip(swept.arguments, worst.point, strict=True)},
        "got": repr(worst.got),
        "exact": repr(worst.exact),
        "relative_error": repr(worst.relative),
        "cause": worst.cause,
        "points": swept.count,
        "of_points": swept.checked,
    }


def _place(op: OpSpec, swept: Swept) -> Span:
    """The place of the rule that gives a quantity; that of the op if it is derived."""
    how, by = swept.quantity
    rule: object = op.definition
    if by:
        rule = op.rule(by[0])
    if how == "JVP":
        tangent = dict(op.jvps).get(op.signature.outputs[0].name)
        rule = tangent if isinstance(tangent, Formula) else rule
    if isinstance(rule, Formula) and not rule.is_derived:
        return rule.locate(TextSpan(0, len(rule.text)))
    return op.span
