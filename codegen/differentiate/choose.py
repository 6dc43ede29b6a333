"""The way by which a rule is derived: by sympy for elementwise definitions, else by the steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ..auto import ELEMENTWISE, KERNEL, NO_GRADIENT, refused
from ..diagnostics import SpecError
from ..ir.nodes import Attribute, Binary, Block, Call, Node, Subscript
from ..ir.parse import parse
from ..ir.walk import assigned_names, walk
from ..prove.inputs.kinks import is_elementwise
from ..prove.report import derive as by_sympy
from ..render.resolve import HELPERS
from ..render.to_text import block_text
from ..spec.model import Auto, NonDifferentiable, OpSpec, Table
from ..spec.primitives import code_facts, primitives
from .derive import derive_jvp, derive_vjp, with_names
from .masked import with_slopes
from .terms import NoDerivative


def derive(op: OpSpec, table: Table) -> dict[str, str]:
    """The rules that are left to the generator, by argument and output. Raises SpecError.

    With them, under `kernel`, may come the definition with names for what the VJPs share with it.
    """
    asked = {name: rule for names, rule in op.vjps if isinstance(rule, Auto) for name in names}
    found = {}
    if is_elementwise_definition(op, table):
        found = {name: _by_sympy(op, table, name, rule) for name, rule in asked.items()}
    else:
        found = _by_steps(op, table, asked)
    gradients = {
        name: NonDifferentiable(op.span) for name, text in found.items() if text == NO_GRADIENT
    }
    vjps = [(names, gradients.get(names[0], rule)) for names, rule in op.vjps]
    differentiated = dataclasses.replace(op, vjps=tuple(vjps))
    if differentiated.differentiable_params:
        for output, tangent_rule in op.jvps:
            if isinstance(tangent_rule, Auto):
                found[output] = _jvp(differentiated, table, output, tangent_rule)
    return found


def _by_sympy(op: OpSpec, table: Table, param: str, rule: Auto) -> str:
    tensors = {p.name for p in op.signature.tensor_params}
    try:
        block = parse(by_sympy.derive_vjp(op, table, param))
        return block_text(with_slopes(block, tensors, table))
    except SpecError as error:
        reason = error.diagnostics[0].message.partition("derived: ")[2]
    try:
        found = derive_vjp(op, table, param)
    except NoDerivative:
        raise refused(op, param, rule, reason) from None
    return NO_GRADIENT if found is None else block_text(found)


def _by_steps(op: OpSpec, table: Table, asked: Mapping[str, Auto]) -> dict[str, str]:
    """The VJPs, in which the same values have the same names, and the definition with these."""
    blocks: dict[str, Block | None] = {}
    named: set[str] = set()
    for again in (False, True):
        for param, rule in asked.items():
            try:
                blocks[param] = None if _is_data(op, param) else derive_vjp(op, table, param, named)
            except NoDerivative as error:
                raise refused(op, param, rule, str(error)) from None
        if not again:
            made = [block for block in blocks.values() if block is not None]
            named = {name for block in made for name in assigned_names(block)}
    found = {p: NO_GRADIENT if b is None else block_text(b) for p, b in blocks.items()}
    kernel = with_names(op, table, named) if op.kernel is None else None
    return found if kernel is None else found | {KERNEL: block_text(kernel)}


def _jvp(op: OpSpec, table: Table, output: str, rule: Auto) -> str:
    if is_elementwise_definition(op, table):
        return ELEMENTWISE
    try:
        return block_text(derive_jvp(op, table, output, op.differentiable_params))
    except NoDerivative as error:
        raise refused(op, output, rule, str(error)) from None


def is_elementwise_definition(op: OpSpec, table: Table) -> bool:
    """Return whether each element is computed from those that are broadcast to its place.

    The generated code must also be told so: by `promotes` where there are several arguments.
    """
    tensors = [p.name for p in op.signature.tensor_params]
    formula = op.forward
    if formula is None or len(op.signature.outputs) > 1:
        return False
    if len(tensors) > 1 and not {*tensors} <= {*op.promotes}:
        return False
    if any(p.type.is_list or p.type.is_optional for p in op.signature.tensor_params):
        return False
    if any(_is_data(op, name) for name in tensors):  # which are neither promoted nor numbers
        return False
    return all(_is_elementwise(node, table) for node in walk(formula.block))


def _is_elementwise(node: Node, table: Table, above: frozenset[str] = frozenset()) -> bool:
    """Return whether a part of a formula computes element by element, as far as it computes.

    `above` names the composites that the part belongs to: overloads of a name may call others.
    """
    match node:
        case Binary("@") | Subscript() | Attribute():
            return False
        case Call(function, args):
            if "." in function:
                known = primitives().get(function)
                is_known = known is not None and known.is_elementwise
                return is_known or function in code_facts().pointwise
            ops = [o for o in table.overloads(function) if len(o.signature.params) >= len(args)]
            alike = [is_elementwise_op(op, table, above) for op in ops]
            return function in HELPERS or (bool(alike) and all(alike))
    return True


def is_elementwise_op(op: OpSpec, table: Table, above: frozenset[str] = frozenset()) -> bool:
    """Return whether an op is elementwise; a composite is if all that it calls are."""
    if op.composite is None:
        return is_elementwise(op)
    if op.name in above:
        return False
    return all(_is_elementwise(n, table, above | {op.name}) for n in walk(op.composite.block))


def _is_data(op: OpSpec, param: str) -> bool:
    """Return whether examples give whole numbers or flags for an argument."""
    given = [dict(example.args).get(param) for example in op.examples]
    kinds = [next(iter(value)) for value in given if isinstance(value, Mapping)]
    return bool(kinds) and all(kind in ("int", "bool") for kind in kinds)
