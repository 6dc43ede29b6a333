"""From an example of a spec to the arguments of a call: symbols, and a witness for each.

Everything is drawn from one generator seeded by the op's name, so a proof is the same every time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from ...spec.model import REQUIRED, AutoElementwise, Example, OpSpec, Param, Type
from ...spec.vocabulary import FACTORIZATIONS
from ..numeric.evaluate import Point
from ..symbolic.complex_numbers import is_complex
from ..symbolic.decisions import Decision
from ..symbolic.exact_constants import as_exact, exact_number
from ..symbolic.symbols import SymArray, expressions, lift, sym_array
from . import domain
from .parametrize import parametrized

_TRIES = 2000

_SCALES = (1, 1, 1, 1, 1, 1, 10, 10, 30, sympy.Rational(1, 100))
"""Most witnesses are of the order of one; some cross thresholds, some come close to zero."""

_FAR_SCALES = (*_SCALES, 100, 1000)


@dataclass
class Inputs:
    """The arguments of one call and what is known about the symbols in them."""

    values: dict[str, Any]
    """Values of the parameters: `SymArray`, a plain array, a list of either, or a value."""
    symbols: dict[sympy.Symbol, tuple[float, float]] = field(default_factory=dict)
    """Open interval of each symbol."""
    conditions: list[Decision] = field(default_factory=list)
    """Conditions of the domain on them."""

    def tensors(self, name: str) -> list[Any]:
        """The arrays given to one parameter, which may be a list, or absent."""
        value = self.values[name]
        if value is None:
            return []
        return list(value) if isinstance(value, list) else [value]

    def fresh(self, name: str, shape: tuple[int, ...]) -> SymArray:
        """An array of new symbols, e.g. for the gradient of an output."""
        return _symbols(name, shape, (-np.inf, np.inf), self.symbols)

    def fresh_like(self, name: str, array: Any, *, is_complex: bool) -> SymArray:
        """New symbols in the shape of an array, e.g. for its gradient; complex ones if asked."""
        if is_complex:
            return _complex_symbols(name, array.shape, self.symbols)
        return self.fresh(name, array.shape)

    def draw(self, rng: random.Random) -> Point:
        """A witness for every symbol, inside the domain."""
        for _ in range(_TRIES):
            taken: set[sympy.Rational] = set()
            values = {symbol: _draw(rng, bounds, taken) for symbol, bounds in self.symbols.items()}
            point = Point(values)
            if self.allows(point):
                return point
        raise ValueError("no point of the domain was found: it may be empty")

    def redraw(self, point: Point, symbols: list[sympy.Symbol], rng: random.Random) -> Point:
        """The same witness with some values drawn again, farther away than usual."""
        taken = set(map(abs, point.values.values()))
        scale = rng.choice(_FAR_SCALES)
        return point.moved({s: _draw(rng, self.symbols[s], taken, scale) for s in symbols})

    def complete(self, point: Point, rng: random.Random) -> None:
        """Give a witness to the symbols that were made since the point was drawn."""
        missing = [symbol for symbol in self.symbols if symbol not in point.values]
        point.values.update(self.redraw(Point({}), missing, rng).values)

    def allows(self, point: Point) -> bool:
        """Return whether a point is in the domain."""
        return all(condition.holds(point) for condition in self.conditions)


def _draw(
    rng: random.Random, bounds: tuple[float, float], taken: set[sympy.Rational], scale: Any = None
) -> sympy.Rational:
    """A short decimal within the bounds, its magnitude like no other's."""
    low, high = bounds
    while True:
        if np.isfinite(low) and np.isfinite(high):
            part = sympy.Rational(rng.randint(1, 999), 1000)
            value = exact_number(low) + (exact_number(high) - exact_number(low)) * part
        else:
            value = sympy.Rational(rng.randint(10, 300), 100) * (scale or rng.choice(_SCALES))
            if np.isfinite(low):
                value += exact_number(low)
            elif np.isfinite(high):
                value = exact_number(high) - value
            elif rng.random() < 0.5:
                value = -value
        if abs(value) not in taken and not _is_usual_constant(value):
            taken.add(abs(value))
            return value


def _is_usual_constant(value: sympy.Rational) -> bool:
    """Small whole and half numbers, which formulas test for: no such test is met by chance."""
    return bool(abs(value) < _LARGEST_CONSTANT and (2 * value).is_integer)


_LARGEST_CONSTANT = 8


def build(spec: OpSpec, example: Example) -> Inputs:
    """The arguments of one example, with fresh symbols for every tensor given by its shape."""
    given = dict(example.args)
    inputs = Inputs({})
    for param in spec.signature.params:
        if param.name in given:
            inputs.values[param.name] = _argument(param, given[param.name], spec, inputs)
        elif param.default is REQUIRED:
            raise ValueError(f"an example of {spec.name} lacks a value for `{param.name}`")
        else:
            inputs.values[param.name] = _attribute(param, param.default)
    inputs.conditions = list(_conditions(spec, inputs.values))
    return inputs


