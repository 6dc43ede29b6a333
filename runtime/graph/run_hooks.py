"""Calling the hooks of a node, and checking what they answer.

The order is PyTorch's: tensor hooks in the order of registration, `retain_grad`, node pre-hooks,
the node itself, post-accumulate hooks, node hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.accumulate_grad import AccumulateGrad
from ..core.hooks import Hooks
from ..core.node import Node
from ..core.tensor import Tensor, wrap
from .anomaly import is_anomaly_check_nan_enabled, refuse_nan
from .graph_task import Gradient


def call_tensor_hooks(
    node: Node, hooks: Hooks, grad: Gradient | None, on_tensors: bool
) -> Gradient | None:
    """Call the tensor hooks on what arrives at a node: on each output's gradient, if any.

    Hooks see None where no gradient has arrived.
    """
    if not node.has_several_outputs:
        grad = _call_hooks_of(hooks, grad, on_tensors)
        if hooks.retain is not None:
            hooks.retain(_as_optional_tensor(grad))
        return grad
    if not hooks.outputs:
        return grad
    grads = [None] * node.output_count if grad is None else list(grad)
    own = list(hooks.outputs.items())
    for output_nr, of_output in own:
        grads[output_nr] = _call_hooks_of(of_output, grads[output_nr], on_tensors)
    for output_nr, of_output in own:
        if of_output.retain is not None:
            of_output.retain(_as_optional_tensor(grads[output_nr]))
    return grads


def _call_hooks_of(hooks: Hooks, grad: Gradient | None, on_tensors: bool) -> Gradient | None:
    for hook in list(hooks.on_grad.values()):
        replaced = hook(_as_optional_tensor(grad))
        if replaced is not None:
            if grad is None:
                raise _nothing_to_replace()
            grad = _carried(_checked(hook, replaced, grad), on_tensors)
    return grad


def call_node_hooks(
    node: Node, hooks: Hooks, grad: Gradient | None, needs: Sequence[object], on_tensors: bool
) -> Sequence[Gradient]:
    """Run a node between its pre-hooks, which may replace what arrives, and its hooks."""
    several = node.has_several_outputs
    grads: Sequence[Gradient | None] = grad if several and grad is not None else (grad,)
    if several and grad is None:
        grads = (None,) * node.output_count
    arriving = tuple(map(_as_optional_tensor, grads))
    for hook in list(hooks.before_node.values()):
        arriving = _replaced(hook, hook(arriving), arriving)
    given = [_carried(tensor, on_tensors) for tensor in arriving]
    arrives = any(tensor is not None for tensor in given)  # None: as if no hook had looked
    is_first = type(node) is AccumulateGrad and node.variable.grad is None
    leaving = run_with_saved(
        node, (given if several else given[0]) if arrives else None, needs, on_tensors
    )
    if is_anomaly_check_nan_enabled():
        refuse_nan(node, leaving)
    if not hooks.after_node:
        return leaving
    answers = tuple(
        _as_optional_tensor(leaves) if needed else None
        for leaves, needed in zip(leaving, needs, strict=True)
    )
    if is_first and not on_tensors and given[0] is not None and given[0].base is None:
        # PyTorch's leaf keeps such an array, so that its hooks see, and write to, its gradient.
        arriving = (node.variable.grad.detach(),)
    for hook in list(hooks.after_node.values()):
        answers = _replaced(hook, hook(answers, arriving), answers)
    return [_carried(tensor, on_tensors) for tensor in answers]


def run_with_saved(
    node: Node, grad: Gradient | None, needs: Sequence[object], on_tensors: bool
) -> Sequence[Gradient]:
    """Run a node on what it saved: unpacked by hooks, refused if it was overwritten."""
    if not node.runs_without_grad and (
        grad is None or (node.is_ordinary and _holds_nothing(grad))
    ):  # taken away by a pre-hook
        return (None,) * len(node.next_nodes)
    if grad is None and node.has_several_outputs:
        grad = [None] * node.output_count
    apply = node.apply_differentiable if on_tensors else node.apply
    hooks = node.hooks
    if hooks is None:
        return apply(grad, needs)
    if hooks.guard is not None:
        hooks.guard(node)
    if hooks.packed is None:
        return apply(grad, needs)
    with hooks.packed.unpacked(node):
        return apply(grad, needs)


def _holds_nothing(grad: Gradient) -> bool:
    """Return whether none of several gradients is there, of which generated nodes need one."""
    return type(grad) is list and all(each is None for each in grad)


def _replaced(
    hook: Callable[..., Any], answer: Any, before: tuple[Tensor | None, ...]
) -> tuple[Tensor | None, ...]:
    """The gradients after a node hook: its answer, if it has one."""
    if answer is None:
        return before
    if not isinstance(answer, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(answer).__name__}'")
    if len(answer) != len(before):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(answer)}, "
            f"but expected {len(before)})"
        )
    for replaced, original in zip(answer, before, strict=True):
        if replaced is original or replaced is None:
            continue
        if original is None:
            raise _nothing_to_replace()
        _checked(hook, replaced, original)
    return answer


def _nothing_to_replace() -> RuntimeError:
    return RuntimeError("can't replace a None gradient with a non-None value")


def _checked(hook: Callable[..., Any], replaced: object, grad: Gradient) -> Tensor:
    """Check that what a hook returned can stand for the gradient."""
    if not isinstance(replaced, Tensor):
        raise TypeError(
            f"expected Variable (a Tensor or None), but hook '{_name(hook)}' returned "
            f"'{type(replaced).__name__}'"
        )
    if tuple(replaced.array.shape) != tuple(grad.shape):
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the size of value: {tuple(grad.shape)} became "
            f"{tuple(replaced.array.shape)}"
        )
    if replaced.array.dtype != grad.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value: {grad.dtype} became "
            f"{replaced.array.dtype}"
        )
    return replaced


def _name(hook: Callable[..., Any]) -> str:
    name: str = getattr(hook, "__name__", type(hook).__name__)
    return name


def _carried(tensor: Tensor | None, on_tensors: bool) -> Gradient | None:
    """A gradient as the pass carries it: a tensor or an array."""
    return tensor if tensor is None or on_tensors else tensor.array


def as_tensor(grad: Gradient) -> Tensor:
    """A gradient as hooks see it."""
    return grad if isinstance(grad, Tensor) else wrap(grad)


def _as_optional_tensor(grad: Gradient | None) -> Tensor | None:
    return None if grad is None else as_tensor(grad)
