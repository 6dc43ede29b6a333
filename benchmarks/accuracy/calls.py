"""Ops that are not swept: a call of each, at many sizes of its first argument.

Exact are the proved rules on the rational numbers that the floats are. An error is relative to the
largest element of a result: smaller ones of a product of matrices have no digits of their own.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import mpmath
import numpy as np

from gradspec_codegen.audit.questions import Array
from gradspec_codegen.audit.reference import (
    Setting,
    has_complex,
    is_small,
    outputs_of,
    rational,
    setting_of,
    weights_like,
)
from gradspec_codegen.lint.computed import Quantity
from gradspec_codegen.lint.subjects import subjects
from gradspec_codegen.lint.sweep import BOUNDS
from gradspec_codegen.prove.deadline import TimeUp, time_limit
from gradspec_codegen.prove.identities.compositions import Composition, Directions
from gradspec_codegen.prove.identities.run import Call as Run
from gradspec_codegen.prove.identities.run import Leaf
from gradspec_codegen.prove.inputs import domain
from gradspec_codegen.prove.inputs.draw import examples_of
from gradspec_codegen.prove.numeric.evaluate import Point
from gradspec_codegen.prove.symbolic.decisions import tracing
from gradspec_codegen.prove.symbolic.symbols import expressions
from gradspec_codegen.spec.model import OpSpec, Table

from .along import along
from .called import CALLED, Call

SECONDS: Final = 5.0
"""The time for the exact values of one op."""

_SLOW: Final = ("igamma", "igammac", "special_zeta", "_igamma_derivative", "_gamma_quantile")
"""Functions that mpmath sums for minutes, in steps that nothing interrupts."""

_EXPONENTS: Final = (0, -26, -20, -13, -7, 4, 9, 13)
"""Power of two that scales the argument, so that it stays what a float can hold; 0 first."""

_WHOLE: Final = "its results are whole numbers or truth values, of which nothing is rounded"

_SAME: Final = 1e-6
"""The relative error below which a library's function is the same."""

_NEXT_TO_ONE: Final = 0.99937

_DIGITS: Final = (60, 110)
_AGREEMENT: Final = mpmath.mpf("1e-25")


class _NoSymbols(Exception):
    """A call gave floats, where exact numbers were to come out."""


Exact = dict[Quantity, list[Any]]
"""By quantity: the elements of all outputs, or of one gradient."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One quantity of one op in one dtype in one library."""

    op: str
    quantity: Quantity
    dtype: str
    library: str
    worst: float
    along: str
    """The errors by the size of the first argument, as in `along.py`; empty for one size alone."""


@dataclass(frozen=True, slots=True)
class Called:
    """One op: the call that was looked at, and all that was measured of it."""

    op: str
    call: str
    """`sum(self=[2, 3])`"""
    scaled: str
    """The argument whose size was changed; empty if none was."""
    found: tuple[Measured, ...]


def ops_called(table: Table) -> list[OpSpec]:
    """The ops that are not swept, those that formulas alone call among them."""
    swept = {subject.op.name for subject in subjects(table, table)}
    return [op for op in table.ops if op.name not in swept]


def measure(op: OpSpec) -> Called | str:
    """The errors of an op in every library that has it, or why there are none."""
    if op.signature.name in _SLOW:
        return "its exact values take minutes each; tests compare it with mpmath at some points"
    if op.proof == "numeric":
        return op.proof_reason
    with np.errstate(all="ignore"):
        start = _start(op)
        return start if isinstance(start, str) else _measure(op, start)


def _measure(op: OpSpec, start: Setting) -> Called | str:
    exact: dict[int, tuple[Setting, Exact]] = {}
    try:
        with time_limit(SECONDS):
            for exponent in _EXPONENTS:
                setting = _scaled(op, start, exponent)
                if setting is not None:
                    exact[exponent] = setting, _exact(op, setting)
    except TimeUp:
        pass  # what is there is measured
    except _NoSymbols:
        return "it is called with plain numbers, which no symbols stand for"
    except Exception as error:
        if not exact:
            return f"{type(error).__name__}: {error}"
    if not exact:
        return f"its exact values take more than {SECONDS:.0f} s"
    found = _raced(op, dict(sorted(exact.items())))
    if not found:
        return "every value of its examples is zero, of which nothing is rounded"
    scaled = _leaf_name(_first(start), start) if len(exact) > 1 else ""
    return Called(op.name, _shown(op, start), scaled, tuple(found))


def _shown(op: OpSpec, setting: Setting) -> str:
    """The call with the shapes of its arrays, as verdicts of a proof show it."""
    defaults = {param.name: param.default for param in op.signature.params}
    words = [
        f"{name}={_word(value)}"
        for name, value in setting.floats.items()
        if isinstance(value, np.ndarray | list) or value != defaults[name]
    ]
    return f"{op.name}({', '.join(words)})"


