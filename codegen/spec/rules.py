"""Checks of an entry's definition and of its derivative rules."""

from __future__ import annotations

from ..diagnostics import Report
from ..ir.nodes import Binary, Block, Call, Compare, Const, Expr, Return, Sequence, Star, Unary
from ..ir.walk import calls, free_names, walk
from .entry import Entry
from .linearity import nonlinear_part
from .model import (
    Auto,
    AutoLinear,
    Constant,
    Formula,
    NonDifferentiable,
    Rule,
    TangentRule,
)
from .scope import gradient_names


def check_rules(entry: Entry, report: Report) -> None:
    """Report every rule that is missing, that has no place, or that cannot be right."""
    _check_definition(entry, report)
    _check_kernel(entry, report)
    _check_output_flags(entry, report)
    _check_keys(entry, report)
    if entry.op.forward is not None and any(map(_is_kernel, calls(entry.op.forward.block))):
        _check_complete(entry, report)
    _check_vjp_formulas(entry, report)
    _check_linear(entry, report)


def _check_definition(entry: Entry, report: Report) -> None:
    given = [key for key in ("forward", "composite") if entry.mapping.get(key) is not None]
    if not given:
        help = "add `forward:`, or `composite:` if it only calls other ops"
        report.error("GS040", entry.op.span, f"`{entry.op.name}` has no definition", help)
    elif len(given) == 2:
        help = "`forward` defines a node, `composite` only calls other ops: keep one"
        report.error("GS040", entry.key_span("composite"), "two definitions of one op", help)
    if entry.mapping.get("batch") is not None and entry.op.composite is not None:
        help = "leave it out: the ops that it calls have batching rules"
        report.error("GS040", entry.key_span("batch"), "a batching rule of a composite", help)


def _check_kernel(entry: Entry, report: Report) -> None:
    """A kernel stands beside a definition that says more than the kernel's name."""
    if entry.mapping.get("kernel") is None:
        return
    if entry.mapping.get("forward") is None:
        help = "say in `forward` what the kernel computes, or move the call there"
        message = f"the kernel of `{entry.op.name}` computes no `forward`"
        report.error("GS059", entry.key_span("kernel"), message, help)
    kernel, forward = entry.op.kernel, entry.op.forward
    if kernel is None or forward is None:
        return
    if not any(map(_is_kernel, calls(kernel.block))):
        help = "a kernel is called, as in `kernels.softmax(self, dim)`; formulas stand in `forward`"
        report.error("GS059", kernel.spans[0], "`kernel` calls no kernel", help)
    for call in calls(forward.block):
        if _is_kernel(call):
            help = "write what it computes, or leave `kernel` out"
            message = f"`{call.function}` in `forward`, which is to define the op without kernels"
            report.error("GS059", forward.locate(call.span), message, help)
        elif call.function == entry.op.signature.name:
            # Of overloads too, as the one that is called may be this very op with its kernel.
            message = f"the definition of `{entry.op.name}` calls `{call.function}`"
            help = "a definition ends in primitives: `np.` or `sp.`"
            report.error("GS039", forward.locate(call.span), message, help)


def _is_kernel(call: Call) -> bool:
    return call.function.startswith("kernels.")


def _check_output_flags(entry: Entry, report: Report) -> None:
    flags, outputs = entry.op.output_differentiability, entry.op.signature.outputs
    place = entry.key_span("output_differentiability")
    if flags and len(flags) != len(outputs):
        message = f"{len(flags)} flags for {len(outputs)} outputs"
        report.error("GS049", place, message, "give one flag an output")
        return
    for flag, output in zip(flags, outputs, strict=False):
        if flag and output.type.base != "Tensor":
            message = f"the output `{output.name}` is no tensor and cannot be differentiable"
            report.error("GS049", place, message)
    differentiable = {output.name for output in entry.op.differentiable_outputs}
    for output in outputs:
        if output.name not in differentiable and entry.has_rule_for(output.name):
            message = f"a JVP of `{output.name}`, which is not differentiable"
            report.error("GS049", entry.key_span(output.name), message, "leave it out")


