"""A definition as a straight line of steps: each one calls an op, and has a name.

Only what depends on the differentiated arguments is taken apart. Which way a condition goes is
assumed: an undecided condition is raised as `Undecided`, for the caller to go
through both ways.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..diagnostics import Span, SpecError
from ..ir.indexing import indexed
from ..ir.nodes import (
    Assign,
    Attribute,
    Binary,
    Block,
    Call,
    Compare,
    Conditional,
    Const,
    Expr,
    If,
    Logic,
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
from ..ir.walk import with_parts
from ..render.resolve import HELPERS, Kind, Resolver, Target, kind_of_type, kinds_of_params
from ..render.to_text import formula_text
from ..spec.model import OpSpec
from ..spec.scope import gradient_names
from .arrays import as_op
from .bounded import BOUNDS, with_norms
from .complex_parts import as_part, root_of_square, squared_magnitude
from .conditions import Conditions
from .extents import RequiredExtents, where_present
from .flattening import flattened
from .ranks import Ranks, required_ranks
from .shapes import Shapes
from .shares import softmax_of
from .steps import Program, Step, depends
from .terms import NoDerivative
from .unpacking import length_of_chunk, parts_of, required

MOST_STEPS = 60

_ARITHMETIC = {"+": "total", "-": "difference", "*": "product", "/": "quotient"}
_NOWHERE = Span("", 0, 0)


class Flattener:
    """Writes a definition as a program."""

    def __init__(
        self,
        resolver: Resolver,
        kinds: Mapping[str, Kind],
        active: set[str],
        assumed: Mapping[str, bool],
        op: OpSpec,
        alike: Mapping[str, str] | None = None,
    ) -> None:
        """`alike` are names of the same shape, beside those that the requirements tell."""
        self.op = op
        self._resolver = resolver
        self._kinds = dict(kinds)
        self._params = {param.name for param in op.signature.params}
        self._taken = {*kinds, *(o.name for o in op.signature.outputs), *gradient_names(op)}
        tensors = [name for name, kind in kinds.items() if kind == "tensor"]
        sizes = RequiredExtents(op, required_ranks(op))
        shapes = Shapes(tensors, _alike(op) | dict(alike or {}), sizes)
        self.program = Program(active=set(active), shapes=shapes)
        self.program.complex |= _fields(op)
        self.ranks = Ranks(op, self.target)
        for name in tensors:
            if self.ranks.of(Name(name)) == 0:
                shapes.single(name)
        self.conditions = Conditions(
            self.program, assumed, {*tensors}, is_complex=op.complex, target=self.target
        )

    def run(self, block: Block, values: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """Take the steps of a block, with the values of its names; return what it returns."""
        known = dict(values)
        found = self._statements(block.statements, known)
        if found is None:
            raise NoDerivative("it does not return")
        return found

    def items(self, name: str, count: int) -> tuple[Name, ...]:
        """A list of arguments as its items, each of which gets a name."""
        items = tuple(self.fresh(f"{name}_{number}") for number in range(count))
        for number, item in enumerate(items):
            self.program.constants.append(Assign((item,), Subscript(Name(name), Const(number))))
            self._kinds[item] = "tensor"
            self.program.shapes.argument(item)
        self.program.active |= {*items}
        return tuple(map(Name, items))

    def _statements(
        self, statements: tuple[Stmt, ...], known: dict[str, Expr]
    ) -> tuple[Expr, ...] | None:
        for statement in statements:
            match statement:
                case Assign():
                    self._assign(statement, known)
                case If(test, then, otherwise):
                    chosen = then if self.conditions.decided(self._flat(test, known)) else otherwise
                    found = self._statements(chosen, known)
                    if found is not None:
                        return found
                case Return(value):
                    return self._several(value, known)
        return None

    def _assign(self, statement: Assign, known: dict[str, Expr]) -> None:
        values = self._parts(statement, known)
        if values is None:
            values = self._several(statement.value, known, statement.targets)
        if len(values) != len(statement.targets):
            raise NoDerivative("an assignment takes a value apart")
        for target, value in zip(statement.targets, map(simplify, values), strict=True):
            if isinstance(value, Name | Const) or self._depends(value):
                known[target] = value
                continue
            known[target] = self._constant(target, value)

    def _parts(self, statement: Assign, known: dict[str, Expr]) -> tuple[Expr, ...] | None:
        """The parts of a tensor that several names stand for, if it is taken apart so."""
        call = statement.value
        if len(statement.targets) < 2 or not isinstance(call, Call) or "." in call.function:
            return None
        target = self.target(self._flat_arguments(call, known))
        function, args, count = target.op.signature.name, target.args, len(statement.targets)
        if function == "_chunk":
            length = self._constant("length", length_of_chunk(args))
            function, args = "split", {**args, "split_size": length}
        parts = parts_of(function, args, count)
        if parts is None:
            return None
        named = zip(parts, statement.targets, strict=True)
        return tuple(self._flat(part, {}, (target,)) for part, target in named)

    def _several(
        self, value: Expr, known: dict[str, Expr], named: tuple[str, ...] = ()
    ) -> tuple[Expr, ...]:
        """The values of an expression: several of a tuple, and of an op with several outputs."""
        match value:
            case Sequence(items) if not any(isinstance(item, Star) for item in items):
                if len(named) != 1:
                    return tuple(self._flat(item, known) for item in items)
            case Conditional(test, then, otherwise):
                chosen = then if self.conditions.decided(self._flat(test, known)) else otherwise
                return self._several(chosen, known, named)
            case Call():
                return self._call(value, known, named)
        return (self._flat(value, known, named),)

    def _flat(self, expr: Any, known: dict[str, Expr], named: tuple[str, ...] = ()) -> Any:
        """An expression with a name for each part that depends on the arguments."""
        match expr:
            case Name(name):
                return known.get(name, expr)
            case Unary("-", operand):
                return self._operator(Unary("-", self._flat(operand, known)), "negative", named)
            case Binary(op, left, right) if op in _ARITHMETIC:
                sides = self._flat(left, known), self._flat(right, known)
                if op == "+" and sides[0] == Const(0) and self._is_int(sides[1]):
                    return sides[1]
                if op == "*" and sides[0] == sides[1] and self._depends(sides[0]):
                    return self._square(sides[0], named)
                if op == "*" and (number := self._multiple(*sides)) is not None:
                    square = self._square(sides[1], ())
                    return self._operator(Binary("*", number, square), "product", named)
                if op == "/" and not self.conditions.has_complex:
                    shares = softmax_of(*sides, self.program)
                    if shares is not None:
                        return self._one(self._call(shares, {}, named))
                return self._operator(Binary(op, *sides), _ARITHMETIC[op], named)
            case Binary("@", left, right):
                sides = self._flat(left, known), self._flat(right, known)
                return self._operator(Binary("@", *sides), "product", named)
            case Binary("**", left, Const(2)):
                return self._square(self._flat(left, known), named)
            case Binary("**", left, right):
                sides = self._flat(left, known), self._flat(right, known)
                if not any(map(self._depends, sides)):
                    return Binary("**", *sides)
                return self._one(self._call(Call("pow", sides), {}, named))
            case Binary(op, left, right):
                return Binary(op, self._flat(left, known), self._flat(right, known))
            case Unary(op, operand):
                return Unary(op, self._flat(operand, known))
            case Compare(op, left, right):
                return simplify(Compare(op, self._flat(left, known), self._flat(right, known)))
            case Logic(op, operands):
                return simplify(Logic(op, tuple(self._flat(o, known) for o in operands)))
            case Call():
                return self._one(self._call(expr, known, named))
            case Attribute(Subscript(Name(name)), _) if self._kinds.get(name) == "tensors":
                return self._attribute_of_item(expr, known)
            case Attribute(value, name):
                return self.attribute(Attribute(self._flat(value, known), name))
            case Subscript(value, index):
                return self._item(value, index, known)
            case Conditional():
                return self._one(self._several(expr, known, named))
            case Sequence(items):
                return Sequence(tuple(self._flat(item, known) for item in items))
            case Slice(start, stop, step):
                return Slice(
                    *(None if x is None else self._flat(x, known) for x in (start, stop, step))
                )
            case Star(value):
                return Star(self._flat(value, known))
        return expr

    def is_argument(self, expr: Expr) -> bool:
        """Return whether an expression is an argument of the op, as it was given."""
        return isinstance(expr, Name) and expr.id in self._params

    def _is_int(self, expr: Expr) -> bool:
        return self._resolver.kind(expr, self._kinds) == "int"

    def _multiple(self, left: Expr, right: Expr) -> Expr | None:
        """Find the constant factor between two values: `0.5` where `left` is `0.5 * right`."""
        step = next((s for s in self.program.steps if Name(s.targets[0]) == left), None)
        match None if step is None else step.value:
            case Binary("*", number, value) if value == right and not self._depends(number):
                return number
        return None

    def _square(self, side: Expr, named: tuple[str, ...]) -> Expr:
        """The square of a value; that of a magnitude has slopes at zero, too."""
        step = next((s for s in self.program.steps if Name(s.targets[0]) == side), None)
        if step is not None and step.op is not None and step.op.signature.name == "abs":
            side = step.args["self"]
            if self.conditions.is_complex(side) is not False:
                whole = Call("real", (Binary("*", side, Call("conj", (side,))),))
                return self._one(self._call(whole, {}, named))
        return self._operator(Binary("*", side, side), "square", named)

    def _one(self, values: tuple[Expr, ...]) -> Expr:
        if len(values) != 1:
            raise NoDerivative("an op with several results stands where one is needed")
        return values[0]

    def _item(self, value: Expr, index: Any, known: dict[str, Expr]) -> Expr:
        if isinstance(value, Call) and isinstance(index, Const) and isinstance(index.value, int):
            found = self._call(value, known)
            if len(found) > 1:
                return found[index.value]
            value = found[0]
        else:
            value = self._flat(value, known)
        if isinstance(value, Sequence) and isinstance(index, Const):
            return value.items[int(index.value or 0)]
        if not self._depends(value):
            return Subscript(value, self._flat(index, known))
        if self._resolver.kind(value, self._kinds) != "tensor":
            text = formula_text(value)
            raise NoDerivative(f"`{text}` is indexed, and no `len({text}) == …` is required")
        if self._resolver.kind(index, self._kinds) == "tensor":
            places = Sequence((self._flat(index, known),))
            return self._one(self._call(Call("index", (value, places)), {}))
        try:
            return self._flat(indexed(value, [index]), known)
        except ValueError as error:
            raise NoDerivative(str(error)) from None

    def attribute(self, node: Attribute) -> Expr:
        """`y.shape` as that of the first value that is as large, as the argument `x` may be.

        `y.ndim` is a number where that is known.
        """
        rank = self.ranks.of(node.value) if node.name == "ndim" else None
        if rank is not None:
            return Const(rank)
        if isinstance(node.value, Name) and node.name in ("shape", "ndim"):
            return dataclasses.replace(node, value=self.program.shapes.first(node.value))
        return node

    def _attribute_of_item(self, node: Attribute, known: dict[str, Expr]) -> Expr:
        """`tensors[0].shape`, for which nobody has to know how many there are."""
        assert isinstance(node.value, Subscript)
        whole = self._flat(node.value.value, known)
        value = node.value if isinstance(whole, Name) else self._flat(node.value, known)
        return self.attribute(dataclasses.replace(node, value=value))

    # ---- steps

    def _operator(self, value: Expr, word: str, named: tuple[str, ...]) -> Expr:
        if not self._depends(value):
            return value
        return Name(self._step(value, None, {}, named or (word,), ("tensor",))[0])

    def _call(
        self, call: Call, known: dict[str, Expr], named: tuple[str, ...] = ()
    ) -> tuple[Expr, ...]:
        root = root_of_square(call) if self.conditions.has_complex else None
        if root is not None and self._depends(number := self._flat(root, known)):
            return (self._squared_magnitude(number, named),)
        flat = self._flat_arguments(as_op(call, self._resolver), known)
        if flat.function in HELPERS or not self._depends(flat):
            return (simplify(flat),)
        if "." in flat.function:
            raise NoDerivative(f"`{flat.function}` is no op of the table")
        if flat.function == "matmul" and len(flat.args) == 2:
            return (self._operator(Binary("@", *flat.args), "product", named),)
        if flat.function in BOUNDS:
            norms = with_norms(flat, self.program, self.conditions)
            if norms != flat:
                return self._call(norms, {}, named)
        target = self.target(flat)
        op = target.op
        args = {name: simplify(value) for name, value in target.args.items()}
        part = as_part(op)
        if part is not None and self.conditions.known(Call("is_complex", (args["self"],))):
            op = part
        if op.signature.name == "flatten":
            whole = flattened(args, self.ranks.of(args["self"]))
            if whole is not None:
                return (self._flat(whole, {}, named),)
        if op.signature.name == "permute" and self.ranks.is_unchanged(args["self"], args["dims"]):
            return (args["self"],)
        if op.composite is not None:
            return self.run(op.composite.block, args)
        word = op.signature.name.strip("_").removeprefix("linalg_")
        is_fixed = not op.differentiable_outputs or _gives_whole_numbers(args)
        if is_fixed or not self._moves(op, args):
            return self._fixed(flat, op, f"{word}_value")
        outputs = op.signature.outputs
        if len(named) != len(outputs):
            words = (f"{word}_value" if o.name == "result" else o.name for o in outputs)
            named = (f"{word}_value",) if len(outputs) == 1 else tuple(words)
        kinds = tuple(kind_of_type(output.type) for output in outputs)
        return tuple(map(Name, self._step(flat, op, args, named, kinds)))

    def _squared_magnitude(self, number: Expr, named: tuple[str, ...]) -> Expr:
        """The squared magnitude as one step: its gradient is that of a square."""
        op = squared_magnitude(self.target(Call("real", (number,))).op)
        value = Call("real", (Binary("*", number, Call("conj", (number,))),))
        words = named or ("square",)
        return Name(self._step(value, op, {"self": number}, words, ("tensor",))[0])

    def _flat_arguments(self, call: Call, known: dict[str, Expr]) -> Call:
        return dataclasses.replace(
            call,
            args=tuple(self._flat(arg, known) for arg in call.args),
            kwargs=tuple((name, self._flat(value, known)) for name, value in call.kwargs),
        )

    def _fixed(self, call: Call, op: OpSpec, word: str) -> tuple[Expr, ...]:
        """The results of an op that do not change with what is differentiated, as indices do."""
        name = self._constant(word, call)
        if len(op.signature.outputs) == 1:
            return (name,)
        return tuple(Subscript(name, Const(k)) for k, _ in enumerate(op.signature.outputs))

    def _constant(self, word: str, value: Expr) -> Name:
        """A name for what does not depend on the differentiated arguments."""
        name = self.fresh(word)
        self.program.constants.append(Assign((name,), value))
        self._kinds[name] = self._resolver.kind(value, self._kinds)
        self.program.shapes.name(name, value)
        self.ranks.note(name, self.ranks.of(value))
        self.conditions.note_field(name, value)
        return Name(name)

    def _moves(self, op: OpSpec, args: Mapping[str, Expr]) -> bool:
        """Return whether an argument with a rule depends on what is differentiated."""
        return any(self._depends(args[name]) for name in op.recorded_params)

    def target(self, call: Call) -> Target:
        """The op that a call means."""
        try:
            return self._resolver.target(call, self._kinds, _NOWHERE)
        except SpecError as error:
            raise NoDerivative(error.diagnostics[0].message) from None

    def _step(
        self,
        value: Expr,
        op: OpSpec | None,
        args: dict[str, Expr],
        named: tuple[str, ...],
        kinds: tuple[Kind, ...],
    ) -> tuple[str, ...]:
        if len(self.program.steps) >= MOST_STEPS:
            raise NoDerivative(f"it takes more than {MOST_STEPS} steps")
        for step in self.program.steps:  # the same again
            if step.value == value:
                return step.targets
        targets = tuple(self.fresh(name) for name in named)
        self._kinds |= dict(zip(targets, kinds, strict=True))
        self.program.steps.append(Step(targets, value, op, args))
        flags = (
            [True] if op is None else [o in op.differentiable_outputs for o in op.signature.outputs]
        )
        self.program.active |= {t for t, flag in zip(targets, flags, strict=True) if flag}
        rank = self.ranks.of_step(value, op, args)
        for target in targets:
            self.ranks.note(target, rank)
            self.program.shapes.note(target, value, op, args)
            if rank == 0:
                self.program.shapes.single(target)
        field_ = self.conditions.field(value, op, args)
        if field_ is not None:
            self.program.complex |= dict.fromkeys(targets, field_)
        return targets

    def bind(self, name: str, value: Expr) -> None:
        """Learn that a rule gave a name to a value."""
        self.conditions.bound[name] = value
        self._kinds[name] = self._resolver.kind(value, self._kinds)
        self.ranks.note(name, self.ranks.of(value))
        self.conditions.note_field(name, value)

    def fresh(self, name: str) -> str:
        """A name that nothing else has."""
        found, number = name, 2
        while found in self._taken:
            found, number = f"{name}{number}", number + 1
        self._taken.add(found)
        return found

    def _depends(self, expr: Expr) -> bool:
        """Return whether the elements of an expression change with what is differentiated."""
        return depends(expr, self.program.active)

    def without_defaults(self, node: Any) -> Any:
        """A formula whose calls leave out what their ops take for granted."""
        node = with_parts(node, self.without_defaults)
        if not isinstance(node, Call) or not self._resolver.is_op(node.function):
            return node
        meant = self._meaning(node)
        shorter = node
        while meant is not None and (shorter.args or shorter.kwargs):
            args, kwargs = shorter.args, shorter.kwargs
            args, kwargs = (args, kwargs[:-1]) if kwargs else (args[:-1], ())
            tried = dataclasses.replace(shorter, args=args, kwargs=kwargs)
            if self._meaning(tried) != meant:
                break
            shorter = tried
        return shorter

    def _meaning(self, call: Call) -> tuple[str, dict[str, Expr]] | None:
        """The op that a call means, and its arguments; None if it means none."""
        try:
            target = self._resolver.target(call, self._kinds, _NOWHERE)
        except SpecError:
            return None
        return target.op.name, target.args

    def is_optional(self, call: Call, place: int | str) -> bool:
        """Return whether an argument of a call may be None."""
        for op in self._resolver.table.overloads(call.function):
            params = op.signature.params
            if isinstance(place, int):
                return params[place].type.is_optional
            return any(p.name == place and p.type.is_optional for p in params)
        return False


def _gives_whole_numbers(args: Mapping[str, Any]) -> bool:
    """Return whether an op is told to give integers or flags, which have no derivative."""
    match args.get("dtype"):
        case Const(str() as dtype):
            return dtype.startswith(("int", "uint", "bool"))
    return False


def _alike(op: OpSpec) -> dict[str, str]:
    """The arguments that have the shape of another one, as `requires` says."""
    found: dict[str, str] = {}
    for condition in required(op):
        match condition:
            case Compare("==", Attribute(Name(one), "shape"), Attribute(Name(other), "shape")):
                for end in ("", "_p"):
                    found[other + end] = found.get(one + end, one + end)
    optional = {p.name for p in op.signature.params if p.type.is_optional}
    for condition in (each for part in required(op) for each in where_present(part)):
        match condition:
            case Compare("==", Attribute(Name(one), "shape"), Attribute(Name(other), "shape")):
                small, large = (one, other) if one in optional else (other, one)
                if small in optional and large not in optional:
                    for end in ("", "_p"):
                        found[small + end] = found.get(large + end, large + end)
    return found


def _fields(op: OpSpec) -> dict[str, bool]:
    """The arguments that are complex, or real, as `requires` or their types say."""
    found: dict[str, bool] = {}
    for condition in required(op):
        match condition:
            case Call("is_complex", (Name(name),)):
                found[name] = True
            case Unary("not", Call("is_complex", (Name(name),))):
                found[name] = False
    found |= {p.name: False for p in op.signature.params if p.type.base in ("float", "int", "bool")}
    return {f"{name}{end}": known for name, known in found.items() for end in ("", "_p", "_t")}


def kinds_of(op: OpSpec) -> dict[str, Kind]:
    """The kinds of the arguments of an op."""
    outputs = {output.name for output in op.signature.outputs}
    return {n: kind for n, kind in kinds_of_params(op.signature).items() if n not in outputs}
