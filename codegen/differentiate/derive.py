"""VJPs and JVPs of a definition, as the formulas that an author would have written.

A VJP goes back over the steps of the definition, a JVP along with them. A condition on which they
depend is gone through both ways, and stays a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from ..emit.record import reduced_params
from ..ir import nodes as ir
from ..ir.nodes import Assign, Block, Call, Expr, Name, Return, Stmt
from ..render.masked import with_slopes
from ..render.resolve import Resolver
from ..spec.model import Constant, NonDifferentiable, OpSpec, Table
from ..spec.scope import gradient_names
from .bounded import bounded
from .derivation import Derivation, Naming, pulled_back
from .program import Flattener, kinds_of
from .rules import Rules
from .shifts import cancelling
from .terms import ABSENT, NoDerivative, Undecided
from .unpacking import counted_lists
from .ways import absent, every_way, with_named_tests


def derive_vjp(op: OpSpec, table: Table, param: str, naming: Naming | None = None) -> Block | None:
    """The VJP of an argument; None if the outputs do not depend on it. Raises NoDerivative.

    `naming` tells of values that other formulas of the op have names for: this one uses them, too.
    """
    assumed = {f"{param} is None": False}
    naming = naming or Naming()
    block, depends = every_way(assumed, lambda ways: _vjp(op, table, param, ways, naming))
    return Block(with_named_tests(block.statements)) if depends else None


def derive_jvp(op: OpSpec, table: Table, output: str, moving: Sequence[str]) -> Block:
    """The JVP of an output, for tangents of the arguments in `moving`. Raises NoDerivative."""
    block, _ = every_way({}, lambda ways: _jvp(op, table, output, moving, ways))
    return Block(with_named_tests(block.statements))


def with_names(op: OpSpec, table: Table, named: Set[str]) -> Block | None:
    """The definition with names for some of its values, so that these can be kept for VJPs.

    None where it depends on conditions, or has these names already.
    """
    flattener = _flattener(op, table, {})
    try:
        lists = {name: flattener.items(name, count) for name, count in counted_lists(op).items()}
        outputs = flattener.run(_with_slopes(op, table), _sequences(lists))
    except (Undecided, NoDerivative):
        return None
    known = {target for step in flattener.program.steps for target in step.targets}
    if not named & known - _own_names(op):
        return None
    answer = outputs[0] if len(outputs) == 1 else ir.Sequence(outputs)
    naming = Naming(of_definition=named)
    return Block(Derivation(flattener, _own_names(op), naming).block(answer, {}))


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


def _own_names(op: OpSpec) -> set[str]:
    """The names that an author gave to parts of the definition."""
    return {
        target
        for each in _definition(op).statements
        if isinstance(each, Assign)
        for target in each.targets
    }


def _flattener(op: OpSpec, table: Table, assumed: Mapping[str, bool]) -> Flattener:
    """Traverse the steps of a definition; all formulas of an op share this pass."""
    kinds = kinds_of(op) | _gradient_kinds(op)
    return Flattener(Resolver(table), kinds, _movable(op), assumed, op)


def _vjp(
    op: OpSpec, table: Table, param: str, assumed: Mapping[str, bool], naming: Naming
) -> tuple[tuple[Stmt, ...], bool]:
    flattener = _flattener(op, table, assumed)
    lists = {name: flattener.items(name, count) for name, count in counted_lists(op).items()}
    outputs = flattener.run(_with_slopes(op, table), absent(assumed) | _sequences(lists))
    flattener.program.still |= cancelling(flattener.program, outputs)
    flattener.program.bounded |= bounded(flattener.program, outputs)
    derivation = Derivation(flattener, _own_names(op), naming)
    results: dict[str, Expr] = {}
    seeds: list[tuple[Name, Expr]] = []
    for output, name, value in _differentiable(op, outputs):
        if isinstance(value, Name):
            if value.id != param:
                results[value.id] = Name(output)
            seeds.append((value, Name(name)))
    items = lists.get(param, ())
    gradients = pulled_back(derivation, seeds, {name.id for name in items or (Name(param),)})
    if items:
        answer = _list_of([gradients.of(name, may_be_larger=False)[0] for name in items], items)
    else:
        answer, _ = gradients.of(Name(param), may_be_larger=param in reduced_params(op))
    if answer == ABSENT:
        return (Return(Call("_zero", (Name(param),))),), False
    return derivation.block(answer, results), True


def _list_of(gradients: list[Expr], items: tuple[Name, ...]) -> Expr:
    """The gradients of the items of a list; ABSENT where no item has one."""
    if all(gradient == ABSENT for gradient in gradients):
        return ABSENT
    pairs = zip(gradients, items, strict=True)
    return ir.Sequence(tuple(Call("_zero", (item,)) if g == ABSENT else g for g, item in pairs))


def _jvp(
    op: OpSpec, table: Table, output: str, moving: Sequence[str], assumed: Mapping[str, bool]
) -> tuple[tuple[Stmt, ...], bool]:
    primal = {name: Name(f"{name}_p") for name in moving}
    kinds = kinds_of(op)
    kinds |= {f"{name}_{end}": kinds[name] for name in moving for end in "pt"}
    none = absent(assumed)
    here = {name: value for name, value in primal.items() if name not in none}
    active = {value.id for value in here.values()}
    flattener = Flattener(Resolver(table), kinds, active, assumed, op)
    lists, tangents = _items_with_tangents(op, flattener, here)
    active |= {name.id for items in lists.values() for name in items}
    outputs = flattener.run(_with_slopes(op, table), {**here, **none, **_sequences(lists)})
    flattener.program.still |= cancelling(flattener.program, outputs)
    flattener.program.bounded |= bounded(flattener.program, outputs)
    derivation = Derivation(flattener, _own_names(op))
    rules = Rules(flattener, flattener.program.moving(active), derivation.bind)
    tangents |= {f"{name}_p": Name(f"{name}_t") for name in here}
    for step in flattener.program.steps:
        if flattener.program.still.issuperset(step.targets):
            continue
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
    return derivation.block(answer, results), True


def _items_with_tangents(
    op: OpSpec, flattener: Flattener, primals: Iterable[str]
) -> tuple[dict[str, tuple[Name, ...]], dict[str, Expr]]:
    """The items of the lists that are read by number, and the tangents of these."""
    lists: dict[str, tuple[Name, ...]] = {}
    tangents: dict[str, Expr] = {}
    for name, count in counted_lists(op).items():
        if name in primals:
            lists[name] = flattener.items(f"{name}_p", count)
            moved = flattener.items(f"{name}_t", count)
            tangents |= {p.id: t for p, t in zip(lists[name], moved, strict=True)}
    return lists, tangents


def _sequences(lists: Mapping[str, tuple[Name, ...]]) -> dict[str, ir.Sequence]:
    return {name: ir.Sequence(items) for name, items in lists.items()}


def _movable(op: OpSpec) -> set[str]:
    """The arguments that gradients may be asked of: all formulas take the same steps."""
    none = NonDifferentiable | Constant
    return {p.name for p in op.signature.tensor_params if not isinstance(op.rule(p.name), none)}


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
