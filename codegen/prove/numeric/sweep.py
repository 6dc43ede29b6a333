"""Elementwise ops at thousands of points: is there a region that no comparison tells of?

A rule can be wrong where `floor(self)` is 17 or where `sin(self)` is large. Numbers are cheap and
only raise a suspicion: at a suspicious point the op is run on symbols, and that decides.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ...spec.model import Example, NotImplementedYet, OpSpec
from ..identities.definition import evaluate_definition
from ..identities.run import Array, Call, Leaf, differentiable_leaves
from ..inputs import domain
from ..inputs.draw import Inputs, build
from ..inputs.kinks import single_elements
from ..zero.number_fields import numeric_values
from .evaluate import Point

MOST_SUSPICIONS = 3
"""Number of points of an example worth a proof of their own; as many of usual size besides."""

USUAL = (0.01, 100.0)
"""Between these, rounding is no excuse: floats must agree with symbols."""

_STEP = 1e-5
"""Relative to the argument."""

_TOLERANCE = 1e-3
_ROUNDING = 1e-9
"""Tolerance of a difference, relative to the values over the argument."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Verdict of the numbers of a sweep."""

    inputs: Inputs
    suspicious: list[Point]
    """Witnesses at which the derivatives seem to be wrong."""
    lost: str = ""
    """The smallest numbers where the values have a slope, and a derivative is nan or infinite."""


def sweep(spec: OpSpec, example: Example) -> Sweep:
    """Look at the derivatives of single elements."""
    inputs = build(spec, single_elements(spec, example))
    leaves = [leaf for leaf in differentiable_leaves(spec, inputs) if _is_real_symbol(inputs, leaf)]
    tensors = sum(len(inputs.tensors(param.name)) for param in spec.signature.tensor_params)
    if not leaves or len(leaves) < tensors:
        return Sweep(inputs, [])
    values = numeric_values(inputs, inputs.draw(random.Random(spec.name)))
    order = np.random.default_rng(0)
    for name, _ in leaves:
        values[name] = order.permutation(_grid())
    with np.errstate(all="ignore"):
        inside = _inside(spec, values)
        for name, _ in leaves:
            values[name] = values[name][inside]
        wrong, lost = _wrong_places(spec, values, leaves)
    usual = wrong & np.all([_are_usual(values[name]) for name, _ in leaves], axis=0)
    chosen = {
        int(place)
        for places in (usual, wrong)
        for place in order.permutation(np.flatnonzero(places))[:MOST_SUSPICIONS]
    }
    points = [_point(inputs, values, leaves, place) for place in sorted(chosen)]
    return Sweep(inputs, points, _smallest(values, leaves, lost))


def _smallest(values: dict[str, Any], leaves: list[Leaf], places: Array) -> str:
    """The numbers of the place among some where they are smallest; empty if there is none."""
    if not places.any():
        return ""
    sizes = np.max([np.abs(values[name]) for name, _ in leaves], axis=0)
    place = int(np.argmin(np.where(places, sizes, np.inf)))
    return ", ".join(f"{name} = {values[name][place]:.6g}" for name, _ in leaves)


def _is_real_symbol(inputs: Inputs, leaf: Leaf) -> bool:
    given = inputs.values[leaf[0]]
    return not isinstance(given, list) and given.shape == () and given.item().expr.is_Symbol


def _are_usual(numbers: Any) -> Any:
    return (USUAL[0] <= np.abs(numbers)) & (np.abs(numbers) <= USUAL[1])


def is_usual(point: Point) -> bool:
    """Return whether all numbers of a point are of the sizes that users have most."""
    return all(_are_usual(float(value)) for value in point.values.values())


@functools.cache
def _grid() -> Array:
    """Numbers of all magnitudes, most of them near zero, none a breakpoint."""
    rng = random.Random(0)
    steps = [k + part for k in range(-60, 60) for part in (0.13, 0.37, 0.61, 0.93)]
    powers = [
        float(f"{sign}{digits}e{exponent}")
        for sign in ("", "-")
        for exponent in range(-14, 13)
        for digits in ("1.3", "3.7", "7.1")
    ]
    near = [round(rng.uniform(-60, 60), 3) for _ in range(2000)]
    far = [round(rng.uniform(-2000, 2000), 2) for _ in range(500)]
    unit = [round(rng.uniform(-1, 1), 4) for _ in range(500)]
    return np.array([x for x in (*steps, *powers, *near, *far, *unit) if x])


