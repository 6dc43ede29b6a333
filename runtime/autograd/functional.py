"""Products with Jacobians and Hessians, and these themselves, of functions of tensors.

`gradspec.func` has the same as function transforms, which can be composed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from ..core.missing import explaining as _explaining
from ..core.modes import enable_grad, is_grad_enabled, set_grad_enabled
from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from . import forward_ad
from .backward import grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

__getattr__ = _explaining(__name__)

Function: TypeAlias = Callable[..., Any]
Tensors: TypeAlias = tuple[Tensor, ...]

_RETURNED = "the user-provided function returns"
_GIVEN = "the input to the user-provided function is"


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the outputs of a function, and `v` times its Jacobian.

    `v` has the shapes of the outputs; it may be None for one number. With `create_graph` the
    results can be differentiated; with `strict` an input that has no influence is a RuntimeError.
    """
    with enable_grad():
        given, is_single = _prepared(inputs, "vjp", create_graph)
        outputs, is_single_output = _called(func, given, "vjp", strict)
        cotangents = _vector(v, outputs, is_single_output, create_graph, "vjp", _RETURNED)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(outputs, given, cotangents, create_graph)
        products = _filled(found, given, strict, create_graph)
    return _finished(outputs, is_single_output, create_graph), _finished(
        products, is_single, create_graph
    )


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the outputs of a function, and its Jacobian times `v`, by two backward passes.

    `v` has the shapes of the inputs; it may be None for one number. See `vjp` for the rest.
    """
    with enable_grad():
        given, is_single = _prepared(inputs, "jvp", create_graph)
        tangents = _vector(v, given, is_single, create_graph, "jvp", _GIVEN)
        outputs, is_single_output = _called(func, given, "jvp", strict)
        cotangents = _zeros_like(outputs)
        pulled = _grads(outputs, given, cotangents, create_graph=True)
        _check_dependent(pulled, strict, "gradient")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(pulled, cotangents, tangents, create_graph)
        products = _filled(found, outputs, strict, create_graph)
    return _finished(outputs, is_single_output, create_graph), _finished(
        products, is_single_output, create_graph
    )


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the value of a function of one number, and `v` times its Hessian.

    `v` has the shapes of the inputs. See `vjp` for the rest.
    """
    with enable_grad():
        given, is_single, outputs, gradient, vector = _gradient(
            func, inputs, v, create_graph, strict, "vhp"
        )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(gradient, given, vector, create_graph)
        products = _filled(found, given, strict, create_graph)
    return _finished(outputs, True, create_graph), _finished(products, is_single, create_graph)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the value of a function of one number, and its Hessian times `v`.

    The Hessian is symmetric: `vhp` gives the same by one backward pass less.
    """
    with enable_grad():
        given, is_single, outputs, gradient, vector = _gradient(
            func, inputs, v, create_graph, strict, "hvp"
        )
        cotangents = _zeros_like(given)
        twice = _grads(gradient, given, cotangents, create_graph=True)
        _check_dependent(twice, strict, "hessian")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(twice, cotangents, vector, create_graph)
        products = _filled(found, given, strict, create_graph)
    return _finished(outputs, True, create_graph), _finished(products, is_single, create_graph)


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Compute the Jacobian, of shape (*output, *input); a tuple of tuples for several of each.

    By a backward pass for each output element, or for all at once with `vectorize`; with the
    strategy "forward-mode", which needs `vectorize`, by a forward pass for each input element.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode": the first is faster '
            "for a function with more outputs than inputs."
        )
    if vectorize and strict:
        raise RuntimeError("jacobian: strict=True and vectorize=True are not supported together")
    if strategy == "forward-mode":
        if create_graph or not vectorize or strict:
            raise NotImplementedError(
                'jacobian: strategy="forward-mode" is supported with vectorize=True, '
                "create_graph=False and strict=False"
            )
        return _forward_jacobian(func, inputs)
    with enable_grad():
        given, is_single = _prepared(inputs, "jacobian", create_graph)
        outputs, is_single_output = _called(func, given, "jacobian", strict)
        rows = [
            _rows(nr, output, given, create_graph, strict, vectorize)
            for nr, output in enumerate(outputs)
        ]
    finished = tuple(_finished(row, is_single, create_graph) for row in rows)
    return finished[0] if is_single_output else finished


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Compute the Hessian of a function of one number, of shape (*input, *input).

    For several inputs it is a tuple of tuples. The outer Jacobian is computed as `jacobian` does.
    """
    _, is_single = _checked(inputs, "inputs", "hessian")

    def single(*given: Tensor) -> Tensor:
        outputs, is_single_output = _called(func, given, "hessian", strict)
        _check_number(outputs if is_single_output else None, "hessian")
        return outputs[0].reshape(())

    def gradient(*given: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            given = tuple(tensor.requires_grad_() for tensor in given)
        found = jacobian(single, given, create_graph=True)
        _check_dependent(found, strict, "jacobian")
        return found

    found = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found[0] if is_single else found


# ---- parts


def _checked(given: Any, what: str, name: str) -> tuple[Tensors, bool]:
    """Return a tuple of tensors, and whether one tensor was given; TypeError for others."""
    tensors = given if isinstance(given, tuple) else (given,)
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            place = f"value at index {index}" if isinstance(given, tuple) else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the "
                f"{place} has type {type(tensor)}."
            )
    return tensors, not isinstance(given, tuple)


