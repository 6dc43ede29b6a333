"""From an identity that fails to what its author needs: the point, both values, a likely repair."""

from __future__ import annotations

from typing import Any

import sympy

from ...spec.model import OpSpec
from ..identities.identity import Identity
from ..inputs.draw import Inputs
from ..inputs.smallest import smallest
from ..numeric.evaluate import Point
from ..symbolic.symbols import SymArray, expressions
from ..zero.is_zero import Region, compare
from .verdict import Counterexample

_SHORT = 160
"""Longer expressions are shown by their beginning in a suggestion."""


def counterexample(
    spec: OpSpec, inputs: Inputs, identity: Identity, point: Point, region: Region
) -> Counterexample:
    """The identity's two sides at a point where they differ, as simple as it can be."""
    identity, point = smallest(identity, point, region, symbols_of(inputs))
    read = identity.got.free_symbols | identity.expected.free_symbols
    # Two constants differ in a region: a point of it tells which.
    symbols = sorted(read or symbols_of(inputs), key=str)
    got, expected = _values(point, identity)
    return Counterexample(
        label=identity.label,
        key=identity.key,
        call=show_call(spec, inputs),
        point=tuple((str(s), str(point.values[s])) for s in symbols),
        got=str(identity.got),
        got_value=got,
        expected=str(identity.expected),
        expected_value=expected,
        suggestion=_suggest(identity, point, region),
    )


def symbols_of(inputs: Inputs) -> set[sympy.Symbol]:
    """The symbols that the arguments are made of."""
    arrays = [array for name in inputs.values for array in inputs.tensors(name)]
    return set().union(
        *(
            element.free_symbols
            for array in arrays
            if isinstance(array, SymArray)
            for element in expressions(array).flat
        )
    )


def show_call(spec: OpSpec, inputs: Inputs) -> str:
    """The example as a call with the shapes of its tensors."""
    words = [f"{name}={_show(value)}" for name, value in inputs.values.items()]
    return f"{spec.name}({', '.join(words)})"


def _show(value: Any) -> str:
    if isinstance(value, SymArray):
        return str(list(value.shape))
    if isinstance(value, list) and any(isinstance(item, SymArray) for item in value):
        return f"[{', '.join(map(_show, value))}]"
    return str(value.tolist()) if hasattr(value, "tolist") else repr(value)


def _values(point: Point, identity: Identity) -> tuple[str, str]:
    """Both values, with as many digits as it takes to tell them apart."""
    for digits in (10, 20, 50):
        texts = [_text(point.value(side), digits) for side in (identity.got, identity.expected)]
        if texts[0] != texts[1]:
            break
    return texts[0], texts[1]


def _text(value: Any, digits: int) -> str:
    return str(sympy.Float(value, digits + 2).n(digits)) if _is_finite(value) else str(value)


def _is_finite(value: Any) -> bool:
    return hasattr(value, "_mpf_") and value - value == 0


def _suggest(identity: Identity, point: Point, region: Region) -> str:
    """sympy's derivative, and how the formula misses it if that is a simple factor."""
    if identity.key == "kernel":
        return "the kernel must compute what `forward` says"
    derivative = str(sympy.factor_terms(identity.expected))
    if len(derivative) > _SHORT:
        derivative = derivative[:_SHORT] + " ..."
    hint = _hint(identity, point, region)
    return f"sympy's derivative is {derivative}" + (f"; {hint}" if hint else "")


def _hint(identity: Identity, point: Point, region: Region) -> str:
    got, expected = point.value(identity.got), point.value(identity.expected)
    if not (_is_finite(got) and _is_finite(expected)) or expected == 0:
        return ""
    if got == 0:
        return "the formula gives nothing"
    factor = sympy.nsimplify(sympy.Float(got / expected, 30), rational=True, tolerance=1e-25)
    if factor.q > 1000 or abs(factor.p) > 1000:
        return ""
    scaled = factor * identity.expected
    if not _same(identity.got, scaled, region):
        return ""
    if factor == -1:
        return "is the sign wrong?"
    return f"is there a factor {factor} too many?"


def _same(got: sympy.Expr, scaled: sympy.Expr, region: Region) -> bool:
    return compare(got, scaled, region, seconds=1.0).point is None
