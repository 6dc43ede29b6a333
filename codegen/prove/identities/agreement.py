"""Do the numbers that users get agree with the symbols that were proved?

The same op, called with float64 arrays of the witness, must give the values of the symbolic
results at the witness. This ties the exact models to the functions they stand for. A kernel must
also give the dtypes of the definition, in both precisions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from ...spec.model import OpSpec
from ..numeric.evaluate import Point, to_float
from ..symbolic.complex_numbers import real_part
from ..zero.number_fields import floats, numeric, numeric_values
from .definition import evaluate_definition
from .identity import Mismatch
from .run import Array, Call, Leaf, Run, argument, execute

TOLERANCE = 1e-9
"""Relative to the largest element of an array, because elements are sums of others."""

SINGLE_TOLERANCE = 1e-4
"""For a call that asks for single precision."""

SMALLEST = 1e-13
"""Remainder of terms of the order of one that cancel."""

_ROUNDING = 1e-15
"""Remainder of terms of any order, relative to their sum without signs."""


class NumbersDiffer(Mismatch):
    """A float is not what symbols say; shapes and dtypes are."""


def check_agreement(spec: OpSpec, run: Run) -> int:
    """Compare all arrays, and count them. Raises Mismatch naming the first that disagrees.

    Floats are not quite the witness, and may be beyond a jump that it is on. What disagrees is
    therefore compared again with the symbolic results at the floats themselves.
    """
    try:
        return _compare_run(spec, run)
    except Mismatch:
        at_floats = run.point.rounded_to_floats()
        if at_floats.values == run.point.values:
            raise
    return _compare_run(spec, execute(spec, run.inputs, at_floats, _nothing_to_complete))


def _nothing_to_complete() -> None:
    """The symbols are those of a run before, so all have values."""


def _compare_run(spec: OpSpec, run: Run) -> int:
    from gradspec.autograd import backward
    from gradspec.core.tensor import wrap

    call = Call(spec, numeric_values(run.inputs, run.point), run.leaves)
    with np.errstate(all="ignore"):
        outputs = call()
        roots = [name for name in run.outputs if outputs[name].requires_grad]
        if roots:
            cotangents = [wrap(numeric(run.cotangents[name], run.point)) for name in roots]
            backward([outputs[name] for name in roots], cotangents)
    tolerance = _tolerance(run)
    compared = check_definition(spec, run)
    for name, exact in (run.outputs | run.fixed).items():
        _compare(outputs[name].array, exact, run.point, f"kernel of {name}", "forward", tolerance)
        compared += 1
    for leaf, gradient in run.gradients.items():
        found = call.tensors[leaf].grad
        if (found is None) is not (gradient is None):
            raise Mismatch(f"VJP of {leaf[0]}", leaf[0], "is there for floats or symbols only")
        if gradient is not None:
            if found.dtype.kind != "c":
                gradient = _real_parts(gradient)
            label = f"numeric VJP of {leaf[0]}"
            _compare_derivative(found.array, gradient, run, label, leaf[0])
            compared += 1
    _check_gradient_dtypes(call)
    _check_single_precision(spec, run)
    return compared + _check_tangents(spec, run)


def check_definition(spec: OpSpec, run: Run, *, by_value: bool = False) -> int:
    """Compare dtypes and shapes of the kernel with the definition's; answers of how many arrays.

    Values are compared exactly, on symbols: a definition may round, or overflow, where the kernel
    does not. Only where symbols have no value, at a limit, are floats to speak, `by_value`.
    """
    from gradspec.dispatch.op_errors import UnmetRequirement
    from gradspec.kernels.linalg.decompositions import LinAlgError

    if spec.kernel is None:
        return 0
    double = numeric_values(run.inputs, run.point)
    single = {name: _single(value) for name, value in double.items()}
    for values in (double, single):
        with np.errstate(all="ignore"):
            try:
                kernel = Call(spec, values, [])()
            except UnmetRequirement:
                if values is double:
                    raise
                continue  # an op of one precision
            except LinAlgError:
                if by_value:
                    return 0  # a tie at which a matrix is singular
                raise
            definition = evaluate_definition(spec, values)
        for name, wanted in definition.items():
            label, found = f"kernel of {name}", kernel[name].array
            if found.dtype != wanted.dtype:
                dtypes = f"{found.dtype}, of the definition {wanted.dtype}"
                raise Mismatch(f"dtype of the {label}", "kernel", f"is {dtypes}")
            if found.shape != wanted.shape:
                shapes = f"{list(found.shape)}, the definition {list(wanted.shape)}"
                raise Mismatch(label, "kernel", f"has shape {shapes}")
            if by_value and values is double:
                _compare_floats(found, wanted, label, "kernel", _tolerance(run))
    return len(definition)


def _check_tangents(spec: OpSpec, run: Run) -> int:
    """Forward mode on floats; answers how many tangents were compared."""
    exact = {name: tangent for name, tangent in run.tangents.items() if tangent is not None}
    if not exact:
        return 0
    values = numeric_values(run.inputs, run.point)
    weights = {leaf: numeric(run.weights[leaf], run.point) for leaf in run.leaves}
    tangents = _tangents(spec, values, weights)
    for name, (_, found) in tangents.items():
        if name not in exact:
            continue
        if found is None:
            raise Mismatch(f"JVP of {name}", name, "is there for symbols only")
        label = f"numeric JVP of {name}"
        _compare_derivative(found.array, exact[name], run, label, name)
    _check_tangent_dtypes(tangents)
    return len(exact)


def _tangents(
    spec: OpSpec, values: dict[str, Any], weights: dict[Leaf, Any]
) -> dict[str, tuple[Any, Any]]:
    """Each output with its tangent."""
    from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
    from gradspec.core.tensor import wrap

    call = Call(spec, values, [])
    with np.errstate(all="ignore"), dual_level():
        for leaf, weight in weights.items():
            call.replace(leaf, make_dual(wrap(argument(values, leaf)), wrap(weight)))
        duals = {name: unpack_dual(output) for name, output in call().items()}
    return {name: (dual.primal, dual.tangent) for name, dual in duals.items()}


def _check_single_precision(spec: OpSpec, run: Run) -> None:
    """Derivatives have the dtype of what they belong to, also where the op computes in another."""
    from gradspec.autograd import backward
    from gradspec.core.tensor import wrap
    from gradspec.dispatch.op_errors import UnmetRequirement

    values = {name: _single(v) for name, v in numeric_values(run.inputs, run.point).items()}
    call = Call(spec, values, run.leaves)
    with np.errstate(all="ignore"):
        try:
            outputs = call()
        except UnmetRequirement:
            return  # an op of one precision
        roots = [outputs[name] for name in run.outputs if outputs[name].requires_grad]
        if roots:
            backward(roots, [wrap(np.ones_like(root.array)) for root in roots])
    _check_gradient_dtypes(call)
    if not any(tangent is not None for tangent in run.tangents.values()):
        return
    weights = {leaf: _single(numeric(run.weights[leaf], run.point)) for leaf in run.leaves}
    _check_tangent_dtypes(_tangents(spec, values, weights))


def _check_gradient_dtypes(call: Call) -> None:
    for leaf, tensor in call.tensors.items():
        if tensor.grad is not None and tensor.grad.dtype != tensor.dtype:
            dtypes = f"{tensor.grad.dtype} for an argument of dtype {tensor.dtype}"
            raise Mismatch(f"dtype of the VJP of {leaf[0]}", leaf[0], f"is {dtypes}")


def _check_tangent_dtypes(tangents: dict[str, tuple[Any, Any]]) -> None:
    for name, (output, tangent) in tangents.items():
        if tangent is not None and tangent.dtype != output.dtype:
            dtypes = f"{tangent.dtype} for an output of dtype {output.dtype}"
            raise Mismatch(f"dtype of the JVP of {name}", name, f"is {dtypes}")


def _single(value: Any) -> Any:
    """An argument in single precision."""
    if isinstance(value, list):
        return [_single(item) for item in value]
    kinds = {"f": np.float32, "c": np.complex64}
    if isinstance(value, np.ndarray) and value.dtype.kind in kinds:
        return value.astype(kinds[value.dtype.kind])
    return value


def _real_parts(exact: Array) -> Array:
    """Project the gradient of a real tensor that met complex ones."""
    parts = np.empty(exact.shape, dtype=object)
    for index in np.ndindex(exact.shape):
        parts[index] = real_part(exact[index])
    return parts


def _tolerance(run: Run) -> float:
    """Return the tolerance for rounding in the precision that the call asks for."""
    dtypes = [value for value in run.inputs.values.values() if isinstance(value, np.dtype)]
    single = any(dtype.kind in "fc" and np.finfo(dtype).eps > 1e-10 for dtype in dtypes)
    return SINGLE_TOLERANCE if single else TOLERANCE


def _compare_derivative(found: Array, exact: Array, run: Run, label: str, key: str) -> None:
    """Compare a derivative; where the op has no value, outside its domain, nan is right."""
    has_values = not any(
        np.isnan(floats(output, run.point)).any() for output in run.outputs.values()
    )
    if not has_values and exact.dtype == object and found.shape == exact.shape:
        exact = np.where(np.isnan(found), sympy.nan, exact)
    _compare(found, exact, run.point, label, key, _tolerance(run))


def _compare(
    found: Array, exact: Array, point: Point, label: str, key: str, tolerance: float
) -> None:
    if found.shape != exact.shape:
        raise Mismatch(label, key, f"has shape {list(found.shape)}, on symbols {list(exact.shape)}")
    try:
        _compare_floats(found, floats(exact, point), label, key, tolerance)
    except Mismatch:
        if exact.dtype != object:
            raise
        _compare_floats(
            found, floats(exact, point), label, key, tolerance, _of_cancelled(exact, point)
        )


def _of_cancelled(exact: Array, point: Point) -> Array:
    """Return the error to expect of each element, as a sum of terms that cancel.

    Exponentials are as far off, relative to their sizes, as their exponents are large.
    """
    sizes = [to_float(point.magnitude(expr)) * _exponent(expr, point) for expr in exact.flat]
    return _ROUNDING * np.array(sizes).reshape(exact.shape)


def _exponent(expr: sympy.Expr, point: Point) -> float:
    """Return the largest exponent of an expression, or 1 if all are smaller."""
    parts = sympy.sympify(expr).atoms(sympy.exp)
    sizes = [abs(to_float(point.value(part.exp))) for part in parts]
    return max([1.0, *sizes])


def _compare_floats(
    found: Array, wanted: Array, label: str, key: str, tolerance: float, more: Any = 0.0
) -> None:
    source = "by the definition" if key == "kernel" else "exactly"
    if np.array_equal(found, wanted, equal_nan=wanted.dtype.kind in "fc"):
        return
    size = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
    slack = tolerance * size + SMALLEST + more
    close = np.isclose(found, wanted, rtol=tolerance, atol=slack, equal_nan=True)
    if not close.all():
        index = tuple(int(i) for i in np.argwhere(~close)[0])
        raise NumbersDiffer(
            label,
            key,
            f"{list(index)} is {found[index]!r} as a float, but {source} {wanted[index]!r}",
        )
