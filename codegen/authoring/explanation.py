"""Everything there is to say about one op, gathered as plain data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..diagnostics import did_you_mean
from ..emit.format import format_source
from ..emit.names import node_names
from ..emit.saves import Saved, plan_saves
from ..pipeline import Plan
from ..prove.report.lock import Entry, counted
from ..prove.report.verdict import Status
from ..render.to_latex import latex
from ..spec.model import (
    REQUIRED,
    AutoElementwise,
    AutoLinear,
    Constant,
    Example,
    Formula,
    NonDifferentiable,
    NotImplementedYet,
    OpSpec,
    Requirement,
    Rule,
    Signature,
    Table,
    TangentRule,
    Type,
)
from ..target import Target


@dataclass(frozen=True, slots=True)
class FormulaText:
    """One formula: what it gives, as written, and as LaTeX (empty where there is no formula)."""

    of: str
    text: str
    latex: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that `gradspec explain` shows, in this order."""

    name: str
    node: str
    """`MulBackward0`; empty for an op without one."""
    family: str
    place: str
    """`file:line` of the entry."""
    signature: str
    doc: str
    definition: FormulaText
    kernel: str
    """The call that computes the definition on arrays; empty if that is computed as it stands."""
    vjps: tuple[FormulaText, ...]
    jvps: tuple[FormulaText, ...]
    saves: tuple[str, ...]
    requires: tuple[str, ...]
    domain: tuple[str, ...]
    kinks: tuple[str, ...]
    promotes: tuple[str, ...]
    aliases: tuple[str, ...]
    examples: tuple[str, ...]
    unproved: tuple[str, ...]
    accuracy: tuple[str, ...]
    verdict: tuple[str, ...]
    batching: tuple[str, ...]
    module: str
    """The generated file."""
    source: str
    """The generated code."""

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as data for JSON."""
        return asdict(self)


def find_ops(table: Table, name: str, everything: Table | None = None) -> list[OpSpec]:
    """The ops that go by a name: `mul`, `mul.Tensor`, `multiply`, `MulBackward0`, `linalg.inv`.

    `everything` also has the ops that the table builds on: nodes are numbered with them.
    """
    nodes = node_names(everything or table)
    last = name.rpartition(".")[2]
    return (
        [op for op in table.ops if name == op.signature.name or name in op.aliases]
        or [op for op in table.ops if name in (op.name, nodes.get(op.name))]
        or [op for op in table.ops if last == op.signature.name or last in op.aliases]
    )


def suggestion(table: Table, name: str) -> str:
    """``did you mean `mul`?`` for a name that no op has."""
    known = {op.signature.name for op in table.ops} | {a for op in table.ops for a in op.aliases}
    return did_you_mean(name, known | set(node_names(table).values()))


def explanation(op: OpSpec, planned: Plan, target: Target) -> Explanation:
    """All about one op of a plan."""
    definition = op.definition
    assert definition is not None
    names = [param.name for param in op.signature.params]
    proof = planned.recorded.get(op.name)
    fresh = proof is not None and proof.digest == planned.digests[op.name]
    return Explanation(
        name=op.name,
        node=node_names(planned.everything).get(op.name, ""),
        family=op.family,
        place=f"{op.span.path}:{op.span.line}",
        signature=spelled_signature(op.signature),
        doc=op.doc,
        definition=_formula("forward" if op.forward else "composite", definition, names),
        kernel=op.kernel.text if op.kernel else "",
        vjps=tuple(_formula(", ".join(of), rule, names) for of, rule in op.vjps),
        jvps=tuple(_formula(name, rule, names) for name, rule in op.jvps),
        saves=tuple(_saved(saved) for saved in plan_saves(op).saved) if op.forward else (),
        requires=tuple(map(_requirement, op.requires)),
        domain=tuple(f"{name}: {condition}" for name, condition in op.domain),
        kinks=tuple(f"where {condition}: {factor} * grad" for condition, factor in op.kinks),
        promotes=op.promotes,
        aliases=op.aliases,
        examples=tuple(_call(op, example) for example in op.examples),
        unproved=tuple(f"{c.text.strip()}: {reason}" for c, reason in op.unproved),
        accuracy=tuple(f"{c.text.strip()}: {reason}" for c, reason in op.accuracy),
        verdict=(
            _verdict(op, proof)
            if proof is not None and fresh
            else (f"not proved as it stands now: run `{target.command}`",)
            if target.lock
            else ("not known: say where the package is with --out",)
        ),
        batching=tuple(_batching(op, proof, planned)) if fresh else (),
        module=_module(op, target),
        source=format_source(planned.built.ops[op.name].source),
    )


def _module(op: OpSpec, target: Target) -> str:
    folder = target.out.name if target.out else "generated" if not target.is_extension else ""
    return f"{folder}/{op.family}.py".lstrip("/")


def _formula(of: str, rule: Rule | TangentRule, arguments: Collection[str]) -> FormulaText:
    match rule:
        case Formula():
            of = f"{of} (derived)" if rule.is_derived else of
            return FormulaText(of, rule.text, latex(rule.block, arguments))
        case AutoLinear():
            return FormulaText(of, "auto_linear: the op itself, of the tangents")
        case AutoElementwise():
            return FormulaText(of, "auto_element_wise: the VJP, with the tangents for grad")
        case NonDifferentiable():
            return FormulaText(of, "non_differentiable")
        case NotImplementedYet(reason):
            return FormulaText(of, f"not_implemented: {reason}")
        case Constant(reason):
            return FormulaText(of, f"constant: {reason}")
    return FormulaText(of, "auto")


def _requirement(requirement: Requirement) -> str:
    condition = requirement.formula.text.strip()
    return f"{condition}: {requirement.reason}" if requirement.reason else condition


def _saved(saved: Saved) -> str:
    what = saved.name if saved.source != "attribute" else f"{saved.of}.{saved.attribute}"
    if saved.source == "local":
        what = f"{what} as the forward computed it"
    readers = ", ".join(dict.fromkeys(saved.wanted_by))
    return f"{what}, for the gradient of {readers}"


def spelled_signature(signature: Signature) -> str:
    """The signature as a spec writes it."""
    words: list[str] = []
    for param in signature.params:
        if param.keyword_only and "*" not in words:
            words.append("*")
        text = f"{spelled_type(param.type)} {param.name}"
        words.append(text if param.default is REQUIRED else f"{text}={_default(param.default)}")
    outputs = [
        spelled_type(output.type) + (f" {output.name}" if len(signature.outputs) > 1 else "")
        for output in signature.outputs
    ]
    answer = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    return f"{signature.full_name}({', '.join(words)}) -> {answer}"


def spelled_type(type_: Type) -> str:
    """An ATen type as a spec writes it."""
    text = type_.base + (f"({type_.alias})" if type_.alias else "")
    if type_.is_list:
        text += f"{'?' if type_.has_optional_items else ''}[{type_.size or ''}]"
    return f"{text}?" if type_.is_optional else text


def _default(value: Any) -> str:
    return repr(list(value) if isinstance(value, tuple) else value)


def _call(op: OpSpec, example: Example) -> str:
    return f"{op.name}({', '.join(f'{name}={_value(value)}' for name, value in example.args)})"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        ((kind, data),) = value.items()
        return f"{kind}{data}"
    return str(value)


def _verdict(op: OpSpec, proof: Entry) -> tuple[str, ...]:
    """The outcome, and what was gone through."""
    from ..prove.calls.branches import conditions_of

    lines = [f"{proof.status}: {_gone_through(op, proof)}"]
    if proof.calls:
        lines.append(
            f"{counted(proof.calls, 'call')} beside the examples, each in every mode and for every "
            "subset of arguments and outputs, beside slopes of the values"
        )
    conditions = dict.fromkeys(f"`{c.text}` in {c.key}" for c in conditions_of(op))
    if conditions:
        lines.append(f"each of these came out both ways: {', '.join(conditions)}")
    return tuple(lines)


def _gone_through(op: OpSpec, proof: Entry) -> str:
    """Name the values that the examples were compared with."""
    if proof.status == Status.TESTED:
        return (
            f"{proof.identities} values and first and second derivatives of the examples, "
            f"compared with slopes; nothing on symbols: {op.proof_reason}"
        )
    chambers = counted(proof.chambers, "chamber")
    return f"{proof.identities} identities on symbols, in {chambers} of the examples"


_ARRANGEMENTS = {
    "align": "once for all examples, broadcast against each other",
    "lead": "once, with the examples as one more dimension in front",
    "fold": "once, with the examples joined to the first dimension",
    "index": "once, with the number of the example as one more index",
    "same": "once: the result is the same for all examples",
}


def _batching(op: OpSpec, proof: Entry | None, planned: Plan) -> Iterator[str]:
    """The batching rules of an op, as `vmap` tries them."""
    if op.composite is not None:
        yield "as the ops that it calls are"
    elif proof is not None and proof.batching is not None:
        found = proof.batching
        rules = planned.batching.kept(planned.recorded)[op.name]
        for rule in rules:
            kind = rule.split()[0].rstrip("0123456789")
            where = "`batch`" if op.batch else "the definition"
            yield f"{rule}: {_ARRANGEMENTS.get(kind, f'by the ops that {where} calls')}"
        if not rules:
            yield "a loop over the examples"
            return
        if found.fitting < found.calls:
            yield "a loop over the examples, where no rule fits"
        yield (
            f"compared with the examples one by one at {found.fitting} of {found.calls} calls, "
            f"with gradients and tangents; equal on symbols at {found.exact}"
        )
