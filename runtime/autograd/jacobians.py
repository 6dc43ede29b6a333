"""Jacobians of a function of tensors: by differences, by backward passes, by forward mode.

Complex numbers count as pairs of real ones: the gradient of a real loss L with respect to z is
dL/dRe(z) + i·dL/dIm(z), PyTorch's convention, so that every Jacobian here is a real matrix.

Each is asked for in some directions of the input (`U`, one a column) and of the output (`V`, one a
row), and is V·J·U. With all unit vectors that is the Jacobian itself; with one random vector each,
a single number, which takes one call where the Jacobian takes as many as there are elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..core.tensor import Tensor, wrap
from .backward import grad
from .forward_ad import dual_level, make_dual, unpack_dual

Array: TypeAlias = np.ndarray[Any, Any]


class GradcheckError(RuntimeError):
    """Gradient that finite differences contradict, or that has a wrong shape or dtype."""


class Directions:
    """Directions in which Jacobians are compared: all unit vectors, or random ones."""

    def __init__(self, fast: bool) -> None:
        self._rng = np.random.default_rng(0) if fast else None

    def of(self, array: Array) -> Array:
        """Return one direction a column; the random one has no negative components."""
        size = components(array).size
        if self._rng is None:
            return np.eye(size)
        drawn = self._rng.uniform(size=(size, 1))
        return drawn / max(float(np.linalg.norm(drawn)), 1e-30)

    def parts(self, array: Array) -> list[tuple[str, Array]]:
        """Split directions into those of imaginary and of real parts of complex numbers."""
        directions = self.of(array)
        if array.dtype.kind != "c":
            return [("", directions)]
        if self._rng is None:
            return [("imaginary", directions[:, 1::2]), ("real", directions[:, 0::2])]
        is_imaginary = np.arange(len(directions))[:, None] % 2
        return [("imaginary", directions * is_imaginary), ("real", directions * (1 - is_imaginary))]


def components(array: Array) -> Array:
    """Return an array as a vector of reals, a view if it is contiguous."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype)


def from_components(vector: Array, like: Array) -> Array:
    """Invert `components`: return an array of the shape and dtype of `like`."""
    array = np.zeros(like.shape, like.dtype)
    components(array)[:] = vector
    return array


def outputs_of(func: Callable[..., Any], args: Sequence[Any]) -> list[Tensor]:
    """Return the outputs that may be differentiable: floating point and complex tensors.

    TypeError for an output that is no tensor, of which nothing can be checked.
    """
    returned = func(*args)
    several = returned if isinstance(returned, list | tuple) else (returned,)
    for out in several:
        if not isinstance(out, Tensor):
            raise TypeError(f"a checked function has to return tensors, not a {type(out).__name__}")
    return [out for out in several if out.array.dtype.kind in "fc"]


def fresh(args: Sequence[Any]) -> list[Any]:
    """Return leaves on copies of the tensors among `args`, which require grad as those do."""
    return [
        wrap(arg.array.copy()).requires_grad_(arg.requires_grad) if isinstance(arg, Tensor) else arg
        for arg in args
    ]


def by_differences(
    func: Callable[..., Any], args: Sequence[Any], i: int, eps: float, directions: Array
) -> list[Array]:
    """Compute J·U for each output with respect to input `i`, by central differences."""
    value = args[i].array
    expected = outputs_of(func, fresh(args))
    columns = []
    for direction in directions.T:
        step = from_components(direction, value)
        sides = []
        for shift in (eps, -eps):
            moved = fresh(args)
            moved[i].data = wrap(value + shift * step)
            outputs = outputs_of(func, moved)
            _check_same(outputs, expected, i)
            sides.append([components(output.array).copy() for output in outputs])
        columns.append([(up - down) / (2 * eps) for up, down in zip(*sides, strict=True)])
    return _stacked(columns, expected)


def _check_same(outputs: list[Tensor], expected: list[Tensor], i: int) -> None:
    """Raise AssertionError, as PyTorch does, if shapes or dtypes of outputs depend on the input."""
    for what in ("shape", "dtype"):
        before = [getattr(output, what) for output in expected]
        after = [getattr(output, what) for output in outputs]
        if before != after:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed "
                f"on index {i}, but got {before} and {after}"
            )


def by_backward(
    output: Tensor, inputs: Sequence[Tensor], directions: Array
) -> list[tuple[Array, bool]]:
    """Compute V·J of one output for each input; tell if all gradients had the input's dtype."""
    rows: list[list[Array]] = [[] for _ in inputs]
    right = [True] * len(inputs)
    for direction in directions.T:
        cotangent = wrap(from_components(direction, output.array))
        found = grad(output, inputs, cotangent, retain_graph=True, allow_unused=True)
        for nr, (gradient, leaf) in enumerate(zip(found, inputs, strict=True)):
            right[nr] = right[nr] and (gradient is None or gradient.dtype == leaf.dtype)
            rows[nr].append(
                np.zeros(components(leaf.array).size)
                if gradient is None
                else components(gradient.array).copy()
            )
    sizes = [components(leaf.array).size for leaf in inputs]
    return [
        (np.array(kept).reshape(directions.shape[1], size), is_right)
        for kept, is_right, size in zip(rows, right, sizes, strict=True)
    ]


def duals(args: Sequence[Any], tangents: Sequence[Tensor | None]) -> list[Any]:
    """Return the arguments, detached, each with its tangent; inside of a level."""
    return [
        arg
        if not isinstance(arg, Tensor)
        else arg.detach()
        if tangent is None
        else make_dual(arg.detach(), tangent)
        for arg, tangent in zip(args, tangents, strict=True)
    ]


def zero_tangents(args: Sequence[Any]) -> list[Tensor | None]:
    """Return zeros for each input that requires grad."""
    return [
        wrap(np.zeros_like(arg.array)) if isinstance(arg, Tensor) and arg.requires_grad else None
        for arg in args
    ]


def forward_tangents(
    func: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Tensor | None]
) -> list[Array]:
    """Return the tangent of each output, as components; zeros where there is none."""
    with dual_level():
        unpacked = [unpack_dual(out) for out in outputs_of(func, duals(fresh(args), tangents))]
        return [
            components(np.zeros_like(primal.array) if tangent is None else tangent.array).copy()
            for primal, tangent in unpacked
        ]


def by_forward(
    func: Callable[..., Any], args: Sequence[Any], i: int, directions: Array
) -> list[Array]:
    """Compute J·U for each output with respect to input `i`, by forward mode."""
    columns = []
    for direction in directions.T:
        tangents = zero_tangents(args)
        tangents[i] = wrap(from_components(direction, args[i].array))
        columns.append(forward_tangents(func, args, tangents))
    return _stacked(columns, [] if columns else outputs_of(func, fresh(args)))


def _stacked(columns: list[list[Array]], outputs: list[Tensor]) -> list[Array]:
    """Stack columns to a matrix for each output; `outputs` give sizes where there are none."""
    if not columns:
        return [np.zeros((components(output.array).size, 0)) for output in outputs]
    return [np.stack(parts, axis=1) for parts in zip(*columns, strict=True)]
