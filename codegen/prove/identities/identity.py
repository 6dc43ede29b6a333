"""The identities that an op's kernel and derivatives must satisfy.

With parameters `p` (the input symbols), `F` the outputs and `g` their cotangents:

    kernel          F as the kernel computes it  =  F as defined, where a spec has both
    VJP             grad_in of p             =  real part of the sum of conj(g) * dF/dp
    JVP             tangent of F             =  sum of dF/dp * t
    double backward derivative of sum(t * grad_in)  =  the same of sympy's first derivative

Both are linear in `g` and in `t`. So where only one tangent is there, or the cotangent of one
output, and the others are absent, the answer must be that to all of them with zeros for the others.

The gradient for a complex input `a + i*b` is `grad_in of a + i * grad_in of b`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import sympy
from sympy import Expr, S

from ..inputs.parametrize import along, contracted, curved, is_parametrized
from ..symbolic.complex_numbers import conjugate, is_complex, parameters, real_part_to_compare
from ..symbolic.derivatives import Derivatives
from ..symbolic.symbols import SymArray, expressions
from .run import Array, Leaf, Run


@dataclass(frozen=True, slots=True)
class Identity:
    """`got` must equal `expected`; `key` is what the spec calls the formula at fault."""

    label: str
    key: str
    got: Expr
    expected: Expr


class Mismatch(Exception):
    """A gradient has the wrong shape, or is missing altogether."""

    def __init__(self, label: str, key: str, message: str) -> None:
        super().__init__(message)
        self.label = label
        self.key = key


class Jacobian:
    """The derivatives of the outputs of a run by its input symbols, as sympy gives them."""

    def __init__(self, run: Run, known: Derivatives) -> None:
        self._run = run
        self.outputs = {
            (name, index): array[index]
            for name, array in run.outputs.items()
            for index in np.ndindex(array.shape)
        }
        self.cotangents = {
            (name, index): array[index].item().expr
            for name, array in run.cotangents.items()
            for index in np.ndindex(array.shape)
        }
        self._known = known

    def first(self, place: Any, p: sympy.Symbol) -> Expr:
        """The derivative of one output element."""
        return self._known.by(self.outputs[place], p)

    def second(self, place: Any, p: sympy.Symbol, q: sympy.Symbol) -> Expr:
        """The second derivative of one output element; which comes first does not matter."""
        if p.name > q.name:
            p, q = q, p
        return self._known.by(self.first(place, p), q)

    def pulled_back(self, element: Expr) -> Expr:
        """Return the expected VJP: the derivative by `a`, plus `i` times that by `b`."""
        return sympy.Add(*(unit * self._pulled_back(p) for p, unit in parameters(element)))

    def _pulled_back(self, p: sympy.Symbol) -> Expr:
        terms = [conjugate(g) * self.first(place, p) for place, g in self.cotangents.items()]
        return real_part_to_compare(sympy.Add(*terms))

    def pushed_forward(self, place: Any, tangents: dict[sympy.Symbol, sympy.Symbol]) -> Expr:
        """Return the expected JVP of one output element."""
        return sympy.Add(*(self.first(place, p) * t for p, t in tangents.items()))

    def curved(self, element: Expr, tangents: dict[sympy.Symbol, sympy.Symbol]) -> Expr:
        """Return the expected answer of the second pass for an input."""
        return sympy.Add(*(unit * self._curved(q, tangents) for q, unit in parameters(element)))

    def bent(self, symbol: sympy.Symbol) -> Expr:
        """Return the expected answer of the second pass along a parameter of an input."""
        return curved(self._run, symbol)

    def _curved(self, q: sympy.Symbol, tangents: dict[sympy.Symbol, sympy.Symbol]) -> Expr:
        terms = [
            t * conjugate(g) * self.second(place, p, q)
            for place, g in self.cotangents.items()
            for p, t in tangents.items()
        ]
        return real_part_to_compare(sympy.Add(*terms))


def _wrong_shape(label: str, key: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> Mismatch:
    return Mismatch(label, key, f"has shape {list(found)} where {list(wanted)} is needed")


class Expectations(Protocol):
    """The derivatives that a run should have found; `Jacobian` has them as expressions."""

    def pulled_back(self, element: Expr) -> Any:
        """Return the expected VJP."""

    def pushed_forward(self, place: Any, tangents: dict[sympy.Symbol, sympy.Symbol]) -> Any:
        """Return the expected JVP of one output element."""

    def curved(self, element: Expr, tangents: dict[sympy.Symbol, sympy.Symbol]) -> Any:
        """Return the expected answer of the second pass for an input."""

    def bent(self, symbol: sympy.Symbol) -> Any:
        """Return the same along a parameter that an input is made of."""


def identities(run: Run, known: Derivatives) -> Iterator[Identity]:
    """Every identity of a run, cheap ones first. Raises Mismatch where shapes are wrong."""
    return identities_with(run, Jacobian(run, known))


def identities_with(run: Run, jacobian: Expectations) -> Iterator[Identity]:
    """Every identity of a run, with the expected sides that `jacobian` gives."""
    yield from kernel_identities(run)
    if not (run.leaves and run.outputs):
        return
    symbols = {leaf: run.array(leaf) for leaf in run.leaves}
    yield from _vjp(run, jacobian, symbols)
    yield from _jvp(run, jacobian)
    yield from _second_order(run, jacobian, symbols)


def kernel_identities(run: Run) -> Iterator[Identity]:
    """The kernel computes the definition. Raises Mismatch where it gives another shape."""
    for name, definition in run.defined.items():
        label = f"kernel of {name}"
        kernel = run.outputs[name] if name in run.outputs else run.fixed[name]
        if kernel.shape != definition.shape:
            raise _wrong_shape(label, "kernel", kernel.shape, definition.shape)
        for index in np.ndindex(kernel.shape):
            got, expected = sympy.sympify(kernel[index]), sympy.sympify(definition[index])
            yield Identity(f"{label}{subscript(index)}", "kernel", got, expected)


def kernel_at_tie(run: Run, place: str) -> Iterator[Identity]:
    """The kernel computes the definition where two sides are equal: at this point, not around."""
    for identity in kernel_identities(run):
        got, expected = (
            side.xreplace(run.point.values) for side in (identity.got, identity.expected)
        )
        yield replace(identity, label=f"{identity.label} where {place}", got=got, expected=expected)


def duality(run: Run, place: str) -> Identity:
    """At a tie there is no derivative to compare with, but VJP and JVP must be each other's
    transpose: the real part of the sum of `conj(t) * grad_in` is that of `conj(g) * tangent`."""
    symbols = {leaf: run.array(leaf) for leaf in run.leaves}
    here = {p: run.point.values[p] for p in weights(run)}
    label = f"VJP and JVP where {place}"
    key = run.leaves[0][0]
    pulled = [
        conjugate(run.weights[leaf][index].item().expr) * gradient[index]
        for leaf in run.leaves
        for gradient in [filled(run.gradients[leaf], symbols[leaf], label, key)]
        for index in np.ndindex(gradient.shape)
    ]
    pushed = [
        conjugate(run.cotangents[name][index].item().expr) * tangent[index]
        for name, found in run.tangents.items()
        for tangent in [filled(found, run.cotangents[name], label, name)]
        for index in np.ndindex(tangent.shape)
    ]
    got, expected = (
        real_part_to_compare(sympy.Add(*terms)).xreplace(here) for terms in (pulled, pushed)
    )
    return Identity(label, key, got, expected)


def _vjp(run: Run, jacobian: Expectations, symbols: dict[Leaf, Array]) -> Iterator[Identity]:
    for leaf in run.leaves:
        name = shown(run, leaf)
        found = filled(run.gradients[leaf], symbols[leaf], f"VJP of {name}", leaf[0])
        for where, p, got in components(run, leaf, symbols[leaf], found):
            yield Identity(f"VJP of {name}{where}", leaf[0], got, jacobian.pulled_back(p))
        for again, how in (
            (run.alone, "asked for alone"),
            (run.recorded, "with create_graph"),
        ):
            if leaf in again:
                label = f"VJP of {name}"
                other = filled(again[leaf], symbols[leaf], f"{label}, {how}", leaf[0])
                for index, _ in elements(symbols[leaf]):
                    text = f"{label}{subscript(index)}, {how}"
                    yield Identity(text, leaf[0], other[index], found[index])

        for (output, recorded), gradients in run.of_one_cotangent.items():
            how = f"of {output} alone{', with create_graph' if recorded else ''}"
            others = [
                g
                for other, array in run.cotangents.items()
                if other != output
                for g in expressions(array).flat
            ]
            one = filled(gradients[leaf], symbols[leaf], f"VJP of {name}, {how}", leaf[0])
            for index, expected in elements(_without(found, others)):
                text = f"VJP of {name}{subscript(index)}, {how}"
                yield Identity(text, leaf[0], one[index], expected)


def _jvp(run: Run, jacobian: Expectations) -> Iterator[Identity]:
    tangent_of = weights(run)
    for name, tangent in run.tangents.items():
        found = filled(tangent, run.cotangents[name], f"JVP of {name}", name)
        for index in np.ndindex(found.shape):
            label = f"JVP of {name}{subscript(index)}"
            expected = jacobian.pushed_forward((name, index), tangent_of)
            yield Identity(label, name.partition("[")[0], found[index], expected)
        for leaf, tangents in run.of_one_tangent.items():
            how = f"with the tangent of {shown(run, leaf)} alone"
            others = [
                t for other in run.leaves if other != leaf for t in run.directions[other].values()
            ]
            one = filled(tangents[name], run.cotangents[name], f"JVP of {name}, {how}", name)
            for index, expected in elements(_without(found, others)):
                text = f"JVP of {name}{subscript(index)}, {how}"
                yield Identity(text, name.partition("[")[0], one[index], expected)


def _without(found: Array, absent: list[Expr]) -> Array:
    """Take the terms of some tangents or cotangents out of what was found."""
    zeros = {symbol: S.Zero for expr in absent for symbol in expr.free_symbols}
    rest = np.empty(found.shape, dtype=object)
    for index, expr in elements(found):
        rest[index] = expr.xreplace(zeros)
    return rest


def _second_order(
    run: Run, jacobian: Expectations, symbols: dict[Leaf, Array]
) -> Iterator[Identity]:
    tangents = weights(run)
    for place, found in run.second.items():
        if isinstance(place, str):
            name, key, like = "grad", run.leaves[0][0], run.cotangents[place]
        else:
            name, key, like = shown(run, place), place[0], symbols[place]
        label = f"double backward by {name}"
        gradient = filled(found, like, label, key)
        if isinstance(place, str):
            for index in np.ndindex(like.shape):
                expected = jacobian.pushed_forward((place, index), tangents)
                yield Identity(f"{label}{subscript(index)}", key, gradient[index], expected)
            continue
        bent = is_parametrized(like)
        for where, p, got in components(run, place, like, gradient):
            expected = jacobian.bent(p) if bent else jacobian.curved(p, tangents)
            yield Identity(f"{label}{where}", key, got, expected)


def components(
    run: Run, leaf: Leaf, symbols: Array, found: Array
) -> Iterator[tuple[str, Expr, Expr]]:
    """Pair each input, an element or a parameter of the elements, with what was found for it."""
    if is_parametrized(symbols):
        for p in run.directions[leaf]:
            yield f" along {p}", p, contracted(found, along(symbols, {p: S.One}))
    else:
        for index, element in elements(symbols):
            yield subscript(index), element, found[index]


def weights(run: Run) -> dict[sympy.Symbol, sympy.Symbol]:
    """The tangent of each parameter."""
    return {p: t for directions in run.directions.values() for p, t in directions.items()}


def elements(array: Array) -> Iterator[tuple[tuple[int, ...], Any]]:
    return ((index, array[index]) for index in np.ndindex(array.shape))


def filled(found: Array | None, like: Any, label: str, key: str) -> Array:
    """The array, zeros if there is none; Mismatch if it has another shape."""
    if found is None:
        zeros = np.empty(like.shape, dtype=object)
        zeros.fill(S.Zero)
        return zeros
    if found.shape != like.shape:
        raise _wrong_shape(label, key, found.shape, like.shape)
    wanted = expressions(like) if isinstance(like, SymArray) else like
    if any(map(is_complex, wanted.flat)):
        return found
    projected = np.empty(found.shape, dtype=object)  # what arrays of floats cannot but do
    for index in np.ndindex(found.shape):
        projected[index] = real_part_to_compare(found[index])
    return projected


def shown(run: Run, leaf: Leaf) -> str:
    name, number = leaf
    return f"{name}[{number}]" if isinstance(run.inputs.values[name], list) else name


def subscript(index: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""
