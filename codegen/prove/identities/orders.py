"""Second derivatives in every mode: the identities of what `compositions` computes.

The VJP of the VJP is part of every run (`execute`); here are the other three, at the same symbols.
With `s` for the speed of each symbol (of inputs, of cotangents `g` and of first tangents `t`),

    JVP of the VJP    tangent of grad_in           =  sum of d grad_in/dq * s
    VJP of the JVP    gradient of sum(g * tangent) =  the same as by the double backward
    by the tangent    the same, by `t`             =  grad_in
    JVP of the JVP    tangent of the tangent of F  =  sum of d tangent/dq * s

What is differentiated on the right is known to be the derivative of `F` on the whole chamber when
this is asked, so its derivatives are the second ones of `F`. No more follows of a linear op, whose
rules read no array but the cotangent or the tangent, nor of a composite, which has no rules.

Third derivatives follow from second ones, of the ops that a rule calls, unless something that a
rule reads is not differentiated with it. So of rules that read more than arguments the derivative
of the double backward is compared as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy
from sympy import Expr

from ...ir.nodes import Attribute, Name, Node
from ...ir.walk import children
from ...spec.model import AutoLinear, Formula, NotImplementedYet, OpSpec
from ..inputs.parametrize import curved, is_parametrized
from ..symbolic.decisions import tracing
from ..symbolic.derivatives import Derivatives
from ..symbolic.symbols import expressions, sym_array
from .compositions import Arrays, Composition, Directions
from .identity import (
    Identity,
    Jacobian,
    components,
    elements,
    filled,
    shown,
    subscript,
    weights,
)
from .real_numbers import real_gradients
from .run import Array, Leaf, Run


def is_settled_by_first_order(spec: OpSpec) -> bool:
    """Return whether nested modes have nothing to say of an op: it has no rules, or linear ones."""
    if spec.composite is not None or not spec.jvps:
        return True
    if any(isinstance(rule, NotImplementedYet) for _, rule in spec.jvps):
        return True
    if not all(isinstance(rule, AutoLinear) for _, rule in spec.jvps):
        return False
    names = {thing.name for thing in spec.signature.tensor_params} | {n for n, _ in spec.jvps}
    rules = [rule for _, rule in spec.vjps if isinstance(rule, Formula)]
    return not any(names & _arrays_read(rule.block) for rule in rules)


def _arrays_read(node: Node) -> set[str]:
    """The names of which more is read than a shape or another attribute."""
    if isinstance(node, Attribute):
        return set()
    if isinstance(node, Name):
        return {node.id}
    return set().union(*map(_arrays_read, children(node)))


def count_parts(run: Run) -> int:
    """Count the different subexpressions of the second derivatives of a run."""
    seen: set[Expr] = set()
    left = [e for array in run.second.values() if array is not None for e in array.flat]
    while left:
        expr = left.pop()
        if expr not in seen:
            seen.add(expr)
            left += expr.args
    return len(seen)


def nested_identities(
    spec: OpSpec, run: Run, known: Derivatives, complete: Callable[[], None]
) -> Iterator[Identity]:
    """Yield every identity of the nested modes of a run whose others hold.

    `complete()` gives a witness to new symbols. Raises Mismatch where shapes are wrong.
    """
    if not (run.leaves and run.outputs and run.tangents):
        return
    motion = _Motion(run, known)
    complete()

    def compose() -> Composition:
        return Composition(spec, run.inputs.values, run.leaves, motion.given)

    with tracing(run.point), real_gradients(map(run.array, run.leaves)):
        moved = _exact(compose().jvp_of_vjp())
        pulled, pulled_to_tangents = map(_exact, compose().vjp_of_jvp())
        pushed = _exact(compose().jvp_of_jvp())
    yield from _of_vjp(run, moved, motion)
    yield from _of_jvp(spec, run, pulled, pulled_to_tangents, Jacobian(run, known))
    yield from _of_tangents(run, pushed, motion)


def third_identities(spec: OpSpec, run: Run, complete: Callable[[], None]) -> Iterator[Identity]:
    """Yield those of the JVP of the double backward: a change of the second derivatives."""
    motion = _Motion(run, Derivatives(), of_inputs_alone=True)
    complete()
    with tracing(run.point), real_gradients(map(run.array, run.leaves)):
        call = Composition(spec, run.inputs.values, run.leaves, motion.given)
        found = _exact(call.jvp_of_double_backward())
    for leaf in run.leaves:
        like, label = run.array(leaf), f"JVP of the double backward by {shown(run, leaf)}"
        second = filled(run.second.get(leaf), like, label, leaf[0])
        third = filled(found.get(leaf), like, label, leaf[0])
        for index, expr in elements(second):
            expected = motion.derivative(expr)
            yield Identity(f"{label}{subscript(index)}", leaf[0], third[index], expected)


def _exact(arrays: Arrays) -> Arrays:
    return {key: None if array is None else expressions(array) for key, array in arrays.items()}


def _of_vjp(run: Run, found: Arrays, motion: _Motion) -> Iterator[Identity]:
    for leaf in run.leaves:
        like, label = run.array(leaf), f"JVP of the VJP of {shown(run, leaf)}"
        first = filled(run.gradients[leaf], like, label, leaf[0])
        second = filled(found.get(leaf), like, label, leaf[0])
        for index, expr in elements(first):
            expected = motion.derivative(expr)
            yield Identity(f"{label}{subscript(index)}", leaf[0], second[index], expected)


def _of_jvp(
    spec: OpSpec, run: Run, found: Arrays, to_tangents: Arrays, jacobian: Jacobian
) -> Iterator[Identity]:
    tangent_of = weights(run)
    for leaf in run.leaves:
        like, label = run.array(leaf), f"VJP of the JVP by {shown(run, leaf)}"
        key = _formula_of_tangents(spec, leaf)
        second = filled(found.get(leaf), like, label, key)
        bent = is_parametrized(like)
        for where, p, got in components(run, leaf, like, second):
            expected = curved(run, p) if bent else jacobian.curved(p, tangent_of)
            yield Identity(f"{label}{where}", key, got, expected)
        label = f"VJP of the JVP by the tangent of {shown(run, leaf)}"
        first = filled(run.gradients[leaf], like, label, key)
        again = filled(to_tangents.get(leaf), like, label, key)
        # Of a symmetric matrix only what symmetric tangents tell is the same.
        pairs = (components(run, leaf, like, array) for array in (again, first))
        for (where, _, got), (_, _, expected) in zip(*pairs, strict=True):
            yield Identity(f"{label}{where}", key, got, expected)


def _formula_of_tangents(spec: OpSpec, leaf: Leaf) -> str:
    """The key of the first JVP that is written out; without one the VJP is what it is made of."""
    written = (name for name, rule in spec.jvps if isinstance(rule, Formula))
    return next(written, leaf[0])


def _of_tangents(run: Run, found: Arrays, motion: _Motion) -> Iterator[Identity]:
    for name, cotangent in run.cotangents.items():
        label, key = f"JVP of the JVP of {name}", name.partition("[")[0]
        first = filled(run.tangents[name], cotangent, label, key)
        second = filled(found.get(name), cotangent, label, key)
        for index, expr in elements(first):
            expected = motion.derivative(expr)
            yield Identity(f"{label}{subscript(index)}", key, second[index], expected)


class _Motion:
    """A speed for every symbol: the direction of the second derivative."""

    def __init__(self, run: Run, known: Derivatives, *, of_inputs_alone: bool = False) -> None:
        self._run = run
        self._known = known
        self._speeds: dict[sympy.Symbol, sympy.Symbol] = {}
        inputs = {leaf: run.array(leaf) for leaf in run.leaves}
        moves = {leaf: self._moves(array) for leaf, array in inputs.items()}
        if of_inputs_alone:
            self.given = Directions(run.cotangents, run.weights, moves)
            return
        cotangents = {name: expressions(array) for name, array in run.cotangents.items()}
        tangents = {leaf: expressions(array) for leaf, array in run.weights.items()}
        self.given = Directions(
            run.cotangents,
            run.weights,
            moves,
            {name: self._moves(array) for name, array in cotangents.items()},
            {leaf: self._moves(array) for leaf, array in tangents.items()},
        )

    def derivative(self, expr: Expr) -> Expr:
        """The change of an expression as all symbols move."""
        depends_on = self._known.symbols(expr)
        moving = (symbol for symbol in self._speeds if symbol in depends_on)
        return sympy.Add(*(self._known.by(expr, p) * self._speeds[p] for p in moving))

    def _moves(self, array: Array) -> Array:
        for expr in array.flat:
            for symbol in sorted(expr.free_symbols - self._speeds.keys(), key=str):
                fresh = self._run.inputs.fresh(f"{symbol}_s", ())
                self._speeds[symbol] = fresh.item().expr
        return sym_array(map(self.derivative, array.flat), array.shape)
