"""`backward` and `grad`: what a backward pass is asked for, checked before it starts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from .. import engine
from ..node import AccumulateGrad, Node
from ..tensor import Tensor, wrap

TensorOrTensors: TypeAlias = Tensor | Iterable[Tensor]
Gradients: TypeAlias = Tensor | Iterable[Tensor | None] | None


def backward(
    tensors: TensorOrTensors,
    grad_tensors: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Gradients = None,
    inputs: TensorOrTensors | None = None,
) -> None:
    """Add the gradient of `tensors` to the `grad` of the leaves they were computed from.

    Parameters
    ----------
    tensors
        The roots. One element each, unless `grad_tensors` gives their cotangents.
    grad_tensors
        The cotangent of each root, of its shape; None stands for 1.0.
    retain_graph
        Keep what the graph saved, for another pass; by default what `create_graph` is.
    create_graph
        Record the pass, so that the gradients can be differentiated.
    grad_variables
        The old name of `grad_tensors`.
    inputs
        Accumulate into these tensors only; they need not be leaves.

    Raises
    ------
    RuntimeError
        If a root requires no gradient, a cotangent does not fit its root, or the graph was freed.
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else _tensors(inputs, "inputs")
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _roots(_tensors(tensors, "tensors"), grad_tensors)
    targets = None if wanted is None else _vertices(wanted)
    found = engine.run_backward(
        roots,
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        targets=targets,
    )
    if wanted is not None and targets is not None:
        _accumulate(wanted, dict(zip(targets, found, strict=True)), create_graph)


def grad(
    outputs: TensorOrTensors,
    inputs: TensorOrTensors,
    grad_outputs: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradient of `outputs` with respect to each of `inputs`; accumulates nothing.

    Parameters
    ----------
    outputs, grad_outputs, retain_graph, create_graph
        As the first parameters of `backward`.
    inputs
        Leaves or results that `outputs` were computed from.
    only_inputs
        Ignored.
    allow_unused
        Answer None for an input that `outputs` do not depend on, instead of raising.
    is_grads_batched
        Not available.
    materialize_grads
        Answer zeros instead of None.

    Raises
    ------
    RuntimeError
        As `backward` does, and for an input that requires no gradient or is not used.
    ValueError
        If `materialize_grads` meets `allow_unused=False`.
    """
    if not only_inputs:
        warnings.warn("only_inputs is deprecated and ignored", FutureWarning, stacklevel=2)
    if is_grads_batched:
        raise RuntimeError("is_grads_batched=True is not available: call grad() for each cotangent")
    if materialize_grads:
        if allow_unused is False:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, "
                "but got: allow_unused=False."
            )
        allow_unused = True
    wanted = _tensors(inputs, "inputs")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for tensor in wanted:
        if tensor.edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    targets = _vertices(wanted)
    found = engine.run_backward(
        _roots(_tensors(outputs, "outputs"), grad_outputs),
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        targets=targets,
    )
    by_vertex = dict(zip(targets, found, strict=True))
    grads = [by_vertex[_vertex(tensor)] for tensor in wanted]
    for index, (tensor, arrived) in enumerate(zip(wanted, grads, strict=True)):
        if arrived is not None:
            continue
        if not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior."
            )
        if materialize_grads:
            grads[index] = wrap(np.zeros_like(tensor.array))
    return tuple(grads)


def _tensors(value: TensorOrTensors, role: str) -> tuple[Tensor, ...]:
    """One tensor or several, as a tuple."""
    if isinstance(value, Tensor):
        return (value,)
    tensors = tuple(value)
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"`{role}` have to be Tensors, but got {type(tensor).__name__}")
    return tensors


def _vertex(tensor: Tensor) -> Node:
    """Where the gradient of a tensor arrives."""
    if tensor.edge is None:
        raise RuntimeError("a Tensor among the inputs has requires_grad=False: it gets no gradient")
    return tensor.edge


def _vertices(tensors: Sequence[Tensor]) -> list[Node]:
    """The vertices of several tensors, each once."""
    return list(dict.fromkeys(map(_vertex, tensors)))


def _roots(tensors: tuple[Tensor, ...], gradients: Gradients) -> list[tuple[Node, Tensor]]:
    """The vertex and the cotangent of each root."""
    if gradients is None:
        cotangents: tuple[Tensor | None, ...] = (None,) * len(tensors)
    elif isinstance(gradients, Tensor):
        cotangents = (gradients,)
    else:
        cotangents = tuple(gradients)
    if len(cotangents) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(cotangents)} gradients")
    roots = []
    for index, (tensor, cotangent) in enumerate(zip(tensors, cotangents, strict=True)):
        if cotangent is not None:
            _check_cotangent(index, tensor, cotangent)
        if tensor.edge is None:
            raise RuntimeError(
                f"element {index} of tensors does not require grad and does not have a grad_fn"
            )
        if cotangent is None:
            cotangent = _one(tensor)
        elif cotangent.array.dtype != tensor.array.dtype and tensor.array.dtype.kind != "O":
            cotangent = cotangent.to(tensor.array.dtype)
        roots.append((tensor.edge, cotangent))
    return roots


def _one(tensor: Tensor) -> Tensor:
    """The cotangent that may be left out: 1.0, for a single real element."""
    if tensor.array.size != 1:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs; this one has shape "
            f"{list(tensor.shape)}: sum it, or say what its gradient is"
        )
    if tensor.array.dtype.kind not in "fO":  # O: the symbols of a proof
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"{tensor.array.dtype}"
        )
    return wrap(np.ones_like(tensor.array))


def _check_cotangent(index: int, tensor: Tensor, cotangent: object) -> None:
    if not isinstance(cotangent, Tensor):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(cotangent).__name__}"
        )
    if cotangent.array.shape != tensor.array.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {cotangent.shape} and "
            f"output[{index}] has a shape of {tensor.shape}."
        )
    if cotangent.is_complex() != tensor.is_complex() and tensor.array.dtype.kind != "O":
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{index}] has a dtype of {cotangent.dtype} "
            f"and output[{index}] has a dtype of {tensor.dtype}."
        )


def _accumulate(
    tensors: Sequence[Tensor], grads: dict[Node, Tensor | None], create_graph: bool
) -> None:
    """Add to the `grad` of tensors what arrived at their vertices, to each once."""
    for tensor in tensors:
        vertex = _vertex(tensor)
        arrived = grads.pop(vertex, None)
        if arrived is None:
            continue
        if isinstance(vertex, AccumulateGrad):
            accumulate = vertex.apply_differentiable if create_graph else vertex.apply
            accumulate(arrived if create_graph else arrived.array, ())
        elif create_graph:
            tensor._grad = arrived if tensor.grad is None else tensor.grad + arrived
        else:
            tensor.add_to_grad(arrived.array)