def _word(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value):
        return f"[{', '.join(map(_word, value))}]"
    if isinstance(value, np.ndarray | np.generic):
        shape = str(list(value.shape))
        return {"f": shape, "c": f"complex {shape}"}.get(value.dtype.kind, str(value.tolist()))
    return repr(value)


def _start(op: OpSpec) -> Setting | str:
    """The first example of real numbers, of which no gradient is zero if there is one.

    One of complex numbers, or without a gradient, if there is no other.
    """
    found: list[tuple[int, Setting]] = []
    for number, example in enumerate(examples_of(op)):
        setting = setting_of(op, example, number)
        if not is_small(setting):
            continue
        for leaf in _numbers(setting):
            setting = _replaced(setting, leaf, _with_all_bits)
        if not _outputs(op, setting):
            continue
        results = _results(_ours, op, setting, "float64")
        is_complex = has_complex(example) or any(
            array.dtype.kind == "c" for array in _outputs(op, setting).values()
        )
        has_gradients = len(results) > 1
        is_alive = all(any(elements) for elements in results.values())
        found.append((4 * (not has_gradients) + 2 * is_complex + (not is_alive), setting))
    if not found:
        return _WHOLE
    return min(found, key=lambda each: each[0])[1]


def _outputs(op: OpSpec, setting: Setting) -> dict[str, Array]:
    """The outputs with a gradient, or all of numbers that are rounded if none has one."""
    if setting.leaves:
        found = outputs_of(op, setting)
        if found:
            return found
    outputs = {name: np.asarray(out.array) for name, out in Run(op, setting.floats, [])().items()}
    return {name: array for name, array in outputs.items() if array.dtype.kind in "fc"}


def _numbers(setting: Setting) -> list[Leaf]:
    """The arguments that are arrays of floats or complex numbers."""
    found = []
    for name, value in setting.floats.items():
        for place, item in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(item, np.ndarray | np.generic) and np.asarray(item).dtype.kind in "fc":
                found.append((name, place))
    return found


def _first(setting: Setting) -> Leaf:
    """The argument whose size is changed."""
    return (setting.leaves or _numbers(setting))[0]


def _with_all_bits(array: Array) -> Array:
    """The array times a number next to one: examples have few bits, and sums of these are exact."""
    is_complex = array.dtype.kind == "c"
    short, long = (np.complex64, np.complex128) if is_complex else (np.float32, np.float64)
    return np.asarray(array * _NEXT_TO_ONE).astype(short).astype(long)


def _scaled(op: OpSpec, start: Setting, exponent: int) -> Setting | None:
    """A setting with another size of its first argument; None where the domain ends before."""
    if exponent == 0:
        return start
    if not _numbers(start):
        return None
    name, _ = leaf = _first(start)
    low, high = domain.bounds(name, [text for argument, text in op.domain if argument == name])
    made = _replaced(start, leaf, lambda array: array * 2.0**exponent)
    real = _at(made, leaf).real
    return made if made is not start and ((real > low) & (real < high)).all() else None


def _at(setting: Setting, leaf: Leaf) -> Array:
    value = setting.floats[leaf[0]]
    return np.asarray(value[leaf[1]] if isinstance(value, list) else value)


def _replaced(setting: Setting, leaf: Leaf, change: Callable[[Array], Array]) -> Setting:
    """A setting with another array in one place; as it is where that is made from factors."""
    name, place = leaf
    known = setting.exact[name]
    twin = known[place] if isinstance(known, list) else known
    is_symbolic = isinstance(twin, np.ndarray) and twin.dtype == object
    if not is_symbolic or any(e.free_symbols for e in expressions(twin).flat):
        return setting
    made = np.asarray(change(_at(setting, leaf)))

    def put(into: Any, new: Any) -> Any:
        return [*into[:place], new, *into[place + 1 :]] if isinstance(into, list) else new

    return replace(
        setting,
        floats=setting.floats | {name: put(setting.floats[name], made)},
        exact=setting.exact | {name: put(known, rational(made))},
    )


def _exact(op: OpSpec, setting: Setting) -> Exact:
    """The values and gradients to more than twenty digits; None for an element without them."""
    given = {name: rational(w) for name, w in _weights(op, setting).items()}
    kinds = _complex_ones(op, setting)
    with tracing(setting.point):
        return {
            q: [_number(e, setting.point, q in kinds) for a in arrays for e in a]
            for q, arrays in _run(op, setting.exact, setting, given)
        }


def _complex_ones(op: OpSpec, setting: Setting) -> set[Quantity]:
    """The quantities that are complex: the values, and gradients by complex arguments."""
    found: set[Quantity] = {
        ("VJP", (_leaf_name(leaf, setting),))
        for leaf in setting.leaves
        if _at(setting, leaf).dtype.kind == "c"
    }
    if any(array.dtype.kind == "c" for array in _outputs(op, setting).values()):
        found.add(("forward", ()))
    return found