def _prepared(inputs: Any, name: str, create_graph: bool) -> tuple[Tensors, bool]:
    tensors, is_single = _checked(inputs, "inputs", name)
    return _separate(tensors, create_graph, True), is_single


def _separate(tensors: Tensors, create_graph: bool, needs_graph: bool) -> Tensors:
    """Return views of tensors whose history counts, and detached ones of the others."""
    return tuple(
        tensor.view_as(tensor)
        if create_graph and tensor.requires_grad
        else tensor.detach().requires_grad_(needs_graph)
        for tensor in tensors
    )


def _called(func: Function, given: Tensors, name: str, strict: bool) -> tuple[Tensors, bool]:
    outputs, is_single = _checked(func(*given), "outputs of the user-provided function", name)
    for index, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"Output {index} of the user-provided function does not require gradients. The "
                "outputs must be computed in a differentiable manner from the input when running "
                "in strict mode."
            )
    return outputs, is_single


def _vector(
    v: Any, like: Tensors, is_single: bool, create_graph: bool, name: str, of: str
) -> tuple[Tensor | None, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if {of} a single Tensor with a single element."
            )
        return (None,)
    tensors, _ = _checked(v, "v", name)
    if len(tensors) != len(like):
        if is_single:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(tensors)}."
        )
    vectors = _separate(tensors, create_graph, False)
    for index, (vector, tensor) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != tensor.shape:
            start = "v" if is_single else f"Entry {index} in v"
            raise RuntimeError(
                f"{start} has invalid size: should be torch.Size({list(tensor.shape)}) but got "
                f"torch.Size({list(vector.shape)})."
            )
    return vectors


def _gradient(
    func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str
) -> tuple[Tensors, bool, Tensors, Any, Any]:
    given, is_single = _prepared(inputs, name, create_graph)
    vector = _vector(v, given, is_single, create_graph, name, _GIVEN)
    outputs, is_single_output = _called(func, given, name, strict)
    _check_number(outputs if is_single_output else None, name)
    gradient = _grads(outputs, given, (None,), create_graph=True)
    _check_dependent(gradient, strict, "jacobian")
    return given, is_single, outputs, gradient, vector


def _check_number(outputs: Any, name: str) -> None:
    if not isinstance(outputs, tuple) or len(outputs) != 1:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )


