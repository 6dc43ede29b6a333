"""The breakpoints of an elementwise op: those it has are declared, and the code does as declared.

At a breakpoint there is no derivative to prove; the spec says what stands for it, as a factor of
`grad`. Here a witness is put exactly on the breakpoint and the generated code is asked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import sympy

from ...ir import nodes as ir
from ...ir.parse import parse
from ...ir.walk import names
from ...render.to_formula import OPS_OF_SYMPY
from ...render.to_sympy import NotSymbolic, SympyReader
from ...spec.model import AutoElementwise, Example, Formula, OpSpec, Table
from ..identities.agreement import check_agreement
from ..identities.identity import Identity, Jacobian
from ..identities.run import Run, execute
from ..numeric.evaluate import Point, to_float
from ..symbolic.decisions import Decision
from ..symbolic.derivatives import Derivatives
from ..symbolic.exact_constants import exact_number
from .borders import at_border
from .domain import is_at_gap
from .draw import Inputs, build

_WHOLE = sympy.Integer(2)
"""Point to try for a condition on whole numbers, such as `self == floor(self)`."""
_STEP = sympy.Rational(1, 10**6)
"""Distance of the points that are examined on the two sides of a breakpoint."""

_TRIES = 20
"""A condition may hold where nothing breaks: `self == min` does not count beyond `max`."""

_FUNCTIONS: dict[str, Any] = {name: function for function, name in OPS_OF_SYMPY.items()} | {
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "trunc": sympy.floor,
    "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
    "sqrt": sympy.sqrt,
}
"""Functions that a condition or a factor may call; truncation is only examined above zero."""


@dataclass(frozen=True, slots=True)
class Kink:
    """A declared breakpoint: `left == right`, and the factor of `grad` there."""

    condition: str
    left: Any
    right: Any
    factor: Any
    param: str
    """The argument whose gradient the factor is about: the first one the condition names."""

    def border(self, values: dict[str, sympy.Expr]) -> sympy.Expr:
        """The value of `param` on the breakpoint, the other arguments having `values`."""
        x = sympy.Symbol(self.param, real=True)
        others = {name: value for name, value in values.items() if name != self.param}
        difference = _at(self.left - self.right, others)
        rounded = difference.atoms(sympy.floor, sympy.ceiling)
        found = sympy.solve(difference.xreplace(dict.fromkeys(rounded, _WHOLE)), x)
        if not found:
            raise NotSymbolic(f"`{self.condition}` cannot be solved for `{self.param}`")
        return found[0]


def _at(expr: Any, values: Mapping[str, sympy.Expr]) -> sympy.Expr:
    """An expression with numbers for the symbols of these names, whatever they are assumed."""
    expr = sympy.sympify(expr)
    return expr.xreplace({s: values[s.name] for s in expr.free_symbols if s.name in values})


def declared(spec: OpSpec) -> list[Kink]:
    """The kinks of a spec. Raises NotSymbolic for one that no numbers satisfy."""
    reader = SympyReader(Table(()), _FUNCTIONS)
    numbers = {p.name: sympy.Symbol(p.name, real=True) for p in spec.signature.params}
    found = []
    for condition, factor in spec.kinks:
        expr = parse(condition).expression
        if not isinstance(expr, ir.Compare):
            raise NotSymbolic(f"`{condition}` is no comparison")
        param = next(n.id for n in names(expr) if n.id in spec.differentiable_params)
        left, right = (reader.expr(side, numbers) for side in (expr.left, expr.right))
        value = reader.block(parse(str(factor)), numbers)
        found.append(Kink(condition, left, right, value, param))
    return found


def is_derived(spec: OpSpec) -> bool:
    """Return whether an author wrote no rule: no entry claims what is taken at breakpoints."""
    vjps = [rule for _, rule in spec.vjps if isinstance(rule, Formula)]
    jvps = [rule for _, rule in spec.jvps if not isinstance(rule, AutoElementwise)]
    return all(isinstance(rule, Formula) and rule.is_derived for rule in (*vjps, *jvps))


def kink_identities(spec: OpSpec, examples: Sequence[Example]) -> Iterator[tuple[Run, Identity]]:
    """Yield the identity of each declared kink, with the run on it."""
    for kink in declared(spec):
        run = _run_on(spec, kink, examples)
        if run is None:
            raise NotSymbolic(f"nothing breaks where `{kink.condition}`")
        check_agreement(spec, run)
        leaf = (kink.param, 0)
        grads = sympy.Add(*(array.item().expr for array in run.cotangents.values()))
        values = _scalars(run.inputs, run.point)
        here = {s: run.point.values[s] for s in run.inputs.symbols if s.name in values}
        expected = _at(kink.factor, values) * grads
        for gradients, how in ((run.gradients, ""), (run.recorded, ", with create_graph")):
            gradient = gradients.get(leaf)
            got = sympy.S.Zero if gradient is None else gradient.item()
            label = f"VJP of {kink.param} at the kink `{kink.condition}`{how}"
            yield run, Identity(label, kink.param, got.xreplace(here), expected)


def _run_on(spec: OpSpec, kink: Kink, examples: Sequence[Example]) -> Run | None:
    """A run on single elements with the witness on the breakpoint; None if none was found."""
    rng = random.Random(spec.name)
    for example in examples:
        inputs = build(spec, single_elements(spec, example))
        symbol = next((s for s in inputs.symbols if s.name == kink.param), None)
        if symbol is None or any(inputs.values[n] is None for n in _named(spec, kink)):
            continue
        for _ in range(_TRIES):
            point = inputs.draw(rng)
            border = sympy.nsimplify(kink.border(_scalars(inputs, point)), rational=True)
            runs = [
                _run_at(spec, inputs, point.moved({symbol: border + step}), rng)
                for step in (0, _STEP, -_STEP)
            ]
            if _breaks(runs[1], runs[2], runs[0].point):
                return runs[0]
    return None


def _run_at(spec: OpSpec, inputs: Inputs, point: Point, rng: random.Random) -> Run:
    return execute(spec, inputs, point, partial(inputs.complete, point, rng))


def _named(spec: OpSpec, kink: Kink) -> list[str]:
    symbols = {s.name for s in sympy.sympify(kink.left - kink.right).free_symbols}
    return [p.name for p in spec.signature.params if p.name in symbols]


def single_elements(spec: OpSpec, example: Example) -> Example:
    """The same call on tensors without dimensions."""
    shaped = {p.name for p in spec.signature.tensor_params}
    args = tuple(
        (name, [] if name in shaped and isinstance(value, list) else value)
        for name, value in example.args
    )
    return Example(args, example.span)


def _scalars(inputs: Inputs, point: Point) -> dict[str, sympy.Expr]:
    """The numbers among the arguments: witnesses of tensors, and plain ones."""
    values: dict[str, sympy.Expr] = {
        name: exact_number(value)
        for name, value in inputs.values.items()
        if isinstance(value, int | float)
    }
    return values | {s.name: v for s, v in point.values.items() if s.name in inputs.values}


def undeclared(spec: OpSpec, runs: Sequence[Run]) -> Iterator[str]:
    """The breakpoints between two chambers that no declared kink speaks of, as conditions.

    `runs` are those of an example of single elements. Two chambers meet where one comparison
    changes; if the derivatives of their expressions differ there, the op has a breakpoint. Runs on
    a border themselves are of no chamber.
    """
    kinks = declared(spec)
    borders = {decision.difference for run in runs for decision in run.decisions}
    runs = [run for run in runs if all(run.point.sign(border) != 0 for border in borders)]
    for run in runs:
        for decision in run.decisions:
            for other in runs:
                border = _border_between(run, other, decision)
                if border is None or any(_is_on(kink, run.inputs, border) for kink in kinks):
                    continue
                if is_at_gap(spec.domain, _scalars(run.inputs, border)):
                    continue
                if _breaks(run, other, border):
                    yield f"{decision.difference} == 0"


def _border_between(run: Run, other: Run, decision: Decision) -> Point | None:
    """The point on the border that `run` and `other` share, straight on from the witness of `run`.

    None if they do not meet there: then the comparison is not what tells them apart.
    """
    site = decision.difference
    if not decision.branches or not _has(other, Decision(site, not decision.positive, True)):
        return None
    decisions = (*run.decisions, *other.decisions)
    for point in at_border(site, run.point):
        if all(_holds_beside(known, point) for known in decisions):
            return point
    return None


def _has(run: Run, decision: Decision) -> bool:
    return any(
        d.difference == decision.difference and d.positive is decision.positive
        for d in run.decisions
    )


def _holds_beside(decision: Decision, point: Point) -> bool:
    return point.sign(decision.difference) == 0 or decision.holds(point)


def _is_on(kink: Kink, inputs: Inputs, point: Point) -> bool:
    values = _scalars(inputs, point)
    difference = _at(kink.left - kink.right, values)
    return bool(difference.is_number and abs(sympy.N(difference, 30)) < sympy.Float("1e-20"))


def _breaks(run: Run, other: Run, border: Point) -> bool:
    """Return whether a value or a first derivative jumps from one chamber to the other.

    At a pole there is no value, and no derivative to be declared.
    """
    known = Derivatives()
    here, there = Jacobian(run, known), Jacobian(other, known)
    symbols = [run.array(leaf)[()] for leaf in run.leaves]
    if not any(np.isfinite(to_float(border.value(value))) for value in here.outputs.values()):
        return False
    return any(
        border.sign(here.outputs[place] - there.outputs[place]) != 0
        or any(border.sign(here.first(place, p) - there.first(place, p)) != 0 for p in symbols)
        for place in here.outputs
    )
