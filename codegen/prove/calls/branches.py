"""The sides of every condition in the formulas of an op: which of them were reached by a call.

A condition is a comparison, or what an `if` or `and` asks; of whole numbers and flags that an
argument holds, also what `&` and `|` join, as no symbol stands for them. What jumps is a condition
as well: a quotient that is rounded down, `int` of a number, bits. While it has one value, nothing
is seen of what a formula does with others; nor is it while a slice of a list is empty, or while a
number is too small to change what it is added to. A formula is
read once more for this, as Python on arrays that notes each answer. A comparison of tensors has an
answer for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from ...ir import nodes as ir
from ...ir.walk import assignments, calls, children, free_names, walk
from ...render.base import ATOM, COMPARE, indented
from ...render.to_text import formula_text
from ...spec.model import REQUIRED, Formula, OpSpec, Param
from ...spec.scope import gradient_names
from ...spec.vocabulary import COMPARISONS, CONSTANTS
from ..identities.definition import (
    CALL,
    DefinitionRenderer,
    call_by_name,
    compile_formula,
    evaluate_definition,
    given,
)
from ..identities.run import Leaf
from .kernel_branches import noting_kernels
from .own_kernels import own_module

_SEEN, _SEEN_STEP, _SEEN_MOD, _SEEN_PART = "seen__", "seen_step__", "seen_mod__", "seen_part__"
_SEEN_SUM, _SEEN_BOUND = "seen_sum__", "seen_bound__"
"""Names that no formula can have."""

_EITHER = (True, False)

_JUMPS = "{} takes two values"

_EXPONENTIALS = ("exp", "exp2", "expm1", "sigmoid", "tanh")

_COUNTS = "both sides of {} count"

_KEEPS = "{} is its first argument"

_OF_ALL = ("all", "any")

_OF_NO_NUMBER = ("isfinite", "isinf", "isnan")
"""Functions that calls with usual numbers answer one way."""

_REMAINDERS = ("fmod", "remainder")

_STEPS = ("ceil", "floor", "floor_divide", "heaviside", "round", "sgn", "sign", "trunc")

_BOUNDS = ("clamp", "clamp_max", "clamp_min", "fmax", "fmin", "maximum", "minimum", "relu")

_OF_MANY = ("amax", "amin", "argsort", "cummax", "cummin", "max", "median", "min", "sort", "topk")

SEEN_FROM = 1e-7
"""A number that is smaller, relative to the sum, is seen in no gradient."""

_COUNTED = ("_one", "_zero", "len", "numel", "ones_like", "zeros_like")
"""Functions that read of a tensor no more than its shape."""

_BITS = ("&", "|", "^", "<<", ">>")

Path: TypeAlias = frozenset[tuple[int, bool]]
"""Answers of the calls: for conditions by number."""


@dataclass
class Condition:
    """A condition of a formula, with the answers that calls gave."""

    key: str
    """Name of the formula in the spec."""
    text: str
    answers: set[bool] = field(default_factory=set)
    of_nothing: set[bool] = field(default_factory=set)
    """The answers at calls that show little: a tensor has no elements, no result is finite, or a
    rule may raise."""
    excluded: set[bool] = field(default_factory=set)
    """The answers at calls that `requires` excludes."""
    is_taken_over: bool = False
    """True if it comes from the rule of an op that the definition calls, and is proved there."""
    owed: tuple[bool, ...] = _EITHER
    """The answers that calls have to give."""
    is_of_elements: bool = False
    """True if the elements of a tensor answer it, each for itself."""
    is_of_shapes: bool = False
    """True if it reads numbers and shapes alone: then calls that `requires` excludes tell of it."""
    names: frozenset[str] = frozenset()
    """Names that it reads."""
    is_of_helper: bool = False
    """True if a helper asks it: calls are looked for, and none is owed, as others may call it."""

    @property
    def missing(self) -> list[bool]:
        """The answers that no call with elements gave; none of a helper that is not called."""
        if self.is_of_helper and not self.answers:
            return []
        return [answer for answer in self.owed if answer not in self.answers]

    @property
    def unreached(self) -> list[bool]:
        """The answers that no call gave, not even one that is not meant.

        Of elements such a call tells nothing: those that are meant may have the same ones.
        """
        excluded = self.excluded if self.is_of_shapes else set()
        return [a for a in self.missing if a not in self.of_nothing | excluded]


def conditions_of(spec: OpSpec) -> list[Condition]:
    """Every condition of the formulas of an op, without answers."""
    found: list[Condition] = []
    for key, formula in _formulas(spec):
        _NotingRenderer(spec, key, formula, found).statements(formula.block, "return {}")
    return found


def _formulas(spec: OpSpec) -> Iterator[tuple[str, Formula]]:
    definitions = (("forward", spec.forward), ("kernel", spec.kernel), ("batch", spec.batch))
    vjps = ((", ".join(names), rule) for names, rule in spec.vjps)
    for key, rule in (*definitions, *vjps, *spec.jvps):
        if isinstance(rule, Formula):
            yield key, rule


class Branches:
    """The conditions of all formulas of an op, and what calls answered so far."""

    def __init__(self, spec: OpSpec) -> None:
        self._spec = spec
        self.conditions: list[Condition] = []
        self._kernels = self._noting_kernels()
        self._helpers = {name: list(made) for name, made in self._noting_helpers()}
        self._formulas = list(self._compiled())
        self._kind = "answers"
        """The set of a condition in which its answer is noted."""
        self._first: dict[tuple[str, int], float] = {}
        """The first value of each number that jumps, for each set that answers are noted in."""
        self.path: Path = frozenset()
        """Answer of the last call; nothing if a tensor has no elements."""

    def missing(self) -> list[Condition]:
        """The conditions that are answered one way only."""
        return [each for each in self.conditions if each.missing and not each.is_taken_over]

    def count_excluded(self) -> int:
        """Count the answers that calls gave which `requires` excludes."""
        return sum(len(condition.excluded) for condition in self.conditions)

    def answered_when_excluded(self) -> list[Condition]:
        """The conditions with an answer that only such calls gave."""
        return [c for c in self.missing() if {*c.missing} & c.excluded and c.is_of_shapes]

    def note(
        self,
        values: dict[str, Any],
        outputs: dict[str, Any],
        cotangents: dict[str, Any],
        tangents: dict[Leaf, Any],
        is_excused: bool = False,
    ) -> bool:
        """Note the answers of one call; return whether one of them is new.

        One that is excused, as its rules may raise there, was not compared: it shows little.
        """
        before = sum(len(condition.answers) for condition in self.conditions)
        shows_little = is_excused or _is_of_nothing(values, outputs)
        self._kind = "of_nothing" if shows_little else "answers"
        self.path = frozenset()
        self._evaluate(self.names(values, outputs, cotangents, tangents))
        if self._kind == "of_nothing":
            self.path = frozenset()
        return sum(len(condition.answers) for condition in self.conditions) > before

    def note_excluded(self, values: dict[str, Any]) -> None:
        """Note the answers of a call that `requires` excludes: no such call is meant."""
        if not any(condition.unreached for condition in self.conditions):
            return
        try:
            outputs = evaluate_definition(self._spec, values)
        except Exception:
            outputs = {}
        self._kind = "excluded"
        self._evaluate(self.names(values, outputs, outputs, {}))

    def note_refused(self, values: dict[str, Any]) -> bool:
        """Note the answers of a call that a kernel of one's own refuses; return False."""
        if self._kernels:
            self.note_excluded(values)
        return False

    def _evaluate(self, known: dict[str, Any]) -> None:
        """Evaluate every formula whose names are known."""
        for names, formula in self._formulas:
            if all(name in known for name in names):
                try:
                    formula(*(known[name] for name in names))
                except Exception:
                    continue  # no call of this formula

    def names(
        self,
        values: dict[str, Any],
        outputs: dict[str, Any],
        cotangents: dict[str, Any],
        tangents: dict[Leaf, Any],
    ) -> dict[str, Any]:
        """Everything that a formula may read, by name."""
        params = self._spec.signature.params
        known = {param.name: given(param, values[param.name]) for param in params}
        for param in self._spec.signature.tensor_params:
            known[f"{param.name}_p"] = values[param.name]
            known[f"{param.name}_t"] = _tangent(param.name, values[param.name], tangents)
        for output in self._spec.signature.outputs:
            known[output.name] = _listed(output.name, outputs)
            known[f"grad_{output.name}"] = _listed(output.name, cotangents)
        names = gradient_names(self._spec)
        if names and names[0] == "grad" and cotangents:
            everything = list(cotangents.values())
            known |= {"grad": everything[0], "grads": everything}
        return known

    def _compiled(self) -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
        """Every formula of the spec, with the names that it reads."""
        for key, formula in _formulas(self._spec):
            before = len(self.conditions)
            made = self._compile(self._spec, key, formula)
            noting = {*self._kernels, *self._helpers}
            if len(self.conditions) > before or any(_calls_of(formula, noting)):
                yield made

    def _noting_helpers(self) -> Iterator[tuple[str, Iterator[_Helper]]]:
        """The overloads of each helper; its conditions go with those of every rule."""
        for name, helpers in groupby(self._spec.helpers, lambda helper: helper.signature.name):
            yield name, map(self._noting_helper, helpers)

    def _noting_helper(self, helper: OpSpec) -> _Helper:
        assert helper.definition is not None
        before = len(self.conditions)
        names, function = self._compile(helper, "forward", helper.definition)
        read = frozenset(param.name for param in self._spec.signature.params)
        for condition in self.conditions[before:]:
            condition.is_of_helper, condition.names = True, read
        return _Helper(helper.signature.params, names, function)

    def _noting_kernels(self) -> dict[str, Any]:
        """The kernels of one's own, whose conditions note their answers; none if no formula calls
        any. A condition that no call comes to owes nothing."""
        module = own_module(self._spec)
        if module is None:
            return {}
        found, texts = noting_kernels(module, self._seen_in_kernel)
        kernels = {f"kernels.{name}": function for name, function in found.items()}
        called = [(k, f) for k, f in _formulas(self._spec) if any(_calls_of(f, kernels))]
        key = called[0][0]
        names = frozenset(param.name for param in self._spec.signature.params)
        for text in texts:
            condition = Condition(key, text, owed=(), is_of_shapes=True, names=names)
            self.conditions.append(condition)
        return kernels

    def _call(self, function: str, /, *args: Any, **options: Any) -> Any:
        """Call what a formula names: of kernels of one's own those that note their answers."""
        kernel = self._kernels.get(function)
        if kernel is not None:
            return kernel(*args, **options)
        for helper in self._helpers.get(function, ()):
            helper.note(args, options)
        return call_by_name(function, *args, **options)

    def _seen_in_kernel(self, number: int, answer: bool) -> None:
        self.conditions[number].owed = _EITHER
        self._seen(number, answer)

    def _compile(
        self, spec: OpSpec, key: str, formula: Formula
    ) -> tuple[tuple[str, ...], Callable[..., Any]]:
        names = tuple(sorted(free_names(formula.block) - set(CONSTANTS)))
        renderer = _NotingRenderer(spec, key, formula, self.conditions)
        notes = {
            CALL: self._call,
            _SEEN: self._seen,
            _SEEN_STEP: self._seen_step,
            _SEEN_MOD: self._seen_mod,
            _SEEN_PART: self._seen_part,
            _SEEN_SUM: self._seen_sum,
            _SEEN_BOUND: self._seen_bound,
        }
        return names, compile_formula(renderer, formula.block, names, notes)

    def _seen_step(self, number: int, value: Any) -> Any:
        """Note whether a value that jumps is another one than at the first call."""
        here = {float(each) for each in np.ravel(value) if each == each}  # nan is no value
        if here:
            first = self._first.setdefault((self._kind, number), next(iter(here)))
            self._seen(number, bool(here - {first}))
        return value

    def _seen_mod(self, number: int, left: Any, right: Any) -> Any:
        """Note whether what a remainder leaves out is another number than at the first call."""
        self._seen_step(number, left // right)
        return left % right

    def _seen_sum(self, number: int, left: Any, right: Any) -> Any:
        """Note whether neither number is too small to change the other one."""
        total = left + right
        if isinstance(total, int | float | np.number | np.ndarray):
            least = SEEN_FROM * np.abs(total)
            counts = (np.abs(total - left) > least) & (np.abs(total - right) > least)
            self._seen(number, bool(np.any(counts)))
        else:
            self._seen(number, True)
        return total

    def _seen_bound(self, number: int, value: Any, kept: Any) -> Any:
        """Note whether a bound leaves a count as it is; elements answer, each for itself."""
        self._seen(number, np.asarray(value) == kept)
        return value

    def _seen_part(self, number: int, part: Any) -> Any:
        """Note whether a part of a list has items; one of a tensor owes no call."""
        self._seen(number, not isinstance(part, tuple | list) or len(part) > 0)
        return part

    def _seen(self, number: int, answer: Any) -> Any:
        """Note an answer and pass it on."""
        if isinstance(answer, np.ndarray):
            self.conditions[number].is_of_elements = True
            here = {bool(answer.any()), bool(answer.all())} if answer.size else set()
        else:
            here = {bool(answer)}
        answers: set[bool] = getattr(self.conditions[number], self._kind)
        answers |= here
        self.path |= {(number, each) for each in here}
        return answer


@dataclass(frozen=True, slots=True)
class _Helper:
    """An op that formulas call as a part of them, whose conditions note their answers."""

    params: tuple[Param, ...]
    names: tuple[str, ...]
    function: Callable[..., Any]

    def note(self, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        """Note what it asks in a call; nothing if that is one of another overload."""
        known = {p.name: p.default for p in self.params if p.default is not REQUIRED}
        known |= {p.name: value for p, value in zip(self.params, args, strict=False)} | {**options}
        values = {p.name: given(p, known[p.name]) for p in self.params if p.name in known}
        if len(args) <= len(self.params) and all(name in values for name in self.names):
            with suppress(Exception):  # what the op refuses asks nothing
                self.function(*(values[name] for name in self.names))


class _NotingRenderer(DefinitionRenderer):
    """A formula whose conditions note their answers."""

    def __init__(
        self, spec: OpSpec, key: str, formula: Formula, conditions: list[Condition]
    ) -> None:
        self._data = _kinds_of_data(spec)
        self._plain = {p.name for p in spec.signature.params if p.type.base in ("int", "SymInt")}
        self._numbers = _names_of_numbers(spec, formula.block)
        self._counts = _names_of_numbers(spec, formula.block, self._data)
        self._key = key
        self._formula = formula
        self._conditions = conditions

    def render_compare(self, node: ir.Compare) -> tuple[str, int]:
        return self._noted(node, super().render_compare(node)[0]), ATOM

    def render_binary(self, node: ir.Binary) -> tuple[str, int]:
        has_names = any(isinstance(each, ir.Name) for each in walk(node))
        if has_names and node.op == "%":
            return self._noted_sides(node, _JUMPS, _SEEN_MOD), ATOM
        if node.op in ("+", "-") and _may_vanish(node) and _is_of_numbers(node, self._numbers):
            return self._noted_sides(node, _COUNTS, _SEEN_SUM), ATOM
        rendered = super().render_binary(node)
        if node.op in ("&", "|") and self._is_of_data(node):
            return self._noted(node, rendered[0]), ATOM
        is_power = node.op == "**" and isinstance(node.left, ir.Const)
        is_jump = node.op == "//" or (node.op in _BITS and not self._may_be_tensor(node))
        if has_names and (is_power or is_jump):
            return self._noted(node, rendered[0], _JUMPS, (True,), _SEEN_STEP), ATOM
        return rendered

    def _noted_sides(self, node: ir.Binary, asks: str, note: str) -> str:
        """An operator whose note is given both sides; what is taken away, as what is added."""
        sign = "-" if node.op == "-" else ""
        sides = f"{self.render(node.left)}, {sign}({self.render(node.right)})"
        return self._noted(node, sides, asks, (True,), note)

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        rendered = super().render_call(node)
        is_comparison = node.function in COMPARISONS and not _asks_for_no_number(node)
        if is_comparison or self._asks_all(node):
            return self._noted(node, rendered[0]), ATOM
        has_names = any(isinstance(each, ir.Name) for each in walk(node))
        is_count = has_names and _is_of_numbers(node, self._counts)
        if is_count and node.function in _REMAINDERS and len(node.args) == 2 and not node.kwargs:
            sides = ", ".join(map(self.render, node.args))
            return self._noted(node, sides, _JUMPS, (True,), _SEEN_MOD), ATOM
        if (has_names and node.function == "int") or (is_count and node.function in _STEPS):
            return self._noted(node, rendered[0], _JUMPS, (True,), _SEEN_STEP), ATOM
        if is_count and node.function in _BOUNDS:
            sides = f"{rendered[0]}, {self.render(node.args[0])}"
            return self._noted(node, sides, _KEEPS, note=_SEEN_BOUND), ATOM
        return rendered

    def _asks_all(self, node: ir.Call) -> bool:
        """Return whether `all` or `any` asks the elements of what a rule computes."""
        asked = {each.function for each in calls(node)}
        return self._key != "batch" and node.function in _OF_ALL and not asked & {*_OF_NO_NUMBER}

    def _may_be_tensor(self, node: ir.Expr) -> bool:
        """Return whether bits are those of tensors or of comparisons: masks, that do not jump."""
        return any(
            isinstance(each, ir.Compare | ir.Logic)
            or (isinstance(each, ir.Call) and each.function not in ("numel", "len", "int"))
            or (isinstance(each, ir.Name) and each.id not in self._plain)
            for each in _without_attributes(node)
        )

    def render_subscript(self, node: ir.Subscript) -> tuple[str, int]:
        rendered = super().render_subscript(node)
        if isinstance(node.index, ir.Slice):
            return self._noted(node, rendered[0], "{} has items", (True,), _SEEN_PART), ATOM
        return rendered

    def _is_of_data(self, node: ir.Expr) -> bool:
        """Return whether conditions are joined, one of which is about what an argument holds, or
        about the order of many elements: chambers of these are not combined in all ways."""
        kinds = {
            self._data[n.id] for n in walk(node) if isinstance(n, ir.Name) and n.id in self._data
        }
        if not any(isinstance(n, ir.Compare) for n in walk(node)):
            return "bool" in kinds
        is_of_many = any(isinstance(n, ir.Call) and n.function in _OF_MANY for n in walk(node))
        return bool(kinds & {"bool", "int"}) or is_of_many

    def render_logic(self, node: ir.Logic) -> tuple[str, int]:
        operands = (self._test(operand) for operand in node.operands)
        return f"({f' {node.op} '.join(operands)})", ATOM

    def render_conditional(self, node: ir.Conditional) -> tuple[str, int]:
        then, otherwise = self.render(node.then), self.render(node.otherwise)
        return f"(({then}) if {self._test(node.test)} else ({otherwise}))", ATOM

    def _branches(
        self,
        test: ir.Expr,
        then: tuple[ir.Stmt, ...],
        otherwise: tuple[ir.Stmt, ...],
        result: str,
    ) -> list[str]:
        lines = [f"if {self._test(test)}:", *indented(self._suite(then, result))]
        return [*lines, "else:", *indented(self._suite(otherwise, result))] if otherwise else lines

    def _test(self, test: ir.Expr) -> str:
        if isinstance(test, ir.Compare | ir.Logic):
            return self.render(test, COMPARE)
        if isinstance(test, ir.Unary) and test.op == "not":
            return f"(not {self._test(test.operand)})"
        return self._noted(test, self.render(test))

    def _noted(
        self,
        node: ir.Expr,
        source: str,
        asks: str = "{}",
        owed: tuple[bool, ...] = _EITHER,
        note: str = _SEEN,
    ) -> str:
        text = asks.format(self._formula.text[node.span.start : node.span.end])
        taken_over = self._formula.is_derived
        read = frozenset(each.id for each in walk(node) if isinstance(each, ir.Name))
        shapes = _is_of_numbers(node, self._numbers)
        found = Condition(
            self._key, text, is_taken_over=taken_over, owed=owed, is_of_shapes=shapes, names=read
        )
        self._conditions.append(found)
        return f"{note}({len(self._conditions) - 1}, {source})"


def _calls_of(formula: Formula, functions: Collection[str]) -> Iterator[str]:
    return (call.function for call in calls(formula.block) if call.function in functions)


def _asks_for_no_number(node: ir.Call) -> bool:
    """Return whether a comparison looks for infinities or nan, which no call is made with."""
    sides = [side.operand if isinstance(side, ir.Unary) else side for side in node.args]
    return any(isinstance(side, ir.Name) and side.id == "inf" for side in sides) or (
        len(sides) == 2 and formula_text(sides[0]) == formula_text(sides[1])
    )


def _may_vanish(node: ir.Binary) -> bool:
    """Return whether names and a power, a quotient or an exponential are added: one may be tiny."""
    has_names = any(isinstance(each, ir.Name) for each in walk(node))
    return has_names and any(
        (isinstance(part, ir.Binary) and part.op in ("**", "/"))
        or (isinstance(part, ir.Call) and part.function in _EXPONENTIALS)
        for part in walk(node)
    )


def _names_of_numbers(spec: OpSpec, block: ir.Block, data: Collection[str] = ()) -> frozenset[str]:
    """The arguments and locals that stand for plain numbers; or for those in `data`, too."""
    found = {p.name for p in spec.signature.params if p not in spec.signature.tensor_params}
    found |= {*CONSTANTS, *data}
    for assigned in assignments(block):
        if _is_of_numbers(assigned.value, found):
            found |= {*assigned.targets}
    return frozenset(found)


def _is_of_numbers(node: ir.Node, numbers: Collection[str]) -> bool:
    """Return whether a formula reads shapes of tensors at most, and no elements."""
    return all(
        each.id in numbers for each in _without_attributes(node) if isinstance(each, ir.Name)
    )


def _without_attributes(node: ir.Node) -> Iterator[ir.Node]:
    """Every part of a formula but what attributes, such as `shape`, are read from."""
    yield node
    for child in () if _reads_shapes(node) else children(node):
        yield from _without_attributes(child)


def _reads_shapes(node: ir.Node) -> bool:
    """Return whether a part reads of a tensor no more than its shape and dtype."""
    match node:
        case ir.Attribute():
            return True
        case ir.Call(function=function):
            return function in _COUNTED
        case ir.Binary(op="*", left=ir.Const(value=0)) | ir.Binary(op="*", right=ir.Const(value=0)):
            return True
    return False


def _kinds_of_data(spec: OpSpec) -> dict[str, str]:
    """The arguments for which examples give whole numbers or flags: `int` or `bool`."""
    given = (arg for example in spec.examples for arg in example.args)
    kinds = {name: next(iter(value)) for name, value in given if isinstance(value, Mapping)}
    return {name: kind for name, kind in kinds.items() if kind in ("int", "bool")}


def _listed(name: str, arrays: dict[str, Any]) -> Any:
    """One array of this name, or the list of all `name[0]`, `name[1]` ..."""
    return arrays[name] if name in arrays else [a for n, a in arrays.items() if f"{name}[" in n]


def _arrays(value: Any) -> Iterator[Any]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, np.ndarray):
            yield item


def _is_of_nothing(values: dict[str, Any], outputs: dict[str, Any]) -> bool:
    """Return whether a tensor has no elements, or no result a finite one: no slope is compared."""
    if any(not array.size for value in values.values() for array in _arrays(value)):
        return True
    results = [array for value in outputs.values() for array in _arrays(value)]
    return bool(results) and not any(np.isfinite(array).any() for array in results)


def _tangent(name: str, value: Any, tangents: dict[Leaf, Any]) -> Any:
    """The tangent of an argument; its value stands for one that has none."""
    if isinstance(value, list):
        return [tangents.get((name, number), item) for number, item in enumerate(value)]
    return tangents.get((name, 0), value)
