"""VJPs and JVPs of a definition, as the formulas that an author would have written.

A VJP goes back over the steps of the definition, a JVP along with them. A condition on which they
depend is gone through both ways, and stays a condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ..emit.record import reduced_params
from ..ir import nodes as ir
from ..ir.nodes import Assign, Block, Call, Const, Expr, If, Name, Return, Stmt
from ..ir.simplify import simplify
from ..ir.walk import names, substitute
from ..render.resolve import Resolver
from ..render.to_text import formula_text
from ..spec.model import Constant, NonDifferentiable, OpSpec, Table
from ..spec.scope import gradient_names
from .masked import with_slopes
from .program import Flattener, kinds_of
from .rules import Rules
from .shapes import Shape, Shapes
from .terms import ABSENT, NoDerivative, Undecided, added

MOST_WAYS = 64
"""A definition with more conditions, on all ways together, is not differentiated."""


def derive_vjp(op: OpSpec, table: Table, param: str, named: Set[str] = frozenset()) -> Block | None:
    """The VJP of an argument; None if the outputs do not depend on it. Raises NoDerivative.

    `named` are values that other formulas of the op have names for: this one uses them, too.
    """
    assumed = {f"{param} is None": False}
    block, depends = _ways(assumed, lambda ways: _vjp(op, table, param, ways, named))
    return block if depends else None


def derive_jvp(op: OpSpec, table: Table, output: str, moving: Sequence[str]) -> Block:
    """The JVP of an output, for tangents of the arguments in `moving`. Raises NoDerivative."""
    block, _ = _ways({}, lambda ways: _jvp(op, table, output, moving, ways))
    return block


def with_names(op: OpSpec, table: Table, named: Set[str]) -> Block | None:
    """The definition with names for some of its values, so that these can be kept for VJPs.

    None where it depends on conditions, or has these names already.
    """
    flattener = _flattener(op, table, {})
    try:
        outputs = flattener.run(_with_slopes(op, table), {})
    except (Undecided, NoDerivative):
        return None
    known = {target for step in flattener.program.steps for target in step.targets}
    if not named & known - _own_names(op):
        return None
    answer = outputs[0] if len(outputs) == 1 else ir.Sequence(outputs)
    return Block(_Derivation(flattener, named).block(op, answer, {}))


def _ways(
    assumed: Mapping[str, bool],
    derive: Callable[[Mapping[str, bool]], tuple[tuple[Stmt, ...], bool]],
    budget: list[int] | None = None,
) -> tuple[Block, bool]:
    """The derivative along every way through the conditions; and whether it is ever there."""
    budget = [MOST_WAYS] if budget is None else budget
    budget[0] -= 1
    if budget[0] < 0:
        raise NoDerivative("there are too many ways through its conditions")
    try:
        statements, found = derive(assumed)
        return Block(statements), found
    except Undecided as undecided:
        test = undecided.test
    text = formula_text(test)
    then, is_there = _ways({**assumed, text: True}, derive, budget)
    otherwise, is_here = _ways({**assumed, text: False}, derive, budget)
    if then == otherwise:
        return then, is_there
    return Block((If(test, then.statements, ()), *otherwise.statements)), is_there or is_here


def _definition(op: OpSpec) -> Block:
    definition = op.definition
    if definition is None:
        raise NoDerivative("it has no definition")
    return definition.block


def _with_slopes(op: OpSpec, table: Table) -> Block:
    """The definition, with every branch of a `where` kept where it has a slope."""
    tensors = {p.name for p in op.signature.tensor_params} | _own_names(op)
    block: Block = with_slopes(_definition(op), tensors, table)
    return block


@dataclass
class _Derivation:
    """The names that a derivative gives to what it computes, in order."""

    flattener: Flattener
    named: Set[str] = frozenset()
    """Values of the definition that keep their names."""
    made: list[tuple[str, Expr]] = field(default_factory=list)

    def bind(self, name: str, value: Expr) -> Expr:
        """Give a value a name."""
        for known, other in self.made:
            if other == value:
                return Name(known)
        fresh = self.flattener.fresh(name)
        self.made.append((fresh, value))
        self.flattener.bound[fresh] = value
        return Name(fresh)

    def block(self, op: OpSpec, answer: Expr, results: Mapping[str, Expr]) -> tuple[Stmt, ...]:
        """Everything that an answer needs, and the answer.

        A value that is read once stands where it is read, unless the definition has a name for it.
        """
        program = self.flattener.program
        values: dict[str, Expr] = {}
        for constant in program.constants:
            values[constant.targets[0]] = constant.value
        several: dict[str, tuple[str, ...]] = {}
        for step in program.steps:
            if len(step.targets) > 1:
                several |= dict.fromkeys(step.targets, step.targets)
            values |= dict.fromkeys(step.targets, step.value)
        values |= dict(self.made)
        values = {name: value for name, value in values.items() if name not in results}
        values = {name: substitute(value, results) for name, value in values.items()}
        answer = substitute(answer, results)
        own = _own_names(op) | (self.named - dict(self.made).keys())
        order = _needed(answer, values)
        uses = Counter(name.id for name in names(answer))
        for name in order:
            uses.update(each.id for each in names(values[name]))
        inlined: dict[str, Expr] = {}
        statements: list[Stmt] = []
        for name in order:
            value = simplify(substitute(values[name], inlined))
            if name not in several and (uses[name] == 1 and name not in own):
                inlined[name] = value
            else:
                statement = Assign(several.get(name, (name,)), value)
                if statement not in statements:
                    statements.append(statement)
        return (*statements, Return(simplify(substitute(answer, inlined))))


def _own_names(op: OpSpec) -> set[str]:
    """The names that an author gave to parts of the definition."""
    return {
        target
        for each in _definition(op).statements
        if isinstance(each, Assign)
        for target in each.targets
    }


def _needed(answer: Expr, values: Mapping[str, Expr]) -> list[str]:
    """The names that an answer needs, each behind those that it needs itself."""
    order: dict[str, None] = {}

    def visit(expr: Expr) -> None:
        for name in names(expr):
            if name.id in values and name.id not in order:
                visit(values[name.id])
                order[name.id] = None

    visit(answer)
    return list(order)


@dataclass
class _Gradients:
    """The gradients that values get, which may be larger than the values: these are broadcast."""

    shapes: Shapes
    terms: dict[str, list[tuple[Expr, Shape]]] = field(default_factory=dict)

    def add(self, value: Name, gradient: Expr, shape: Shape) -> None:
        """Add a gradient of some shape."""
        if gradient != ABSENT:
            self.terms.setdefault(value.id, []).append((gradient, shape))

    def of(self, value: Name, *, may_be_larger: bool) -> tuple[Expr, Shape]:
        """The sum of the gradients of a value, and its shape; ABSENT if there is none."""
        terms = self.terms.get(value.id, [])
        if may_be_larger and len({shape for _, shape in terms}) == 1:
            return added([gradient for gradient, _ in terms]), terms[0][1]
        reduced = [self.shapes.reduced(gradient, shape, value) for gradient, shape in terms]
        return added(reduced), self.shapes.of(value)


def _flattener(op: OpSpec, table: Table, assumed: Mapping[str, bool]) -> Flattener:
    """What takes the steps of a definition; all formulas of an op take the same ones."""
    kinds = kinds_of(op) | _gradient_kinds(op)
    return Flattener(Resolver(table), kinds, _movable(op), assumed, op)


def _vjp(
    op: OpSpec, table: Table, param: str, assumed: Mapping[str, bool], named: Set[str]
) -> tuple[tuple[Stmt, ...], bool]:
    flattener = _flattener(op, table, assumed)
    outputs = flattener.run(_with_slopes(op, table), _absent(assumed))
    derivation = _Derivation(flattener, named)
    moving = flattener.program.moving({param})
    rules = Rules(flattener, moving, op.complex, derivation.bind)
    results: dict[str, Expr] = {}
    gradients = _Gradients(flattener.program.shapes)
    for output, name, value in _differentiable(op, outputs):
        if isinstance(value, Name):
            if value.id != param:
                results[value.id] = Name(output)
            gradients.add(value, Name(name), flattener.program.shapes.of(value))
    for step in reversed(flattener.program.steps):
        if not moving & {*step.targets}:
            continue
        grads: dict[str, Expr] = {}
        for target in step.targets:
            gradient, shape = gradients.of(Name(target), may_be_larger=step.takes_larger)
            if gradient != ABSENT:
                short = isinstance(gradient, Name)
                grads[target] = gradient if short else derivation.bind(f"back_{target}", gradient)
        if grads:
            for read, gradient in rules.pull(step, grads):
                here = shape if step.is_elementwise else flattener.program.shapes.of(read)
                gradients.add(read, gradient, here)
    answer, _ = gradients.of(Name(param), may_be_larger=param in reduced_params(op))
    if answer == ABSENT:
        return (Return(Call("_zero", (Name(param),))),), False
    return derivation.block(op, answer, results), True


def _jvp(
    op: OpSpec, table: Table, output: str, moving: Sequence[str], assumed: Mapping[str, bool]
) -> tuple[tuple[Stmt, ...], bool]:
    primal = {name: Name(f"{name}_p") for name in moving}
    kinds = kinds_of(op)
    kinds |= {f"{name}_{end}": kinds[name] for name in moving for end in "pt"}
    absent = _absent(assumed)
    here = {name: value for name, value in primal.items() if name not in absent}
    active = {value.id for value in here.values()}
    flattener = Flattener(Resolver(table), kinds, active, assumed, op)
    outputs = flattener.run(_with_slopes(op, table), {**here, **absent})
    derivation = _Derivation(flattener)
    rules = Rules(flattener, flattener.program.moving(active), op.complex, derivation.bind)
    tangents: dict[str, Expr] = {f"{name}_p": Name(f"{name}_t") for name in here}
    for step in flattener.program.steps:
        for target, tangent in zip(step.targets, rules.push(step, tangents), strict=True):
            if tangent == ABSENT:
                continue
            is_short = isinstance(tangent, Name)
            tangents[target] = tangent if is_short else derivation.bind(f"moved_{target}", tangent)
    declared = [o.name for o in op.signature.outputs]
    results = {
        value.id: Name(name)
        for name, value in zip(declared, outputs, strict=False)
        if isinstance(value, Name)
        and value.id not in tangents.keys() & {p.id for p in here.values()}
    }
    value = outputs[declared.index(output)]
    answer = tangents.get(value.id, ABSENT) if isinstance(value, Name) else ABSENT
    if answer == ABSENT:
        return (Return(Call("_zero", (Name(output),))),), False
    return derivation.block(op, answer, results), True


def _movable(op: OpSpec) -> set[str]:
    """The arguments that gradients may be asked of: all formulas take the same steps."""
    none = NonDifferentiable | Constant
    return {p.name for p in op.signature.tensor_params if not isinstance(op.rule(p.name), none)}


def _absent(assumed: Mapping[str, bool]) -> dict[str, Expr]:
    """The arguments that are None on this way; a JVP calls them `weight_p`."""
    return {
        text.removesuffix(" is None").removesuffix("_p"): Const(None)
        for text, holds in assumed.items()
        if holds and text.endswith(" is None")
    }


def _gradient_kinds(op: OpSpec) -> dict[str, str]:
    return dict.fromkeys(gradient_names(op), "tensor")


def _differentiable(op: OpSpec, outputs: Sequence[Expr]) -> list[tuple[str, str, Expr]]:
    """Each output that has a gradient, by name, with the name of that and its value."""
    declared = [o.name for o in op.signature.outputs]
    if len(outputs) != len(declared):
        raise NoDerivative("its outputs cannot be told apart")
    found = op.differentiable_outputs
    several = len(found) > 1
    return [
        (o.name, f"grad_{o.name}" if several else "grad", outputs[declared.index(o.name)])
        for o in found
    ]
