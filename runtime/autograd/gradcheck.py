"""`gradcheck` and `gradgradcheck`: compare gradients with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from .backward import grad
from .gradient_properties import (
    check_batched_cotangents,
    check_batched_tangents,
    check_undefined_cotangents,
    check_undefined_tangents,
    check_zero_cotangents,
)
from .jacobians import (
    Array,
    Directions,
    GradcheckError,
    by_backward,
    by_differences,
    by_forward,
    components,
    fresh,
    from_components,
    outputs_of,
)


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the Jacobian of `func` by backward passes with central differences of step `eps`.

    Parameters
    ----------
    func
        Returns a tensor or several; those that require gradients are checked.
    inputs
        Those that require a gradient are checked; they should be float64 or complex128.
    eps, atol, rtol
        `|analytical - numerical| <= atol + rtol * |numerical|` has to hold.
    raise_exception
        Raise GradcheckError if it does not, instead of returning False.
    nondet_tol
        Tolerance between the gradients of two passes.
    check_undefined_grad
        Check outputs, and inputs in forward mode, that have no gradient or tangent.
    check_grad_dtypes
        Check that gradients have the dtype of their inputs.
    check_batched_grad, check_batched_forward_grad
        Check batches of cotangents, and sums of tangents.
    check_forward_ad, check_backward_ad
        The modes to check.
    fast_mode
        Compare the Jacobians in one random direction only.
    masked
        Ignored: it is about sparse tensors.

    Raises
    ------
    GradcheckError
        A RuntimeError: a check failed.
    ValueError
        If no input requires a gradient.
    RuntimeError
        If elements of an input share memory with each other.
    AssertionError
        If nothing is to be checked, or outputs change their shapes or dtypes with the inputs.
    """
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    assert check_backward_ad or not check_batched_grad, (
        "Setting check_batched_grad=True requires check_backward_ad to be True"
    )
    assert check_forward_ad or not check_batched_forward_grad, (
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
    )
    args = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    _check_inputs(args)
    check = _Check(func, args, eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    try:
        outputs = outputs_of(func, fresh(args))
        if not any(output.requires_grad for output in outputs):
            check.constant()
        elif check_backward_ad:
            check.backward_mode()
        if check_forward_ad:
            check.forward_mode()
            if check_undefined_grad:
                check_undefined_tangents(func, args)
            if check_batched_forward_grad:
                check_batched_tangents(func, args)
        if check_backward_ad:
            if check_batched_grad:
                check_batched_cotangents(func, args)
            check_zero_cotangents(func, args)
            if check_undefined_grad:
                check_undefined_cotangents(func, args)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(args: tuple[Any, ...]) -> None:
    checked = [i for i, arg in enumerate(args) if isinstance(arg, Tensor) and arg.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "has requires_grad=True"
        )
    for i in checked:
        array = args[i].array
        if array.dtype not in (np.float64, np.complex128):
            warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                f"complex: finite differences in {array.dtype} will be too coarse"
            )
        steps = zip(array.strides, array.shape, strict=True)
        if array.size and any(stride == 0 and length > 1 for stride, length in steps):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0, so that its elements cannot be "
                "perturbed one by one: call contiguous() on it before"
            )


