"""`backward` and `grad`: check what a backward pass is asked for, and start it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeAlias

from ..batching.batched import Batched
from ..core.tensor import Size, Tensor
from ..core.torch_function import handle_torch_function, has_torch_function_unary
from ..core.user_warnings import warn
from ..dtypes.kinds import is_symbolic
from ..functions.creation import zeros_like
from ..inplace.in_transforms import is_differentiated, refuse_transformed
from .batched import grad_of_each
from .edges import GradientEdge, TensorOrEdge, shape_and_dtype
from .run_backward import refuse_unused, run_backward

TensorOrTensors: TypeAlias = TensorOrEdge | Iterable[TensorOrEdge]
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
        Keep the graph's saved values, for another pass; by default the value of `create_graph`.
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
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if create_graph:
        _warn_of_cycle()
    refuse_transformed("backward()")
    wanted = () if inputs is None else _tensors_or_edges(inputs, "inputs")
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _tensors_or_edges(tensors, "tensors")
    run_backward(
        roots,
        fitted_cotangents(roots, grad_tensors),
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        wanted,
        allow_unreachable=True,
        accumulate_grad=True,
    )


@cache
def _warn_of_cycle() -> None:
    """Warn, once in a process as PyTorch does, of the reference cycle that `create_graph` makes."""
    warn(
        "Using backward() with create_graph=True will create a reference cycle between the "
        "parameter and its gradient, which is freed by the garbage collector only. Use "
        "autograd.grad, or reset the grad of the parameters to None after use.",
    )


class BackwardMethods:
    """The method of `Tensor` that starts a backward pass."""

    __slots__ = ()

    def backward(
        self: Any,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to the `grad` of the leaves it was computed from.

        `gradient` has the shape of this tensor and may be left out for a single element;
        `inputs` restricts the pass to the given tensors. See `autograd.backward`.
        """
        if type(self) is not Tensor and has_torch_function_unary(self):
            handle_torch_function(
                Tensor.backward,
                (self,),
                self,
                gradient=gradient,
                retain_graph=retain_graph,
                create_graph=create_graph,
                inputs=inputs,
            )
            return
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


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
    """Return the gradient of `outputs` with respect to each of `inputs`; accumulate nothing.

    Parameters
    ----------
    outputs, grad_outputs, retain_graph, create_graph
        As the first parameters of `backward`.
    inputs
        Leaves or results that `outputs` were computed from.
    only_inputs
        Ignored.
    allow_unused
        Return None for an input that `outputs` do not depend on, instead of raising.
    is_grads_batched
        The first dimension of each of `grad_outputs` counts cotangents, and that of the results
        the gradient for each.
    materialize_grads
        Return zeros instead of None.

    Raises
    ------
    RuntimeError
        As `backward` does, and for an input that requires no gradient or is not used.
    ValueError
        If `materialize_grads` meets `allow_unused=False`.
    """
    if not only_inputs:
        warn("only_inputs is deprecated and ignored", FutureWarning)
    if materialize_grads:
        if allow_unused is False:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, "
                "but got: allow_unused=False."
            )
        allow_unused = True
    wanted = _tensors_or_edges(inputs, "inputs")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    roots = _tensors_or_edges(outputs, "outputs")
    keep_graph = create_graph if retain_graph is None else retain_graph

    def run(grads: Gradients, keep_graph: bool) -> tuple[Tensor | None, ...]:
        return run_backward(
            roots,
            fitted_cotangents(roots, grads),
            keep_graph,
            create_graph,
            wanted,
            allow_unreachable=bool(allow_unused),
            accumulate_grad=False,
        )

    cotangents = _as_tuple(roots, grad_outputs)
    has_examples = any(type(end) is Batched for end in (*roots, *wanted))
    unused: frozenset[int] = frozenset()
    if has_examples or is_differentiated():
        from .transformed import captured_inputs, grad_of_examples  # not at every start

        unused = captured_inputs(roots, wanted)
    if has_examples:
        if is_grads_batched:
            raise RuntimeError(
                "is_grads_batched=True of batched tensors: inside vmap use gs.func.vjp and vmap"
            )
        fitted = fitted_cotangents(roots, cotangents)
        found = grad_of_examples(roots, wanted, fitted, keep_graph, create_graph)
    elif is_grads_batched:
        found = grad_of_each(run, roots, cotangents, keep_graph)
    else:
        found = run(cotangents, keep_graph)
    if unused:
        found = tuple(None if nr in unused else grad for nr, grad in enumerate(found))
    if not allow_unused:
        refuse_unused(found)
    if not materialize_grads:
        return found
    return tuple(
        _zeros(of, create_graph) if arrived is None else arrived
        for of, arrived in zip(wanted, found, strict=True)
    )


def _zeros(of: TensorOrEdge, create_graph: bool) -> Tensor:
    """Make what `materialize_grads` answers for an input that was not used."""
    if not isinstance(of, Tensor):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge that is not "
            "used: an edge has no shape that zeros could have"
        )
    zeros = zeros_like(of)
    zeros.requires_grad = create_graph
    return zeros


def _tensors_or_edges(value: TensorOrTensors, role: str) -> tuple[TensorOrEdge, ...]:
    """Return one tensor or edge, or several, as a tuple."""
    if type(value) is Tensor:
        return (value,)
    items = (value,) if isinstance(value, Tensor | GradientEdge) else tuple(value)
    for item in items:
        if not isinstance(item, Tensor | GradientEdge):
            # Which of the two it is, is PyTorch's choice.
            kind = RuntimeError if role == "inputs" else TypeError
            raise kind(
                f"all {role} have to be Tensors or GradientEdges, but got {type(item).__name__}"
            )
    return items


def _as_tuple(roots: tuple[TensorOrEdge, ...], grads: Gradients) -> tuple[Tensor | None, ...]:
    """Return a cotangent or None for each root."""
    if grads is None:
        return (None,) * len(roots)
    cotangents = (grads,) if isinstance(grads, Tensor) else tuple(grads)
    for cotangent in cotangents:
        if cotangent is not None and not isinstance(cotangent, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(cotangent).__name__}"
            )
    if len(cotangents) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(cotangents)} gradients")
    return cotangents


def fitted_cotangents(
    roots: tuple[TensorOrEdge, ...], grads: Gradients
) -> tuple[Tensor | None, ...]:
    """Check the cotangent of each root, and cast it to the root's dtype; None where left out."""
    if grads is None:
        return (None,) * len(roots)
    cotangents = _as_tuple(roots, grads)
    return tuple(
        None if cotangent is None else _fitted(index, root, cotangent)
        for index, (root, cotangent) in enumerate(zip(roots, cotangents, strict=True))
    )


def _fitted(index: int, root: TensorOrEdge, cotangent: Tensor) -> Tensor:
    known = shape_and_dtype(root)
    if known is None:
        return cotangent
    shape, dtype = known
    if cotangent.array.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {cotangent.shape} and "
            f"output[{index}] has a shape of {Size(shape)}."
        )
    if dtype == cotangent.array.dtype or is_symbolic(dtype):
        return cotangent
    if cotangent.is_complex() != (dtype.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{index}] has a dtype of {cotangent.dtype} "
            f"and output[{index}] has a dtype of {dtype}."
        )
    return cotangent.to(dtype)