def _check_keys(entry: Entry, report: Report) -> None:
    params = {param.name: param for param in entry.op.signature.params}
    outputs = {output.name for output in entry.op.signature.outputs}
    seen: set[str] = set()
    for names, key, _ in entry.rule_keys():
        if not (params.keys() >= set(names) or outputs >= set(names)):
            continue
        if entry.mapping.get("forward") is None and entry.op.composite is not None:
            help = "its gradient comes from the ops it calls: leave the rule out"
            report.error("GS041", key.span, f"a rule for `{key.value}` of a composite", help)
            continue
        for name in names:
            if name in params and params[name].type.base != "Tensor":
                message = f"`{name}` is no tensor: it has no gradient"
                report.error("GS042", key.span, message, "leave the rule out")
            elif name in seen:
                message = f"a second rule for `{name}`"
                report.error("GS048", key.span, message, "keep one of the two")
            seen.add(name)


def _check_complete(entry: Entry, report: Report) -> None:
    """Report the rules that are missing of a definition by a kernel.

    Of VJPs and JVPs, one half is derived from the other, if that is there as formulas.
    """
    vjps = {name: rule for names, rule in entry.op.vjps for name in names}
    jvps = dict(entry.op.jvps)
    no_vjp = [name for name, rule in vjps.items() if _is_missing(rule)]
    no_jvp = [name for name, rule in jvps.items() if _is_missing(rule)]
    if not all(isinstance(rule, Formula) for rule in jvps.values()):
        for name in no_vjp:
            message = f"no gradient formula for `{name}` of `{entry.op.name}`"
            help = f"add `{name}: <formula>` or `{name}: non_differentiable`: {_OPAQUE} JVPs"
            report.error("GS043", entry.param_span(name), message, help)
    if any(isinstance(rule, Auto) for rule in vjps.values()):
        for name in no_jvp:
            message = f"no JVP for the output `{name}` of `{entry.op.name}`"
            help = (
                f"add `{name}: auto_linear`, `{name}: auto_element_wise` or a formula of the "
                f"tangents `self_t`, ...: {_OPAQUE} VJPs"
            )
            report.error("GS044", entry.op.span, message, help)


def _is_missing(rule: Rule | TangentRule) -> bool:
    return isinstance(rule, Auto) and not rule.is_given


_OPAQUE = "a kernel has no derivative, so it can be derived only from formulas for all"


def _check_vjp_formulas(entry: Entry, report: Report) -> None:
    grads = gradient_names(entry.op)
    types = {param.name: param.type for param in entry.op.signature.params}
    for names, rule in entry.op.vjps:
        if not isinstance(rule, Formula):
            continue
        key = ", ".join(names)
        # A misspelt `grad_x` is reported where it stands.
        free = free_names(rule.block) - types.keys()
        used = {name for name in free if name.startswith("grad")}
        # `None` is a promise that the derivative is zero, which is proved as any other.
        nothing = rule.block.expression == Const(None)
        if grads and not used and not nothing:
            message = f"the VJP of `{key}` does not use {' or '.join(f'`{g}`' for g in grads)}"
            help = "a VJP is linear in the gradient; for none write `non_differentiable`"
            report.error("GS045", rule.spans[0], message, help)
        if len(names) > 1 or not types[names[0]].is_list:
            _check_count(rule, len(names), key, report)


def _check_count(rule: Formula, count: int, key: str, report: Report) -> None:
    """A joint rule returns a tuple with a gradient for each of its names."""
    for value in _returned(rule.block):
        got = _count(value)
        if got is not None and got != count:
            message = f"the rule of `{key}` returns {got} gradients for {count} arguments"
            report.error("GS046", rule.locate(value.span), message)


def _returned(block: Block) -> list[Expr]:
    return [node.value for node in walk(block) if isinstance(node, Return)]


def _count(value: Expr) -> int | None:
    """Count the gradients that an expression gives; None where that cannot be seen."""
    match value:
        case Sequence(items=items):
            return None if any(isinstance(item, Star) for item in items) else len(items)
        case Unary() | Binary(op="*" | "/" | "-" | "**" | "@") | Compare() | Const():
            return 1
    return None


def _check_linear(entry: Entry, report: Report) -> None:
    op = entry.op
    linear = [rule for _, rule in op.jvps if isinstance(rule, AutoLinear)]
    if not linear or op.forward is None:
        return
    tensors = {
        param.name
        for param in op.signature.tensor_params
        if not isinstance(op.rule(param.name), NonDifferentiable | Constant)
    }
    if (part := nonlinear_part(op.forward.block, tensors)) is not None:
        text = op.forward.text[part.span.start : part.span.end]
        help = "write the JVP, or `auto_element_wise` if each element stands for itself"
        message = f"`auto_linear`, but `{text}` in `forward` is not linear"
        report.error("GS047", linear[0].span, message, help)