class _Check(NamedTuple):
    """Options of a comparison, and the comparison itself."""

    func: Callable[..., Any]
    args: tuple[Any, ...]
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_dtypes: bool
    fast: bool

    def _inputs(self) -> list[int]:
        return [i for i, arg in enumerate(self.args) if isinstance(arg, Tensor) and arg.grad_node]

    def constant(self) -> None:
        """Check that outputs which require no gradient depend on no input."""
        directions = Directions(self.fast)
        for i in self._inputs():
            along = directions.of(self.args[i].array)
            for found in by_differences(self.func, self.args, i, self.eps, along):
                if not np.allclose(found, 0, atol=self.atol):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    def backward_mode(self) -> None:
        """Compare Jacobians computed by backward passes, each of which runs twice."""
        directions = Directions(self.fast)
        leaves = fresh(self.args)
        outputs = outputs_of(self.func, leaves)
        inputs = self._inputs()
        along = {i: directions.of(self.args[i].array) for i in inputs}
        numerical = {i: by_differences(self.func, self.args, i, self.eps, along[i]) for i in inputs}
        for nr, output in enumerate(outputs):
            for part, across in directions.parts(output.array) if output.requires_grad else ():
                passes = [by_backward(output, [leaves[i] for i in inputs], across) for _ in "12"]
                for i, first, second in zip(inputs, *passes, strict=True):
                    self._check_passes(i, first, second)
                for i, (found, _) in zip(inputs, passes[0], strict=True):
                    self._compare(
                        part and f"While considering the {part} part of complex outputs only, ",
                        f"Jacobian mismatch for output {nr} with respect to input {i}",
                        found @ along[i],
                        across.T @ numerical[i][nr],
                        float(across.sum() * along[i].sum()),
                    )

    def forward_mode(self) -> None:
        """Compare Jacobians computed by forward mode."""
        directions = Directions(self.fast)
        for i in self._inputs():
            for part, along in directions.parts(self.args[i].array):
                numerical = by_differences(self.func, self.args, i, self.eps, along)
                analytical = by_forward(self.func, self.args, i, along)
                for nr, (expected, found) in enumerate(zip(numerical, analytical, strict=True)):
                    across = (
                        np.full((1, len(found)), max(len(found), 1) ** -0.5) if self.fast else 1.0
                    )
                    self._compare(
                        part and f"While considering the {part} part of complex inputs only, ",
                        f"Jacobian computed with forward mode mismatch for output {nr} with "
                        f"respect to input {i}",
                        np.dot(across, found),
                        np.dot(across, expected),
                        float(np.sum(across) * along.sum()),
                    )

    def _check_passes(self, i: int, first: tuple[Array, bool], second: tuple[Array, bool]) -> None:
        if self.check_dtypes and not first[1]:
            raise GradcheckError(f"Gradient has dtype mismatch for input {i}")
        distance = np.max(np.abs(first[0] - second[0]), initial=0)
        if distance > self.nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output "
                f"multiple times gives different values: input {i}, by up to {distance}. "
                f"nondet_tol is {self.nondet_tol}"
            )

    def _compare(
        self, part: str, what: str, analytical: Array, numerical: Array, scale: float
    ) -> None:
        # One number of the fast mode is a sum of many: `scale` times the error of each.
        atol = self.atol * scale if self.fast else self.atol
        if not np.allclose(analytical, numerical, rtol=self.rtol, atol=atol):
            projected = " (projections, of fast_mode)" if self.fast else ""
            raise GradcheckError(
                f"{part}{what},\nnumerical:{numerical}\nanalytical:{analytical}{projected}\n"
            )


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check the second derivatives of `func`: `gradcheck` of its gradients.

    Further parameters, and the exceptions, are those of `gradcheck`.

    Parameters
    ----------
    grad_outputs
        The cotangents, checked like inputs where they require gradients; drawn at random if left
        out.
    gen_non_contig_grad_outputs
        Draw cotangents that have gaps in memory.
    check_fwd_over_rev, check_rev_over_rev
        Differentiate the gradients by forward mode, by backward passes.
    """
    assert check_fwd_over_rev or check_rev_over_rev, (
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    )
    assert check_rev_over_rev or not check_undefined_grad, (
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
    )
    assert check_rev_over_rev or not check_batched_grad, (
        "Setting check_batched_grad=True requires check_rev_over_rev to be True"
    )
    args = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        outputs = [out for out in outputs_of(func, fresh(args)) if out.requires_grad]
        cotangents = tuple(_random_like(out.array, gen_non_contig_grad_outputs) for out in outputs)
    else:
        cotangents = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    asks = [isinstance(v, Tensor) and v.requires_grad for v in (*args, *cotangents)]

    def gradients(*values: Any) -> tuple[Tensor, ...]:
        # Forward mode calls with tensors that require no gradient, but this is about gradients.
        values = tuple(
            value.requires_grad_() if asked and not value.requires_grad else value
            for value, asked in zip(values, asks, strict=True)
        )
        own, directions = values[: len(args)], values[len(args) :]
        wanted = [value for value, asked in zip(own, asks, strict=False) if asked]
        differentiable = [out for out in outputs_of(func, own) if out.requires_grad]
        found = grad(differentiable, wanted, directions, create_graph=True, allow_unused=True)
        return tuple(tensor for tensor in found if tensor is not None)

    return gradcheck(
        gradients,
        (*args, *cotangents),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_like(array: Array, with_gaps: bool) -> Tensor:
    rng = np.random.default_rng(0)
    drawn = from_components(rng.uniform(-1, 1, components(array).size), array)
    if with_gaps:
        drawn = np.repeat(drawn[..., None], 2, axis=-1)[..., 0]
    return wrap(drawn).requires_grad_()
