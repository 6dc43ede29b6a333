"""Parts of derivatives: names for what they compute, and sums of gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from ..ir.nodes import (
    Assign,
    Binary,
    Call,
    Const,
    Expr,
    Name,
    Return,
    Sequence,
    Slice,
    Star,
    Stmt,
    Subscript,
    Unary,
)
from ..ir.simplify import simplify
from ..ir.walk import names, substitute, with_parts
from .complex_parts import put_together
from .program import Flattener
from .rules import Rules
from .shapes import Shape
from .slices import rejoined
from .spreads import without_spreads
from .terms import ABSENT, added, with_each_test_once, with_one_number, with_sign_in_front


@dataclass(frozen=True)
class Naming:
    """Choose the values that get names, besides those that are read more than once."""

    of_definition: Set[str] = frozenset()
    of_derivatives: Set[str] = frozenset()
    everything: bool = False
    made: set[str] = field(default_factory=set)
    """The names that derivatives have given to values of their own so far."""


@dataclass
class Derivation:
    """The names that a derivative gives to what it computes, in order."""

    flattener: Flattener
    own: Set[str]
    """The names that an author gave to parts of the formulas: these are kept."""
    naming: Naming = field(default_factory=Naming)
    made: list[tuple[str, Expr]] = field(default_factory=list)

    def bind(self, name: str, value: Expr) -> Expr:
        """Give a value a name."""
        for known, other in self.made:
            if other == value:
                return Name(known)
        fresh = self.flattener.fresh(name)
        self.made.append((fresh, value))
        self.flattener.bind(fresh, value)
        return Name(fresh)

    def block(self, answer: Expr, results: Mapping[str, Expr]) -> tuple[Stmt, ...]:
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
        made = dict(self.made).keys()
        self.naming.made.update(made)
        own = self.own | (self.naming.of_definition - made) | (self.naming.of_derivatives & made)
        if self.naming.everything:
            own = {*values}
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
        statements.append(Return(simplify(substitute(answer, inlined))))
        return tuple(map(self._finished, statements))

    def _finished(self, statement: Stmt) -> Stmt:
        tidied = without_spreads(_tidied(statement), self.flattener)
        found: Stmt = self.flattener.without_defaults(tidied)
        return found


def _tidied(node: Any) -> Any:
    """A formula with one number in each product, and differences for sums with a minus."""
    node = with_parts(node, _tidied)
    match node:
        case Call("_sum_to_size", (Call("_sum_to_size", (larger, _)), shape)):
            return with_sign_in_front(Call("_sum_to_size", (larger, shape)))
        case Call():
            return with_sign_in_front(with_each_test_once(node))
        case Binary("**", base, Const(1)):
            return base
        case Binary("-", Const(int(one)), Const(int(other))) if one > other:
            return Const(one - other)
        case Sequence(items) if any(isinstance(item, Star) for item in items):
            return Sequence(tuple(_spliced(items)))
    if isinstance(node, Binary) and node.op == "+":
        return added([node.left, node.right])
    return with_one_number(node) if isinstance(node, Binary | Unary) else node


def _spliced(items: Iterable[Expr]) -> Iterator[Expr]:
    """The items of a sequence, with those of sequences in it, and without what is empty."""
    for item in items:
        match item:
            case Star(Sequence(inner)):
                yield from _spliced(inner)
            case Star(Subscript(_, Slice(None | Const(0), Const(0), None))):
                pass
            case _:
                yield item


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
class Gradients:
    """The gradients that values get, which may be larger than the values: these are broadcast."""

    flattener: Flattener
    terms: dict[str, list[tuple[Expr, Shape]]] = field(default_factory=dict)

    def add(self, value: Name, gradient: Expr, shape: Shape) -> None:
        """Add a gradient of some shape."""
        if gradient != ABSENT:
            self.terms.setdefault(value.id, []).append((gradient, shape))

    def of(self, value: Name, *, may_be_larger: bool) -> tuple[Expr, Shape]:
        """The sum of the gradients of a value, and its shape; ABSENT if there is none."""
        by_shape: dict[Shape, list[Expr]] = {}
        for gradient, shape in self.terms.get(value.id, []):
            by_shape.setdefault(shape, []).append(gradient)
        if len(self.flattener.op.differentiable_outputs) == 1:  # else cotangents may be absent
            written_out = self.flattener.conditions.by_arguments
            by_shape = {
                shape: put_together(rejoined(gradients, self.flattener.op, written_out))
                for shape, gradients in by_shape.items()
            }
        totals = [(added(gradients), shape) for shape, gradients in by_shape.items()]
        shapes = self.flattener.program.shapes
        if may_be_larger and len(totals) == 1 and not shapes.is_reduced(value):
            return totals[0]
        reduced = [shapes.reduced(total, shape, value) for total, shape in totals]
        return added(reduced), shapes.of(value)


def pulled_back(
    derivation: Derivation, seeds: Iterable[tuple[Name, Expr]], by: Set[str]
) -> Gradients:
    """The gradients of all values of a program that depend on the names in `by`.

    `seeds` are the gradients of its results.
    """
    flattener = derivation.flattener
    program = flattener.program
    moving = program.moving(by)
    rules = Rules(flattener, moving, derivation.bind)
    gradients = Gradients(flattener)
    for value, gradient in seeds:
        if isinstance(gradient, Name):
            flattener.conditions.note_field(gradient.id, value)
        gradients.add(value, gradient, program.shapes.of(value))
    for step in reversed(program.steps):
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
                here = shape if step.is_elementwise else program.shapes.of(read)
                gradients.add(read, rules.in_field_of(read, gradient), here)
    return gradients
