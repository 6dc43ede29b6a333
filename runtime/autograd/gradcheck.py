"""Gradients against finite differences.

Complex numbers count as pairs of real ones: the gradient of a real loss L with respect to z is
dL/dRe(z) + i·dL/dIm(z), PyTorch's convention, so that every Jacobian here is a real matrix.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..tensor import Tensor, wrap
from .backward import grad
from .forward_ad import dual_level, make_dual, unpack_dual

Array: TypeAlias = np.ndarray[Any, Any]


class GradcheckError(RuntimeError):
    """A gradient that finite differences contradict."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
) -> bool:
    """Compare the Jacobian of `func` by backward passes with central differences of step `eps`.

    Inputs that require a gradient are checked; they should be float64 or complex128. With
    `check_forward_ad` the Jacobian by forward mode is compared as well. Answers True, or raises
    GradcheckError (answers False with `raise_exception=False`) where
    `|analytical - numerical| <= atol + rtol * |numerical|` does not hold.
    """
    args = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [i for i, arg in enumerate(args) if isinstance(arg, Tensor) and arg.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input tensor to require gradient")
    for i in checked:
        if args[i].dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"input {i} requires gradient and is not double precision: finite differences "
                f"in {args[i].dtype} will be too coarse",
                UserWarning,
                stacklevel=2,
            )
    try:
        for i in checked:
            numerical = _by_differences(func, args, i, eps)
            if check_backward_ad:
                _compare("backward mode", i, _by_backward(func, args, i), numerical, atol, rtol)
            if check_forward_ad:
                _compare("forward mode", i, _by_forward(func, args, i), numerical, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """`gradcheck` of the gradients: the second derivatives of `func` against differences.

    `grad_outputs` are the cotangents; drawn at random if left out. They are checked like inputs.
    """
    args = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        cotangents = [_random_like(output.array) for output in _outputs(func, args)]
    else:
        given = (grad_outputs,) if isinstance(grad_outputs, Tensor) else grad_outputs
        cotangents = [cotangent.detach().requires_grad_() for cotangent in given]

    def gradients(*values: Any) -> tuple[Tensor, ...]:
        own, directions = values[: len(args)], values[len(args) :]
        wanted = [v for v in own if isinstance(v, Tensor) and v.requires_grad]
        found = grad(_outputs(func, own), wanted, directions, create_graph=True, allow_unused=True)
        return tuple(tensor for tensor in found if tensor is not None)

    return gradcheck(
        gradients,
        (*args, *cotangents),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
    )


def _random_like(array: Array) -> Tensor:
    drawn = np.zeros(array.shape, array.dtype)
    components = _components(drawn)
    components[:] = np.random.default_rng(0).normal(size=components.shape)
    return wrap(drawn).requires_grad_()


def _outputs(func: Callable[..., Any], args: Sequence[Any]) -> list[Tensor]:
    """The differentiable outputs."""
    returned = func(*args)
    several = returned if isinstance(returned, list | tuple) else (returned,)
    return [out for out in several if isinstance(out, Tensor) and out.array.dtype.kind in "fc"]


def _components(array: Array) -> Array:
    """An array as a vector of reals: a view of it, if it is contiguous."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype)


def _basis(array: Array) -> list[Array]:
    """The unit vectors of an array's space, as arrays like it."""
    vectors = []
    for k in range(_components(array).size):
        unit = np.zeros(array.shape, array.dtype)
        _components(unit)[k] = 1
        vectors.append(unit)
    return vectors


def _replaced(args: Sequence[Any], i: int, array: Array) -> list[Any]:
    """Fresh leaves for the tensors among `args`, with `array` as the value of one."""
    fresh: list[Any] = []
    for j, arg in enumerate(args):
        if isinstance(arg, Tensor):
            leaf = wrap(array if j == i else arg.array)
            fresh.append(leaf.requires_grad_(arg.requires_grad))
        else:
            fresh.append(arg)
    return fresh


def _by_differences(
    func: Callable[..., Any], args: Sequence[Any], i: int, eps: float
) -> list[Array]:
    """For each output the Jacobian with respect to input `i`, one column per component."""
    value = args[i].array
    if not value.size:
        return [np.zeros((_components(o.array).size, 0)) for o in _outputs(func, args)]
    columns = []
    for unit in _basis(value):
        sides = [
            [_components(o.array) for o in _outputs(func, _replaced(args, i, value + step * unit))]
            for step in (eps, -eps)
        ]
        columns.append([(up - down) / (2 * eps) for up, down in zip(*sides, strict=True)])
    return [np.stack(parts, axis=1) for parts in zip(*columns, strict=True)]


def _by_backward(func: Callable[..., Any], args: Sequence[Any], i: int) -> list[Array]:
    """The same Jacobians, row by row from backward passes."""
    fresh = _replaced(args, i, args[i].array)
    jacobians = []
    for output in _outputs(func, fresh):
        rows = []
        for unit in _basis(output.array) if output.requires_grad else ():
            (found,) = grad(output, fresh[i], wrap(unit), retain_graph=True, allow_unused=True)
            rows.append(_components(np.zeros_like(args[i].array) if found is None else found.array))
        shape = _components(output.array).size, _components(args[i].array).size
        jacobians.append(np.array(rows).reshape(shape) if rows else np.zeros(shape))
    return jacobians


def _by_forward(func: Callable[..., Any], args: Sequence[Any], i: int) -> list[Array]:
    """The same Jacobians, column by column from forward mode."""
    columns = []
    if not args[i].array.size:
        return [np.zeros((_components(o.array).size, 0)) for o in _outputs(func, args)]
    for unit in _basis(args[i].array):
        with dual_level():
            fresh = _replaced(args, i, args[i].array)
            fresh[i] = make_dual(fresh[i], wrap(unit))
            unpacked = [unpack_dual(output) for output in _outputs(func, fresh)]
        columns.append(
            [
                _components(np.zeros_like(primal.array) if tangent is None else tangent.array)
                for primal, tangent in unpacked
            ]
        )
    return [np.stack(parts, axis=1) for parts in zip(*columns, strict=True)]


def _compare(
    mode: str,
    i: int,
    analytical: Sequence[Array],
    numerical: Sequence[Array],
    atol: float,
    rtol: float,
) -> None:
    for nr, (found, expected) in enumerate(zip(analytical, numerical, strict=True)):
        if not np.allclose(found, expected, rtol=rtol, atol=atol):
            raise GradcheckError(
                f"Jacobian mismatch for output {nr} with respect to input {i} in {mode},\n"
                f"numerical:{expected}\nanalytical:{found}\n"
            )
