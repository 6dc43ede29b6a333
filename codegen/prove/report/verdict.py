"""The verdict of a proof, as plain data: workers send it, the lock keeps it, an author reads it.

Free of sympy: the parent process imports this, and need not know how anything was proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ...diagnostics import Diagnostic, Span
from ...ir.nodes import TextSpan
from ...spec.model import AutoElementwise, Formula, OpSpec

PROOF_CODES = {
    "GS070": "a refuted formula",
    "GS071": "a proof that could not be carried out",
    "GS072": "a derivative that cannot be derived",
    "GS073": "a formula that has no meaning where one of several tangents or gradients is absent",
}


class Status(StrEnum):
    """The statuses of a proof, from best to worst."""

    PROVED = "proved"
    CERTIFIED = "certified"
    TESTED = "tested"
    REFUTED = "refuted"
    ERROR = "error"


def worst(statuses: Sequence[Status]) -> Status:
    """The least that can be said of all of them."""
    order = list(Status)
    return max(statuses, key=order.index, default=Status.PROVED)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A point at which a formula is wrong, with both values there.

    Expressions are sympy's text over the names in `point`, so that anybody can evaluate them.
    """

    label: str
    """`VJP of self[0,1]`"""
    key: str
    """Name of the formula in the spec: an argument, an output, or `forward`."""
    call: str
    """The example, as a call."""
    point: tuple[tuple[str, str], ...] = ()
    """Each symbol with its value, a rational `p/q`."""
    got: str = ""
    got_value: str = ""
    expected: str = ""
    expected_value: str = ""
    message: str = ""
    """Said instead of the values where there are none, e.g. for a wrong shape."""
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Batching:
    """The batching rules of an op, in the order in which they are tried, and how they were found.

    None of an op that always loops.
    """

    rules: tuple[str, ...] = ()
    """Arrangements as `gradspec.batching.rules` reads them, or `formula`."""
    fitting: int = 0
    """Calls with numbers that a rule fits; the others are made in a loop."""
    calls: int = 0
    exact: int = 0
    """Calls on symbols whose results are equal as expressions."""


LOST = "the derivatives overflow"
"""Begins the note on an op whose formulas are right, and give nan or infinity in floats."""


@dataclass(frozen=True, slots=True)
class OpVerdict:
    """The outcome for one op."""

    name: str
    status: Status
    identities: int = 0
    chambers: int = 0
    seconds: float = 0.0
    counterexample: Counterexample | None = None
    notes: tuple[str, ...] = ()
    calls: int = 0
    """Calls beside the examples at which every derivative was compared with slopes."""
    conditions: int = 0
    """Conditions of the formulas, each of which some call took both ways."""
    batching: Batching | None = None
    """None of an op that is batched as the ops that it calls are."""

    @property
    def holds(self) -> bool:
        """Return whether the op may be generated."""
        return self.status not in (Status.REFUTED, Status.ERROR)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as data for JSON."""
        return asdict(self)


def explain(verdict: OpVerdict, spec: OpSpec) -> list[Diagnostic]:
    """Describe a proof that failed to its author; nothing for one that holds."""
    if verdict.holds:
        return []
    found = verdict.counterexample
    if verdict.status is Status.ERROR or found is None:
        reason = "; ".join(verdict.notes)
        message = f"`{spec.name}` could not be proved: {reason}"
        return [Diagnostic("GS071", spec.span, message, _advice(reason))]
    text = f"{found.label} is wrong in `{found.call}`"
    if not found.call:
        text = f"{found.label} {found.message}"
    elif found.message:
        text += f": {found.message}"
    else:
        at = ", ".join(f"{symbol} = {value}" for symbol, value in found.point)
        sides = ("the kernel", "the definition") if found.key == "kernel" else _SIDES
        text += (
            f"\n  {'at':<14} {at}"
            f"\n  {sides[0]:<14} {found.got_value}  =  {found.got}"
            f"\n  {sides[1]:<14} {found.expected_value}  =  {found.expected}"
        )
    return [Diagnostic("GS070", _place(spec, found.key), text, found.suggestion)]


_SIDES = ("the formula", "the derivative")


def _advice(reason: str) -> str:
    if "truth value of an array" not in reason:
        return ""
    return (
        "elements are told apart by `where(condition, a, b)`; `if` asks one thing of the whole "
        "call, such as a flag or a shape"
    )


def _place(spec: OpSpec, key: str) -> Span:
    """The place of the formula at fault; the entry, if it stands nowhere."""
    rules: list[Any] = [rule for names, rule in spec.vjps if key in names]
    rules += [rule for name, rule in spec.jvps if name == key]
    if not rules or key in ("forward", "kernel"):
        rules = [spec.implementation or spec.composite]
    rule = rules[0]
    if isinstance(rule, AutoElementwise):  # a JVP that was made of the VJPs: these were written
        rule = next((each for _, each in spec.vjps if isinstance(each, Formula)), rule)
    if isinstance(rule, Formula):
        return rule.locate(TextSpan(0, len(rule.text)))
    return rule.span if rule is not None else spec.span
