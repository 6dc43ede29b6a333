"""Gradients and tangents of a batched call, beside those of the examples one by one."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..identities.identity import Mismatch
from ..identities.run import Call
from .cases import Case, stack
from .run import run_batched

Array: TypeAlias = np.ndarray[Any, Any]
Leaf: TypeAlias = tuple[str, int]

_TOLERANCE = 1e-7


def compare_derivatives(rule: str, case: Case) -> None:
    """Compare VJPs and JVPs with random cotangents and tangents; Mismatch if they differ.

    Where the op has no derivative for one example, it need have none for all.
    """
    if case.one_by_one is None:  # the same for every rule that is tried
        case.one_by_one = _OneByOne(case)
    wanted: _OneByOne = case.one_by_one
    leaves = wanted.leaves
    if not leaves:
        return
    with np.errstate(all="ignore"):
        if wanted.gradients is not None:
            found = _batched_gradients(rule, case, leaves, wanted.weights)
            _compare(found, wanted.gradients, "gradient")
        if wanted.tangents is not None:
            found = _batched_tangents(rule, case, wanted.directions)
            _compare(found, wanted.tangents, "tangent")


class _OneByOne:
    """The derivatives of the examples one by one, along random cotangents and tangents."""

    def __init__(self, case: Case) -> None:
        self._case = case
        rng = np.random.default_rng(1)
        self.leaves: list[Leaf] = [
            (name, place)
            for name in case.spec.differentiable_params
            for place, array in enumerate(_listed(case.rows[0][name]))
            if array is not None and array.dtype.kind in "fc"
        ]
        self.weights = [
            {name: _random(tensor.array, rng) for name, tensor in row.items() if _is_float(tensor)}
            for row in case.results
        ]
        self.directions = _directions(case, self.leaves, rng)

    @cached_property
    def gradients(self) -> dict[Any, Array] | None:
        """Stacked, and added up for what the examples share; None where the op has none."""
        return _gradients(self._case, self.leaves, self.weights)

    @cached_property
    def tangents(self) -> dict[Any, Array] | None:
        """Stacked; None where the op has none."""
        return _tangents(self._case, self.directions)


def _gradients(
    case: Case, leaves: list[Leaf], weights: list[dict[str, Array]]
) -> dict[Any, Array] | None:
    """The gradients of each example, stacked, and added up for what the examples share."""
    from gradspec.autograd import grad
    from gradspec.core.tensor import wrap

    rows: dict[Leaf, list[Array]] = {leaf: [] for leaf in leaves}
    for row, cotangents in zip(case.rows, weights, strict=True):
        call = Call(case.spec, row, leaves)
        outputs = call()
        roots = [name for name in cotangents if outputs[name].requires_grad]
        if not roots:
            return None
        try:
            found = grad(
                [outputs[name] for name in roots],
                [call.tensors[leaf] for leaf in leaves],
                [wrap(cotangents[name]) for name in roots],
                allow_unused=True,
            )
        except (NotImplementedError, RuntimeError):
            return None
        for leaf, gradient in zip(leaves, found, strict=True):
            like = call.tensors[leaf].array
            rows[leaf].append(np.zeros_like(like) if gradient is None else gradient.array)
    return {
        leaf: stack(arrays) if leaf[0] in case.batched else np.sum(arrays, axis=0)
        for leaf, arrays in rows.items()
    }


def _batched_gradients(
    rule: str, case: Case, leaves: list[Leaf], weights: list[dict[str, Array]]
) -> dict[Any, Array]:
    from gradspec.autograd import grad
    from gradspec.core.tensor import wrap

    physical = {name: _physical(case, name, {}) for name in dict.fromkeys(n for n, _ in leaves)}
    tensors = [_listed(physical[name])[place].requires_grad_() for name, place in leaves]
    outputs = run_batched(rule, case, physical)
    roots = [name for name in weights[0] if outputs[name].requires_grad]
    found = grad(
        [outputs[name] for name in roots],
        tensors,
        [wrap(np.stack([row[name] for row in weights])) for name in roots],
        allow_unused=True,
    )
    return {
        leaf: np.zeros_like(tensor.array) if gradient is None else gradient.array
        for leaf, tensor, gradient in zip(leaves, tensors, found, strict=True)
    }


def _directions(
    case: Case, leaves: list[Leaf], rng: np.random.Generator
) -> list[dict[Leaf, Array]]:
    """A tangent for each argument of each example; the examples share those of what they share."""
    shared = {leaf: _random(_at(case.rows[0], leaf), rng) for leaf in leaves}
    return [
        shared | {leaf: _random(_at(row, leaf), rng) for leaf in leaves if leaf[0] in case.batched}
        for row in case.rows
    ]


def _tangents(case: Case, directions: list[dict[Leaf, Array]]) -> dict[Any, Array] | None:
    from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
    from gradspec.core.tensor import wrap

    rows = []
    for row, tangents in zip(case.rows, directions, strict=True):
        call = Call(case.spec, row, [])
        with dual_level():
            for leaf, tangent in tangents.items():
                call.replace(leaf, make_dual(wrap(_at(row, leaf)), wrap(tangent)))
            try:
                outputs = call()
            except (NotImplementedError, RuntimeError):
                return None
            rows.append(_unpacked(outputs, unpack_dual))
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def _batched_tangents(
    rule: str, case: Case, directions: list[dict[Leaf, Array]]
) -> dict[Any, Array]:
    from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
    from gradspec.core.tensor import wrap

    tangents = {
        leaf: stack([row[leaf] for row in directions])
        if leaf[0] in case.batched
        else directions[0][leaf]
        for leaf in directions[0]
    }
    with dual_level():
        duals = {
            leaf: (lambda t, leaf=leaf: make_dual(t, wrap(tangents[leaf]))) for leaf in tangents
        }
        physical = {name: _physical(case, name, duals) for name in {name for name, _ in tangents}}
        return _unpacked(run_batched(rule, case, physical), unpack_dual)


def _unpacked(outputs: dict[str, Any], unpack_dual: Any) -> dict[Any, Array]:
    """The tangents of the outputs, zero where there is none."""
    found = {}
    for name, tensor in outputs.items():
        if _is_float(tensor):
            tangent = unpack_dual(tensor).tangent
            found[name] = np.zeros_like(tensor.array) if tangent is None else tangent.array
    return found


def _physical(case: Case, name: str, duals: dict[Leaf, Any]) -> Any:
    """The tensors of one argument for all examples, or that which they share."""
    from gradspec.core.tensor import wrap

    if name in case.batched:
        value = case.stacked(name, wrap)
    else:
        given = case.rows[0][name]
        value = [None if a is None else wrap(a.copy()) for a in _listed(given)]
        value = value if isinstance(given, list) else value[0]
    made = [duals.get((name, n), lambda t: t)(t) for n, t in enumerate(_listed(value))]
    return made if isinstance(value, list) else made[0]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _at(row: dict[str, Any], leaf: Leaf) -> Array:
    return np.asarray(_listed(row[leaf[0]])[leaf[1]])


def _is_float(tensor: Any) -> bool:
    return hasattr(tensor, "array") and tensor.array.dtype.kind in "fc"


def _random(array: Array, rng: np.random.Generator) -> Array:
    real = rng.standard_normal(array.shape)
    if array.dtype.kind != "c":
        return np.asarray(real, array.dtype)
    return np.asarray(real + 1j * rng.standard_normal(array.shape), array.dtype)


def _compare(found: dict[Any, Array], wanted: dict[Any, Array], role: str) -> None:
    for key, exact in wanted.items():
        label = f"{role} of {key[0] if isinstance(key, tuple) else key} in a batch"
        if found[key].shape != exact.shape or found[key].dtype != exact.dtype:
            raise Mismatch(
                label, "batch", f"is {_shape_and_dtype(found[key])}, not {_shape_and_dtype(exact)}"
            )
        size = np.abs(exact[np.isfinite(exact)]).max(initial=1.0)
        tolerance = _TOLERANCE if exact.dtype in (np.float64, np.complex128) else 1e-3
        if not np.allclose(
            found[key], exact, rtol=tolerance, atol=tolerance * size, equal_nan=True
        ):
            raise Mismatch(label, "batch", "is not that of the examples one by one")


def _shape_and_dtype(array: Array) -> str:
    return f"{array.dtype} {list(array.shape)}"
