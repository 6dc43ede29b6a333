"""`autograd.grad` inside of transforms: what it may differentiate there, and examples of `vmap`.

As in PyTorch it knows only what the innermost of `func.grad`, `vjp` and `jvp` differentiates, and
leaves that were made inside of that. A batched tensor stands for many examples, whose graph is one:
each gets its own gradient, also by what is the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..batching.batched import Batched, Level
from ..batching.exposed import batches_of, expose, hide
from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from ..inplace.in_transforms import (
    Differentiated,
    innermost_differentiated,
    is_captured_tensor,
)
from .batched import grad_of_each
from .edges import TensorOrEdge, nodes_below
from .run_backward import one_for, run_backward


def is_of_examples(*ends: object) -> bool:
    """Return whether any tensor is batched."""
    return any(type(end) is Batched for end in ends)


def captured_inputs(
    roots: Sequence[TensorOrEdge], inputs: Sequence[TensorOrEdge]
) -> frozenset[int]:
    """Find the inputs that are not used: the innermost transform captures them, but not all roots.

    RuntimeError for what has no gradient in that transform.
    """
    transform = innermost_differentiated()
    if transform is None and not is_of_examples(*roots, *inputs):
        return frozenset()
    if all(_is_captured(root, transform) for root in roots):
        return frozenset()
    for nr, root in enumerate(roots):
        if not (_is_captured(root, transform) or _is_differentiated(root, transform)):
            raise RuntimeError(
                f"element {nr} of tensors does not require grad and does not have a grad_fn"
                f"{_advice(root)}"
            )
    captured = frozenset(nr for nr, of in enumerate(inputs) if _is_captured(of, transform))
    for nr, of in enumerate(inputs):
        if nr not in captured and not _is_differentiated(of, transform):
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad{_advice(of)}"
            )
    return captured


def _is_captured(end: TensorOrEdge, transform: Differentiated | None) -> bool:
    """Return whether a tensor requires grad outside of a transform, which captures it."""
    if transform is None or not isinstance(end, Tensor) or not end.requires_grad:
        return False
    return is_captured_tensor(end)


def _is_differentiated(end: TensorOrEdge, transform: Differentiated | None) -> bool:
    if not isinstance(end, Tensor):
        return True
    batches = batches_of(end)
    if transform is None:
        return not batches
    if any(level.depth >= transform.depth for level in batches):
        return False
    return not transform.nodes.isdisjoint(nodes_below([expose(end, batches)]))


def _advice(end: TensorOrEdge) -> str:
    if type(end) is not Batched:
        return ""
    return (
        " (vmap: the graph of a batched tensor is that of all examples: inside the function use "
        "gs.func.grad, vjp or jacrev)"
    )


def grad_of_examples(
    roots: Sequence[TensorOrEdge],
    inputs: Sequence[TensorOrEdge],
    cotangents: Sequence[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
) -> tuple[Tensor | None, ...]:
    """The gradients of batched tensors, for every example; None for an input that is not used.

    An input that is the same for all examples takes a pass for each of them.
    """
    given = [
        one_for(root) if cotangent is None else cotangent
        for root, cotangent in zip(roots, cotangents, strict=True)
    ]
    batches = batches_of(*(root for root in roots if isinstance(root, Tensor)))
    groups: dict[tuple[Level, ...], list[int]] = {}
    for nr, of in enumerate(inputs):
        missing = tuple(level for level in batches if level not in _batches(of))
        groups.setdefault(missing, []).append(nr)
    found: list[Tensor | None] = [None] * len(inputs)
    for place, (missing, numbers) in enumerate(groups.items()):
        grads = _pass(
            [
                (_exposed(root), _spread(cotangent, _batches(root), missing))
                for root, cotangent in zip(roots, given, strict=True)
                if {*_batches(root), *missing}.issuperset(batches)  # others do not depend on them
            ],
            [_exposed(inputs[nr]) for nr in numbers],
            bool(missing),
            keep_graph or place + 1 < len(groups),
            create_graph,
        )
        for nr, grad in zip(numbers, grads, strict=True):
            if grad is not None:
                found[nr] = _hidden(grad, missing, _batches(inputs[nr]))
    return tuple(found)


def _batches(end: TensorOrEdge) -> tuple[Level, ...]:
    return batches_of(end) if isinstance(end, Tensor) else ()


def _exposed(end: TensorOrEdge) -> TensorOrEdge:
    return expose(end, batches_of(end)) if isinstance(end, Tensor) else end


def _pass(
    pairs: Sequence[tuple[TensorOrEdge, Tensor]],
    inputs: Sequence[TensorOrEdge],
    several: bool,
    keep_graph: bool,
    create_graph: bool,
) -> Sequence[Tensor | None]:
    """The gradients of physical tensors, in one pass, or in one for each row of the cotangents."""
    if not pairs:
        return [None] * len(inputs)
    roots = [root for root, _ in pairs]
    cotangents: list[Any] = [cotangent for _, cotangent in pairs]
    run = partial(_run, roots, inputs, create_graph)
    if several:
        return grad_of_each(run, roots, cotangents, keep_graph)
    return run(cotangents, keep_graph)


def _run(
    roots: Sequence[TensorOrEdge],
    inputs: Sequence[TensorOrEdge],
    create_graph: bool,
    cotangents: Sequence[Tensor | None],
    keep_graph: bool,
) -> tuple[Tensor | None, ...]:
    return run_backward(roots, cotangents, keep_graph, create_graph, inputs, allow_unreachable=True)


def _spread(cotangent: Tensor, own: tuple[Level, ...], missing: tuple[Level, ...]) -> Tensor:
    """The cotangents of a physical root, along a new first dimension those of single examples.

    Of levels that an input is `missing` each row is of one example, and zero for all others.
    """
    alone = [level for level in missing if level not in own]
    spread = expose(cotangent, (*alone, *own))
    names: list[tuple[bool, Level]] = [
        *((True, level) for level in alone),
        *((False, level) for level in own),
    ]
    for level in reversed(missing):
        if level in own:
            place = names.index((False, level))
            shape = [level.size, *(1,) * spread.ndim]
            shape[place + 1] = level.size
            spread = ops.mul(_unit_vectors(level.size, spread).reshape(shape), spread)
        else:
            place = names.index((True, level))
            names.pop(place)
            order = [dim for dim in range(spread.ndim) if dim != place]
            spread = ops.permute(spread, [place, *order])
        names.insert(0, (True, level))
    if missing:
        spread = ops.flatten(spread, 0, len(missing) - 1)
    return spread


def _unit_vectors(size: int, like: Tensor) -> Tensor:
    return wrap(like.new_zeros((size, size)).fill_diagonal_(1).array)


def _hidden(grad: Tensor, missing: tuple[Level, ...], own: tuple[Level, ...]) -> Tensor:
    if missing:
        grad = ops.reshape(grad, (*(level.size for level in missing), *grad.shape[1:]))
    return hide(grad, (*missing, *own))