def _argument(param: Param, given: Any, spec: OpSpec, inputs: Inputs) -> Any:
    if param.type.base == "ScalarType" and isinstance(given, str):
        return np.dtype(given)
    if param.type.base != "Tensor" or given is None:
        return _attribute(param, given)
    bounds = domain.bounds(param.name, [c for name, c in spec.domain if name == param.name])
    if not param.type.is_list:
        return _tensor(param.name, given, bounds, inputs)
    return [_tensor(f"{param.name}{n}", item, bounds, inputs) for n, item in enumerate(given)]


def _attribute(param: Param, given: Any) -> Any:
    return as_exact(given, is_divided=param.type.base in ("float", "Scalar", "int"))


def _tensor(name: str, given: Any, bounds: tuple[float, float], inputs: Inputs) -> Any:
    if given is None:
        return None
    if isinstance(given, Mapping):
        ((kind, data),) = given.items()
        if kind == "complex":
            return _complex_symbols(name, tuple(data), inputs.symbols)
        if kind == "float":
            constants = np.asarray(data, dtype=object)
            return sym_array(map(lift, constants.flat), constants.shape)
        if kind in FACTORIZATIONS:
            return parametrized(kind, name, tuple(data), inputs.symbols)
        return np.asarray(data, dtype={"int": np.int64, "bool": np.bool_}[kind])
    return _symbols(name, tuple(given), bounds, inputs.symbols)


def _symbols(
    name: str, shape: tuple[int, ...], bounds: tuple[float, float], known: dict[Any, Any]
) -> SymArray:
    """Symbols called after the argument and the index, such as `self_01`."""
    between = "" if all(length <= 10 for length in shape) else "_"
    sign = {"positive": True} if bounds[0] >= 0 else {"negative": True} if bounds[1] <= 0 else {}
    made = []
    for index in np.ndindex(shape):
        digits = between.join(map(str, index))
        symbol = sympy.Symbol(f"{name}_{digits}" if digits else name, real=True, **sign)
        known[symbol] = bounds
        made.append(symbol)
    return sym_array(made, shape)


def _complex_symbols(name: str, shape: tuple[int, ...], known: dict[Any, Any]) -> SymArray:
    """`self_r01 + i*self_i01`, with real symbols anywhere on the line."""
    everywhere = (-np.inf, np.inf)
    real = _symbols(f"{name}_r", shape, everywhere, known)
    imaginary = _symbols(f"{name}_i", shape, everywhere, known)
    pairs = zip(expressions(real).flat, expressions(imaginary).flat, strict=True)
    return sym_array([a + sympy.I * b for a, b in pairs], shape)


def _conditions(spec: OpSpec, values: dict[str, Any]) -> Iterator[Decision]:
    for condition, difference in domain.differences(spec.domain, values):
        for element in np.asarray(difference, dtype=object).flat:
            bound = lift(element)
            if is_complex(bound):  # complex numbers have no order: no cut is hit by chance
                continue
            if bound.is_zero and domain.is_closed(condition):  # an element that an example gives
                continue
            yield Decision(bound, positive=True, branches=False)


def examples_of(spec: OpSpec) -> tuple[Example, ...]:
    """The examples of a spec; elementwise ops have defaults that broadcast in every way."""
    if spec.examples:
        return spec.examples
    elementwise = any(isinstance(rule, AutoElementwise) for _, rule in spec.jvps)
    if not (elementwise or spec.promotes):
        raise ValueError(f"{spec.name} is not elementwise and has no examples")
    names = [p.name for p in spec.signature.params if _is_shaped(p.type)]
    needed = [p for p in spec.signature.params if p.default is REQUIRED and not p.type.is_tensor]
    others = tuple((p.name, value) for p in needed for value in usual_values(p)[:1])
    return tuple(
        Example(
            (*((name, list(shape)) for name, shape in zip(names, shapes, strict=True)), *others),
            spec.span,
        )
        for shapes in _default_shapes(len(names))
    )


def usual_values(param: Param) -> tuple[Any, ...]:
    """Values that many ops accept for an argument that is no tensor, the likeliest first."""
    if param.type.is_list:
        return ([0], [1], [0, 1], [2], [2, 2])
    return _USUAL_VALUES.get(param.type.base, ())


_USUAL_VALUES: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, 2, -1),
    "SymInt": (0, 1, 2, -1),
    "float": (0.5, 2.0, 1.0),
    "Scalar": (0.5, 2.0, 1.0),
    "bool": (False, True),
    "ScalarType": ("float64", "float32"),
}


def _is_shaped(type: Type) -> bool:
    return type.is_tensor and not type.is_optional


def _default_shapes(count: int) -> list[tuple[tuple[int, ...], ...]]:
    match count:
        case 1:
            return [((3,),), ((),)]
        case 2:
            return [((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,))]
        case 3:
            return [((2, 2), (2,), (2, 1)), ((), (2,), (1,))]
    return [((2,),) * count]