def _inside(spec: OpSpec, values: dict[str, Any]) -> Array:
    """Mask the elements that are in the domain."""
    inside = np.ones(len(_grid()), dtype=bool)
    for _, difference in domain.differences(spec.domain, values):
        inside &= np.asarray(difference > 0, dtype=bool)
    return inside


def _wrong_places(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf]) -> tuple[Array, Array]:
    """Mask the elements where the gradient, or the tangent, by one argument is not the slope; and
    those among them where it is no number.
    """
    size = len(values[leaves[0][0]])
    wrong, lost = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    few = {name: values[name][:3] for name, _ in leaves}
    try:
        if size < 3 or _value(spec, values | few).shape != (3,):
            return wrong, lost
        for name, _ in leaves:
            wrong_by, lost_by = _wrong_by(spec, values, name)
            wrong, lost = wrong | wrong_by, lost | lost_by
        if spec.kernel is not None:
            wrong |= _is_not_as_defined(spec, values)
    except Exception:
        pass  # not an op that takes elements one by one
    return wrong, lost


def _is_not_as_defined(spec: OpSpec, values: dict[str, Any]) -> Array:
    """Mask the elements where the kernel gives another number than the definition."""
    (defined,) = evaluate_definition(spec, values).values()
    return ~np.isclose(_value(spec, values), defined, _TOLERANCE, _ROUNDING, equal_nan=True)


def _wrong_by(spec: OpSpec, values: dict[str, Any], name: str) -> tuple[Array, Array]:
    array = values[name]
    step = _STEP * np.abs(array)
    middle, up, down = (_value(spec, values | {name: array + s}) for s in (0, step, -step))
    ahead, behind = (up - middle) / step, (middle - down) / step
    slope = (ahead + behind) / 2
    slack = _ROUNDING * (np.abs(middle) / np.abs(array) + 1e-3)
    is_smooth = np.abs(ahead - behind) <= _TOLERANCE * np.abs(slope) + slack
    wrong, lost = np.zeros(array.shape, dtype=bool), np.zeros(array.shape, dtype=bool)
    for found in _derivatives(spec, values, name):
        wrong |= ~(np.abs(found - slope) <= 3 * (_TOLERANCE * np.abs(slope) + slack))
        lost |= ~np.isfinite(found)
    is_smooth &= np.isfinite(slope)
    return wrong & is_smooth, lost & is_smooth


def _derivatives(spec: OpSpec, values: dict[str, Any], name: str) -> Iterator[Array]:
    """By the VJP, and by the JVP if there is one."""
    from gradspec.autograd import backward
    from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
    from gradspec.core.tensor import wrap

    array = values[name]
    call = Call(spec, values, [(name, 0)])
    (output,) = call().values()
    backward([output], [wrap(np.ones_like(output.array))])
    gradient = call.tensors[name, 0].grad
    yield np.zeros_like(array) if gradient is None else gradient.array
    if any(isinstance(rule, NotImplementedYet) for _, rule in spec.jvps):
        return
    with dual_level():
        dual = Call(spec, values, [])
        dual.replace((name, 0), make_dual(wrap(array), wrap(np.ones_like(array))))
        (output,) = dual().values()
        tangent = unpack_dual(output).tangent
        yield np.zeros_like(array) if tangent is None else tangent.array


def _value(spec: OpSpec, values: dict[str, Any]) -> Array:
    (output,) = Call(spec, values, [])().values()
    return np.asarray(output.array)


def _point(inputs: Inputs, values: dict[str, Any], leaves: list[Leaf], place: int) -> Point:
    numbers = {
        inputs.values[name].item().expr: sympy.Rational(repr(float(values[name][place])))
        for name, _ in leaves
    }
    return Point(inputs.draw(random.Random(0)).values | numbers)
