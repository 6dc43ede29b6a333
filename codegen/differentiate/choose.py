"""The way by which a rule is derived: by sympy for elementwise definitions, else by the steps."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ..diagnostics import SpecError
from ..ir.guard import FormulaError, check_size
from ..ir.nodes import Attribute, Block, Const, Expr, Name, Subscript, Unary
from ..ir.walk import assigned_names, names, walk
from ..prove.report import derive as by_sympy
from ..render.to_text import block_text
from ..spec.data_arguments import is_data
from ..spec.elementwise import is_elementwise_definition
from ..spec.model import Auto, NonDifferentiable, OpSpec, Table
from ..spec.shared_locals import ambiguous, leading
from .derivation import Naming
from .derive import derive_jvp, derive_vjp, with_names
from .outcome import ELEMENTWISE, KERNEL, NO_GRADIENT, refused
from .terms import NoDerivative
from .transpose import jvp_from_vjps, vjp_from_jvps


def derive(op: OpSpec, table: Table) -> dict[str, str]:
    """The rules that are left to the generator, by argument and output. Raises SpecError.

    With them, under `kernel`, may come the definition with names for what the VJPs share with it.
    """
    outputs = [name for name, rule in op.jvps if isinstance(rule, Auto)]
    asked = {name: rule for names, rule in op.vjps if isinstance(rule, Auto) for name in names}
    found = {}
    stepwise: set[str] = set()
    is_elementwise = is_elementwise_definition(op, table) and not op.complex
    if is_elementwise:
        found = {
            name: _by_sympy(op, table, name, rule, stepwise, can_transpose=not outputs)
            for name, rule in asked.items()
        }
    else:
        found = _by_steps(op, table, asked, can_transpose=not outputs)
    gradients = {
        name: NonDifferentiable(op.span, is_derived=True)
        for name, text in found.items()
        if text == NO_GRADIENT
    }
    vjps = [(names, gradients.get(names[0], rule)) for names, rule in op.vjps]
    differentiated = dataclasses.replace(op, vjps=tuple(vjps))
    if differentiated.differentiable_params:
        for output, tangent_rule in op.jvps:
            if isinstance(tangent_rule, Auto):
                # Shapes that a VJP by steps sums to are not those of tangents.
                found[output] = (
                    ELEMENTWISE
                    if is_elementwise and not stepwise
                    else _jvp(differentiated, table, output, tangent_rule, not asked)
                )
    return found


def _by_sympy(
    op: OpSpec, table: Table, param: str, rule: Auto, stepwise: set[str], *, can_transpose: bool
) -> str:
    """The VJP of an elementwise definition; that which the JVP belongs to, if it has no slope.

    One that sympy does not find is derived by steps, and noted in `stepwise`.
    """
    try:
        text = by_sympy.derive_vjp(op, table, param)
        check_size(text)
        return text
    except SpecError as error:
        reason = error.diagnostics[0].message.partition("derived: ")[2]
    except FormulaError as error:
        reason = f"of sympy's derivative, {error.message}"
    try:
        found = derive_vjp(op, table, param)
    except NoDerivative:
        if can_transpose:
            return _transposed(op, table, param, rule, NoDerivative(reason))
        raise refused(op, param, rule, reason) from None
    if found is None:
        return NO_GRADIENT
    stepwise.add(param)
    return block_text(found)


def _by_steps(
    op: OpSpec, table: Table, asked: Mapping[str, Auto], *, can_transpose: bool
) -> dict[str, str]:
    """The VJPs, in which the same values have the same names, and the definition with these.

    Where the definition has no derivative, the VJPs are those that the JVPs belong to.
    """

    def derived(naming: Naming) -> dict[str, Block | None]:
        found = {}
        for param, rule in asked.items():
            with _told(op, param, rule):
                is_fixed = is_data(op, param, table)
                found[param] = None if is_fixed else derive_vjp(op, table, param, naming)
        return found

    found = {}
    try:
        naming = _naming(derived)
        for param, block in derived(naming).items():
            with _told(op, param, asked[param]):
                found[param] = NO_GRADIENT if block is None else _text(block)
    except SpecError as error:
        why = error.__cause__
        if can_transpose and isinstance(why, NoDerivative):
            return {name: _transposed(op, table, name, rule, why) for name, rule in asked.items()}
        raise
    named = naming.of_definition
    kernel = with_names(op, table, named) if op.kernel is None else None
    return found if kernel is None else found | {KERNEL: block_text(kernel)}


@contextmanager
def _told(op: OpSpec, param: str, rule: Auto) -> Iterator[None]:
    """Say of which argument there is no derivative."""
    try:
        yield
    except NoDerivative as error:
        raise refused(op, param, rule, str(error)) from error


def _naming(derived: Callable[[Naming], Mapping[str, Block | None]]) -> Naming:
    """The names of values that one of several VJPs has a name for, or that several compute.

    Of those that lead to each other only the last one is told apart.
    """
    shortest = [block for block in derived(Naming()).values() if block is not None]
    named = {name for block in shortest for name in assigned_names(block)}
    everything = Naming(everything=True)
    whole = [block for block in derived(everything).values() if block is not None]
    times = Counter(made for block in whole for made in leading(block))
    unclear = ambiguous(whole)
    common = {
        made
        for made, count in times.items()
        if count > 1
        and not _is_nothing(made.value)
        and everything.made.issuperset(made.targets)
        and not unclear & {*made.targets}
    }
    read = {
        name.id
        for block in whole
        for statement in block.statements
        if statement not in common
        for name in names(statement)
    }
    shared = {target for made in common for target in made.targets if target in read | named}
    measured = {name for block in whole for name in _measured(block)}
    return Naming(of_definition=(named | measured) - everything.made, of_derivatives=shared)


def _measured(block: Block) -> Iterator[str]:
    """The values whose shape is read: a node keeps them, for they would be computed again."""
    for node in walk(block):
        match node:
            case Attribute(Name(name), "shape" | "ndim" | "dtype"):
                yield name


def _is_nothing(value: Expr) -> bool:
    """Return whether to compute a value again takes no time: an item, or a name with a sign."""
    match value:
        case Unary("-", operand):
            return isinstance(operand, Name)
        case Subscript(operand, Const()):
            return isinstance(operand, Name)
    return False


def _text(block: Block) -> str:
    """The text of a derived rule. Raises NoDerivative if it is too long."""
    text = block_text(block)
    try:
        check_size(text)
    except FormulaError as error:
        raise NoDerivative(f"of what is derived, {error.message}") from None
    return text


def _transposed(op: OpSpec, table: Table, param: str, rule: Auto, why: NoDerivative) -> str:
    """The VJP that the JVPs belong to."""
    try:
        found = None if is_data(op, param, table) else vjp_from_jvps(op, table, param)
        return NO_GRADIENT if found is None else _text(found)
    except NoDerivative as error:
        raise refused(op, param, rule, f"{why}, and {error}") from None


def _jvp(op: OpSpec, table: Table, output: str, rule: Auto, can_transpose: bool) -> str:
    """The JVP of an output; that which the VJPs belong to, if the definition has no derivative."""
    try:
        return _text(derive_jvp(op, table, output, op.differentiable_params))
    except NoDerivative as error:
        why = error
    try:
        if can_transpose:
            return _text(jvp_from_vjps(op, table, output))
    except NoDerivative as error:
        raise refused(op, output, rule, f"{why}, and {error}") from None
    raise refused(op, output, rule, str(why))
