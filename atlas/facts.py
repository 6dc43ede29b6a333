"""Facts on a page of the atlas about one op, from the table and the lock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from gradspec.dispatch.registry import import_all
from gradspec_codegen.authoring.explanation import Explanation, explanation
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.ir.walk import calls
from gradspec_codegen.pipeline import Plan
from gradspec_codegen.prove.report.lock import Entry
from gradspec_codegen.render.to_latex import latex
from gradspec_codegen.spec.model import Formula, OpSpec, Table
from gradspec_codegen.target import Target

from .accuracy import Along, Call, Measured, Row
from .calls import Program, program
from .curves import picture
from .second import Second, second_derivatives

LONGEST_PART = 300
"""Characters of TeX: a longer definition is on the page of the op alone."""


@dataclass(frozen=True, slots=True)
class OpFacts:
    """One op, that is one overload, as its page shows it."""

    op: OpSpec
    told: Explanation
    proof: Entry | None
    status: str
    complex: str
    batching: str
    second: Second
    picture: str
    program: Program | None
    accuracy: tuple[Row, ...]
    along: tuple[Along, ...]
    """The errors along the first argument."""
    called: Call | None
    """The call that these are of; None of an elementwise op, which is swept."""
    measured_with: Mapping[str, str]
    unmeasured: str
    """Reason why there are no errors."""
    kernel_says: str
    """Kernel that defines the op; empty for an op that a formula defines."""
    written: tuple[str, ...]
    """The definition in TeX of one that is defined by a kernel, as `definitions.yaml` has it: the
    formula, and what its letters stand for."""
    calls: tuple[str, ...]
    """The ops of the table that its formulas call."""
    vjp_parts: tuple[tuple[str, str], ...]
    """`(name, TeX)` of the ops without a public function that the VJPs call, where it is short."""
    jvp_parts: tuple[tuple[str, str], ...]
    """The same of the JVPs, without those of the VJPs."""
    rules_of_parts: tuple[tuple[str, str, str], ...]
    """`(name, argument, TeX)` of the VJPs of what the definition of a composite op calls."""
    line: int
    """Line of the family's file at which the entry begins."""
    table_file: str


def facts_of(op: OpSpec, planned: Plan, target: Target, errors: Measured) -> OpFacts:
    """Gather all facts of one op."""
    import_all()
    everything = planned.everything
    proof = planned.recorded.get(op.name)
    vjp_parts, jvp_parts = (
        dict(_parts((rule for _, rule in rules), everything)) for rules in (op.vjps, op.jvps)
    )
    second = second_derivatives(op, everything)
    return OpFacts(
        op=op,
        told=explanation(op, planned, target),
        proof=proof,
        status=proof.status if proof is not None else "not proved",
        complex=_complex(op),
        batching=_batching(op, proof),
        second=second,
        picture=picture(op, everything),
        program=program(op),
        accuracy=tuple(errors.rows.get(op.name, ())),
        along=tuple(errors.along.get(op.name, ())),
        called=errors.calls.get(op.name),
        measured_with=errors.facts.get(op.name, {}),
        unmeasured=_unmeasured(op, errors),
        kernel_says=_kernel_says(op),
        written=tuple(apart(written_definitions().get(op.name, ""))),
        calls=tuple(dict.fromkeys(_called(op, planned))),
        vjp_parts=tuple(vjp_parts.items()),
        jvp_parts=tuple((name, tex) for name, tex in jvp_parts.items() if name not in vjp_parts),
        rules_of_parts=tuple(_rules_of_parts(op, second, planned, target)),
        line=op.span.line,
        table_file=op.span.path.rpartition("/")[2],
    )


def _unmeasured(op: OpSpec, errors: Measured) -> str:
    return f"{errors.left.get(op.name, 'no digits are known of it')}."


def _called(op: OpSpec, planned: Plan) -> Iterator[str]:
    rules = [op.forward, op.composite, *(r for _, r in op.vjps), *(r for _, r in op.jvps)]
    for rule in rules:
        if isinstance(rule, Formula):
            for call in calls(rule.block):
                is_op = planned.everything.overloads(call.function)
                if is_op and call.function != op.signature.name:
                    yield call.function


def _kernel_says(op: OpSpec) -> str:
    """The first line about the kernel that an op is defined by."""
    from gradspec import kernels

    found = op.definition and re.match(r"\s*kernels\.(\w+)\(", op.definition.text)
    return (getattr(kernels, found[1]).__doc__ or "").split("\n")[0] if found else ""


@cache
def written_definitions() -> dict[str, str]:
    """The definitions in TeX that are written by hand, by the op."""
    text = Path(__file__).with_name("definitions.yaml").read_text(encoding="utf-8")
    found: dict[str, str] = yaml.safe_load(text)
    return found


def apart(tex: str) -> Iterator[str]:
    r"""Cut a formula at each `\quad` outside of braces and environments: lines break there."""
    depth, start = 0, 0
    for found in re.finditer(r"\\(begin|end|quad)\b|\\[{}]|[{}]", tex):
        match found[0]:
            case "{" | r"\begin":
                depth += 1
            case "}" | r"\end":
                depth -= 1
            case r"\quad" if not depth:
                yield tex[start : found.start()].strip()
                start = found.end()
    yield from filter(None, [tex[start:].strip()])


def _parts(rules: Iterable[object], table: Table) -> Iterator[tuple[str, str]]:
    """Describe functions that rules call and users cannot: as TeX, where it is short."""
    for rule in rules:
        for call in calls(rule.block) if isinstance(rule, Formula) else ():
            op = next(iter(table.overloads(call.function)), None)
            if op is None or not op.is_private or op.definition is None:
                continue
            names = [param.name for param in op.signature.params]
            left = latex(parse(f"{call.function}({', '.join(names)})"), names)
            right = latex(op.definition.block, names)
            is_told = not op.definition.text.startswith("kernels.") and len(right) <= LONGEST_PART
            if op.definition.block.expression is not None and is_told:
                yield call.function, f"{left} = {right}"


def _rules_of_parts(
    op: OpSpec, second: Second, planned: Plan, target: Target
) -> Iterator[tuple[str, str, str]]:
    """The short VJPs of the ops that a composite one is differentiated by."""
    for name in second.made_of if op.composite is not None else ():
        part = next(iter(planned.everything.overloads(name)))
        for rule in explanation(part, planned, target).vjps:
            if rule.latex and len(rule.latex) <= LONGEST_PART:
                yield name, rule.of, rule.latex


def _complex(op: OpSpec) -> str:
    if op.real_only:
        return "refused"
    if op.complex:
        return "differentiable"
    return "by its parts" if op.composite is not None else "values only"


BATCHING = {
    "align": "broadcast",
    "lead": "one more dimension",
    "fold": "joined dimension",
    "index": "one more index",
    "same": "same for all",
    "formula": "by a formula",
}
"""Names of the kinds of batching rules in the index."""


def _batching(op: OpSpec, proof: Entry | None) -> str:
    if op.composite is not None:
        return "by its parts"
    if proof is None or proof.batching is None or not proof.batching.rules:
        return "a loop"
    kind = proof.batching.rules[0].split()[0].rstrip("0123456789")
    return BATCHING.get(kind, "by a formula")
