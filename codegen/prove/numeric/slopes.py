"""Gradients and tangents of one call with numbers: by the generated code, and by differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...spec.model import NotImplementedYet, OpSpec
from ..identities.run import Array, Call, Leaf, differentiable_names

Answer = dict[str, Any]
"""Values, gradients and tangents by name; None where there is none."""

COTANGENTS, TANGENTS = 0, 1
"""Seeds: with the same numbers for both, a transposed rule would pass where shapes are the same."""

_STEP = 1e-6


def by_engine(
    spec: OpSpec,
    values: dict[str, Any],
    leaves: list[Leaf],
    along: Sequence[Array] | None = None,
) -> Answer:
    """The op's values, and its answers in both modes for directions that are always the same.

    The tangents are `along`, if these are given.

    Raises whatever the op raises.
    """
    from gradspec.autograd import backward
    from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
    from gradspec.core.tensor import wrap

    call = Call(spec, values, leaves)
    outputs = call()
    names = [n for n in differentiable_names(spec, outputs) if outputs[n].requires_grad]
    weights = directions(outputs[name].array for name in names)
    backward([outputs[n] for n in names], [wrap(weight) for weight in weights])
    answer: Answer = {f"value of {name}": tensor.array for name, tensor in outputs.items()}
    for leaf, tensor in call.tensors.items():
        answer[f"VJP {leaf}"] = None if tensor.grad is None else tensor.grad.array
    if any(isinstance(rule, NotImplementedYet) for _, rule in spec.jvps):
        return answer
    dual = Call(spec, values, [])
    arrays = [tensor.array for tensor in call.tensors.values()]
    tangents = along or list(directions(arrays, TANGENTS))
    with dual_level():
        for (leaf, tensor), tangent in zip(call.tensors.items(), tangents, strict=True):
            dual.replace(leaf, make_dual(wrap(tensor.array), wrap(tangent)))
        for name, tensor in dual().items():
            found = unpack_dual(tensor).tangent
            answer[f"JVP {name}"] = None if found is None else found.array
    return answer


def by_differences(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf]) -> Answer:
    """Compute the expected answers, to a few digits, by central differences of the forward."""
    at = Call(spec, values, leaves)
    outputs = at()
    names = differentiable_names(spec, outputs)
    weights = dict(zip(names, directions(outputs[n].array for n in names), strict=True))
    tangents = list(directions((tensor.array for tensor in at.tensors.values()), TANGENTS))
    answer: Answer = {}
    slopes: dict[str, Any] = {name: np.zeros_like(outputs[name].array) for name in names}
    for (leaf, tensor), tangent in zip(at.tensors.items(), tangents, strict=True):
        gradient = np.zeros(tensor.array.shape)
        for index in np.ndindex(tensor.array.shape):
            change = _slope(spec, values, leaf, tensor.array, index, names)
            gradient[index] = sum(float((weights[n] * change[n]).sum()) for n in names)
            slopes = {n: slopes[n] + change[n] * tangent[index] for n in names}
        answer[f"VJP {leaf}"] = gradient
    return answer | {f"JVP {name}": slope for name, slope in slopes.items()}


def _slope(
    spec: OpSpec,
    values: dict[str, Any],
    leaf: Leaf,
    array: Array,
    index: tuple[int, ...],
    names: list[str],
) -> dict[str, Array]:
    """Compute the change of the outputs with one element of one argument."""
    from gradspec.core.tensor import wrap

    sides = []
    for step in (_STEP, -_STEP):
        moved = array.copy()
        moved[index] += step
        call = Call(spec, values, [])
        call.replace(leaf, wrap(moved))
        sides.append(call())
    return {n: (sides[0][n].array - sides[1][n].array) / (2 * _STEP) for n in names}


def directions(arrays: Iterable[Array], seed: int = COTANGENTS) -> Iterator[Array]:
    """Cotangents or tangents for some arrays, the same ones every time."""
    rng = np.random.default_rng(seed)
    for array in arrays:
        real = np.asarray(rng.uniform(0.5, 2, array.shape))
        is_complex = array.dtype.kind == "c"
        yield np.asarray(real + 1j * rng.uniform(0.5, 2, array.shape)) if is_complex else real


def symmetric_part(matrix: Array) -> Array:
    """Return the symmetric part of a matrix, or of each of a batch."""
    return np.asarray((matrix + np.swapaxes(matrix, -1, -2)) / 2)


def agree(wanted: Answer, found: Answer, tolerance: float, *, with_dtypes: bool = True) -> bool:
    """Return whether all of `wanted` is found, to a tolerance relative to the largest element."""
    return all(
        name in found and _same(array, found[name], tolerance, with_dtypes)
        for name, array in wanted.items()
    )


def _same(wanted: Any, found: Any, tolerance: float, with_dtypes: bool) -> bool:
    if wanted is None or found is None:
        return wanted is found
    if wanted.shape != found.shape or (with_dtypes and wanted.dtype != found.dtype):
        return False
    size = np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0)
    return bool(np.allclose(wanted, found, rtol=tolerance, atol=tolerance * size, equal_nan=True))
