"""The rules of an op as formulas of which every framework makes code."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..emit.tangents import tangent_terms
from ..ir import nodes as ir
from ..ir.walk import substitute, with_parts
from ..render.resolve import Resolver
from ..spec.model import AutoLinear, Formula, OpSpec
from .frameworks import Framework
from .refusals import has_kernel


def gradients(op: OpSpec, framework: Framework) -> list[tuple[tuple[str, ...], Formula]]:
    """The VJPs of an op, each with the arguments that it is for."""
    return [
        (names, _without_ignored(rule, framework))
        for names, rule in op.vjps
        if isinstance(rule, Formula)
    ]


def tangents(op: OpSpec, resolver: Resolver, framework: Framework) -> dict[str, list[Formula]]:
    """The JVP of each output as terms that are summed up, of tangents `x_t` that are all there."""
    terms = {
        output: [_linear(op)]
        if isinstance(rule, AutoLinear)
        else [formula for _, formula in tangent_terms(op, rule, resolver)]
        for output, rule in op.jvps
    }
    return {
        output: [_without_ignored(term, framework) for term in of] for output, of in terms.items()
    }


def _without_ignored(formula: Formula, framework: Framework) -> Formula:
    """A formula without the arguments that make no difference to a framework, as layouts."""

    def changed(node: Any) -> Any:
        if isinstance(node, ir.Call):
            kwargs = tuple(
                (name, value)
                for name, value in node.kwargs
                if not framework.ignores(node.function, name)
            )
            node = node if kwargs == node.kwargs else dataclasses.replace(node, kwargs=kwargs)
        return with_parts(node, changed)

    return dataclasses.replace(formula, block=changed(formula.block))


def _linear(op: OpSpec) -> Formula:
    """The definition, of tangents."""
    assert op.forward is not None
    if has_kernel(op):
        return _itself(op)
    values: dict[str, ir.Expr] = {name: ir.Name(f"{name}_t") for name in op.differentiable_params}
    block = substitute(op.forward.block, values)
    assert isinstance(block, ir.Block)
    return dataclasses.replace(op.forward, block=block)


def _itself(op: OpSpec) -> Formula:
    """The call of an op that a kernel defines, of tangents."""
    assert op.forward is not None
    moved = set(op.differentiable_params)
    words = {
        p.name: ir.Name(f"{p.name}_t" if p.name in moved else p.name) for p in op.signature.params
    }
    call = ir.Call(
        op.signature.name,
        tuple(words[p.name] for p in op.signature.params if not p.keyword_only),
        tuple((p.name, words[p.name]) for p in op.signature.params if p.keyword_only),
        span=op.forward.block.span,
    )
    block = ir.Block((ir.Return(call),), span=op.forward.block.span)
    return dataclasses.replace(op.forward, block=block)