def _number(expr: Any, point: Point, is_complex: bool) -> Any:
    if isinstance(expr, np.inexact | float):
        raise _NoSymbols
    less, more = (Point(point.values, digits).value(expr) for digits in _DIGITS)
    is_known = mpmath.isfinite(more) and abs(less - more) <= _AGREEMENT * max(abs(more), 1e-30)
    if not is_known:
        return None
    return mpmath.mpmathify(more) if is_complex else mpmath.mpf(mpmath.re(more))


def _weights(op: OpSpec, setting: Setting) -> dict[str, Array]:
    return {name: weights_like(array) for name, array in _outputs(op, setting).items()}


def _run(
    op: OpSpec, values: Mapping[str, Any], setting: Setting, weights: Mapping[str, Any]
) -> Iterator[tuple[Quantity, list[Any]]]:
    """The outputs and gradients of a call here, on arrays of any kind, each as flat elements."""
    copied = {k: list(v) if isinstance(v, list) else v for k, v in values.items()}
    call = Composition(op, copied, list(setting.leaves), Directions(dict(weights), {}, {}))
    outputs = call.values()
    yield ("forward", ()), [_flat(outputs[name]) for name in weights]
    if not any(
        Run(op, dict(values), list(setting.leaves))()[name].requires_grad for name in weights
    ):
        return
    for leaf, gradient in call.vjp().items():
        if gradient is not None:
            yield ("VJP", (_leaf_name(leaf, setting),)), [_flat(gradient)]


def _flat(array: Any) -> list[Any]:
    return list(expressions(array).flat) if array.dtype == object else list(array.flat)


def _leaf_name(leaf: Leaf, setting: Setting) -> str:
    is_list = isinstance(setting.floats[leaf[0]], list)
    return f"{leaf[0]}[{leaf[1]}]" if is_list else leaf[0]


def _raced(op: OpSpec, exact: Mapping[int, tuple[Setting, Exact]]) -> list[Measured]:
    """Every library at every size, in both dtypes."""
    found = []
    start, truth = exact[0]
    callers = {"gradspec": _ours} | {peer.name: peer for peer in CALLED if peer.is_installed}
    for library, caller in callers.items():
        # A function of another value, such as an eigenvector of the other sign, is left out.
        usual = _results(caller, op, start, "float64").get(("forward", ()))
        error = _error(usual, truth["forward", ()], "float64")
        if library != "gradspec" and not (error is not None and error < _SAME):
            continue
        for dtype in BOUNDS:
            results = {e: _results(caller, op, s, dtype) for e, (s, _) in exact.items()}
            for quantity in truth:
                errors = [
                    _error(results[e].get(quantity), known.get(quantity, []), dtype)
                    for e, (_, known) in exact.items()
                ]
                if quantity in results[0] and errors[list(exact).index(0)] is not None:
                    worst = max(error for error in errors if error is not None)
                    letters = along([2.0**e for e in exact], errors) if len(exact) > 1 else ""
                    found.append(Measured(op.name, quantity, dtype, library, worst, letters))
    return found


def _results(
    caller: Any, op: OpSpec, setting: Setting, dtype: str
) -> dict[Quantity, list[complex]]:
    call = Call(
        {k: _cast(v, dtype) for k, v in setting.floats.items()},
        setting.leaves,
        {name: _cast(w, dtype) for name, w in _weights(op, setting).items()},
    )
    return {
        quantity: [x.item() for array in arrays for x in np.ravel(array)]
        for quantity, arrays in caller(op, call, setting)
        if all(np.asarray(array).dtype in (dtype, _COMPLEX[dtype]) for array in arrays)
    }


_COMPLEX: Final = {"float32": "complex64", "float64": "complex128"}


def _cast(value: Any, dtype: str) -> Any:
    if isinstance(value, list):
        return [_cast(item, dtype) for item in value]
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in "fc":
        return value
    return np.asarray(value).astype(dtype if value.dtype.kind == "f" else _COMPLEX[dtype])


def _ours(op: OpSpec, call: Call, setting: Setting) -> Iterator[tuple[Quantity, list[Any]]]:
    with np.errstate(all="ignore"):
        yield from (
            (q, [*map(np.array, a)]) for q, a in _run(op, call.values, setting, call.weights)
        )


def _error(got: Sequence[complex] | None, exact: Sequence[Any], dtype: str) -> float | None:
    """The largest error relative to the largest element; None where that cannot be told."""
    info = np.finfo(dtype)
    if got is None or len(got) != len(exact) or None in exact:
        return None
    largest = max(map(abs, exact), default=mpmath.mpf(0))
    if not info.smallest_normal <= largest <= info.max:
        return None
    if not all(map(cmath.isfinite, got)):
        return math.inf
    errors = (abs(mpmath.mpmathify(g) - e) for g, e in zip(got, exact, strict=True))
    return float(max(errors) / largest)
