"""A kernel, and a batching rule, beside the definition of their op, at one call with numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.model import OpSpec
from ..identities.definition import evaluate_definition, evaluate_on_arguments
from ..identities.identity import Mismatch
from ..identities.run import Call
from .measures import is_finite, short

Array = np.ndarray[Any, Any]

TOLERANCES = {np.float64: 1e-5, np.complex128: 1e-5, np.float32: 1e-2, np.complex64: 1e-2}
"""Relative to the largest element: definitions may lose digits that kernels keep."""

SINGULAR = 1e15
"""The inverse of a matrix that is singular but for rounding is larger; a kernel may see that it is
singular."""


AMPLIFIED = 1e8
"""Results that are larger, of numbers up to two, have lost digits: factors of long triangular
matrices are close to singular."""


def compare_with_definition(spec: OpSpec, values: dict[str, Any], outputs: dict[str, Array]) -> int:
    """Compare the outputs of a kernel with those of the definition, and count them.

    Where the definition overflows, or gives nan, kernels may give numbers. Raises Mismatch.
    """
    if spec.kernel is None or spec.forward is None:
        return 0
    try:
        with np.errstate(all="ignore"):
            definition = evaluate_definition(spec, values)
    except Exception as error:
        if may_raise(spec, values, error):
            return 0
        raise Mismatch(
            "the definition", "forward", f"raises {type(error).__name__}: {error}; its kernel not"
        ) from None
    if spec.is_called_by_formulas and not all(a.size for a in outputs.values()):
        return 0
    for name, wanted in definition.items():
        found, label = outputs[name], f"kernel of {name}"
        if found.shape != wanted.shape:
            shapes = f"{list(found.shape)}, the definition {list(wanted.shape)}"
            raise Mismatch(label, "kernel", f"has shape {shapes}")
        if found.dtype != wanted.dtype:
            dtypes = f"{found.dtype}, of the definition {wanted.dtype}"
            raise Mismatch(f"dtype of the {label}", "kernel", f"is {dtypes}")
        if not _are_close(found, wanted):
            if spec.is_called_by_formulas and not is_finite(found):
                return 0
            text = f"is {short(found)}, and of the definition {short(wanted)}"
            raise Mismatch(label, "kernel", text)
    return len(definition)


def compare_kernel(spec: OpSpec, values: dict[str, Any]) -> None:
    """Make a call, and compare its values with those of the definition. Raises Mismatch."""
    try:
        outputs = Call(spec, values, [])()
    except Exception:
        return  # no call of the op
    arrays = {name: tensor.array for name, tensor in outputs.items()}
    if all(np.abs(a).max(initial=0) < AMPLIFIED for a in arrays.values() if a.dtype.kind in "fc"):
        compare_with_definition(spec, values, arrays)


def compare_with_batch(spec: OpSpec, values: dict[str, Any], outputs: dict[str, Array]) -> None:
    """Compare the outputs with those of the declared batching rule, which is the same function.

    Calls that it refuses are none of it. Raises Mismatch.
    """
    if spec.batch is None:
        return
    try:
        with np.errstate(all="ignore"):
            result = evaluate_on_arguments(spec, spec.batch.block, values)
    except Exception:
        return
    results = result if isinstance(result, tuple | list) else [result]
    for (name, wanted), found in zip(outputs.items(), map(np.asarray, results), strict=False):
        if found.shape != wanted.shape:
            message = f"has shape {list(found.shape)}, and the op gives {list(wanted.shape)}"
            raise Mismatch(f"batching rule for {name}", "batch", message)
        if found.dtype != wanted.dtype:
            message = f"is {found.dtype}, and the op gives {wanted.dtype}"
            raise Mismatch(f"batching rule for {name}", "batch", message)
        if not _are_close(found, wanted):
            message = f"is {short(found)}, and the op gives {short(wanted)}"
            raise Mismatch(f"batching rule for {name}", "batch", message)


def may_raise(spec: OpSpec, values: dict[str, Any], error: Exception) -> bool:
    """Return whether a definition may raise where its kernel does not.

    Definitions need elements and dimensions that kernels can do without, and formulas make calls of
    their own only.
    """
    arrays = [a for v in values.values() for a in (v if isinstance(v, list) else [v])]
    sizes = [(a.ndim, a.size) for a in arrays if isinstance(a, np.ndarray)]
    is_small = any(0 in pair for pair in sizes)
    is_singular = isinstance(error, np.linalg.LinAlgError)
    return is_small or is_singular or spec.is_called_by_formulas


def _are_close(found: Array, wanted: Array) -> bool:
    relative = TOLERANCES.get(wanted.dtype.type)
    if relative is None:
        return bool((found == wanted).all())
    known = np.isfinite(wanted)
    found, wanted = found[known], wanted[known]
    size = np.abs(wanted).max(initial=1e-3)
    if size > SINGULAR and not is_finite(found):
        return True
    return bool((np.abs(found - wanted) <= relative * size).all())