def _grads(
    outputs: Sequence[Tensor | None],
    inputs: Tensors,
    cotangents: Sequence[Tensor | None],
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> tuple[Tensor | None, ...]:
    """Compute gradients, from those outputs that have any; None for an input without."""
    pairs = [
        (output, cotangent)
        for output, cotangent in zip(outputs, cotangents, strict=False)
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [output for output, _ in pairs],
        inputs,
        [cotangent for _, cotangent in pairs],
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=retain_graph,
    )


def _zeros_like(tensors: Tensors) -> Tensors:
    return tuple(wrap(np.zeros_like(tensor.array)).requires_grad_() for tensor in tensors)


def _check_dependent(tensors: Any, strict: bool, what: str) -> None:
    """Raise RuntimeError where a derivative of first order is there, and does not vary."""
    listed = tensors if isinstance(tensors, tuple) else (tensors,)
    for index, tensor in enumerate(listed):
        if strict and tensor is None:
            _refuse_independence("output", f"input {index}")
        if strict and not tensor.requires_grad:
            raise RuntimeError(
                f"The {what} of the user-provided function with respect to input {index} is "
                "independent of the input. This is not allowed in strict mode: the function has to "
                "be differentiable once more."
            )


def _filled(
    found: Sequence[Tensor | None], like: Tensors, strict: bool, create_graph: bool
) -> Tensors:
    filled = []
    for index, (tensor, other) in enumerate(zip(found, like, strict=True)):
        if strict and tensor is None:
            _refuse_independence("output", f"input {index}")
        if strict and create_graph and tensor is not None and not tensor.requires_grad:
            _refuse_independence("jacobian", f"input {index}")
        filled.append(wrap(np.zeros_like(other.array)) if tensor is None else tensor)
    return tuple(filled)


def _refuse_independence(what: str, of: str) -> NoReturn:
    raise RuntimeError(
        f"The {what} of the user-provided function is independent of {of}. This is not allowed in "
        "strict mode."
    )


def _finished(tensors: Tensors, is_single: bool, create_graph: bool) -> Any:
    kept = tensors if create_graph else tuple(tensor.detach() for tensor in tensors)
    return kept[0] if is_single else kept


def _rows(
    nr: int, output: Tensor, given: Tensors, create_graph: bool, strict: bool, vectorize: bool
) -> Tensors:
    """Compute the Jacobian of output `nr` by each input."""
    if vectorize and output.requires_grad and output.numel():
        return _rows_at_once(output, given, create_graph)
    rows: list[Tensors] = []
    for element in output.reshape(-1).unbind(0) if output.numel() else ():
        found = _grads([element], given, [None], create_graph, retain_graph=True)
        for index, tensor in enumerate(found):
            if strict and tensor is None:
                raise RuntimeError(
                    f"Output {nr} of the user-provided function is independent of input {index}. "
                    "This is not allowed in strict mode."
                )
        rows.append(_filled(found, given, strict, create_graph))
    if not rows:
        return tuple(wrap(np.zeros((*output.shape, *t.shape), t.dtype)) for t in given)
    return tuple(
        ops.stack(list(column)).reshape((*output.shape, *tensor.shape))
        for column, tensor in zip(zip(*rows, strict=True), given, strict=True)
    )


def _construct_standard_basis_for(tensors: Sequence[Tensor], numels: Sequence[int]) -> Tensors:
    """Return the rows of a unit matrix over the elements of all tensors, in parts of each dtype.

    The name is PyTorch's private one.
    """
    total, first = sum(numels), 0
    parts = []
    for tensor, count in zip(tensors, numels, strict=True):
        parts.append(wrap(np.eye(total, count, -first, dtype=tensor.dtype)))
        first += count
    return tuple(parts)


def _rows_at_once(output: Tensor, given: Tensors, create_graph: bool) -> Tensors:
    count = output.numel()
    (rows_of_basis,) = _construct_standard_basis_for((output,), (count,))
    basis = rows_of_basis.reshape((count, *output.shape))
    found = grad(
        output,
        given,
        basis,
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=True,
        is_grads_batched=True,
    )
    return tuple(
        wrap(np.zeros((*output.shape, *tensor.shape), tensor.dtype))
        if rows is None
        else rows.reshape((*output.shape, *tensor.shape))
        for rows, tensor in zip(found, given, strict=True)
    )


def _forward_jacobian(func: Function, inputs: Any) -> Any:
    """Compute the Jacobian by a forward pass for each input element."""
    tensors, is_single = _checked(inputs, "inputs", "jacobian")
    given = tuple(tensor.detach() for tensor in tensors)
    columns: list[list[list[Tensor]]] = []
    is_single_output, shapes = True, []
    for index, tensor in enumerate(given):
        columns.append([])
        for position in range(tensor.numel()):
            tangent = np.zeros(tensor.numel(), tensor.dtype)
            tangent[position] = 1
            with forward_ad.dual_level():
                dual = forward_ad.make_dual(tensor, wrap(tangent.reshape(tensor.shape)))
                result = func(*given[:index], dual, *given[index + 1 :])
                outputs, is_single_output = _checked(
                    result, "outputs of the user-provided function", "jacobian"
                )
                parts = [forward_ad.unpack_dual(output) for output in outputs]
                columns[-1].append(
                    [
                        wrap(np.zeros_like(part.primal.array))
                        if part.tangent is None
                        else part.tangent.detach()
                        for part in parts
                    ]
                )
            shapes = [part.primal.shape for part in parts]
    rows = tuple(
        _finished(
            tuple(
                ops.stack([tangents[j] for tangents in column], -1).reshape((*shape, *tensor.shape))
                for column, tensor in zip(columns, given, strict=True)
            ),
            is_single,
            False,
        )
        for j, shape in enumerate(shapes)
    )
    return rows[0] if is_single_output else rows
