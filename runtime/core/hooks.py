"""Hooks of one node of the graph, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Final

from .user_warnings import warn

_next_id: Final[Callable[[], int]] = count().__next__


class RemovableHandle:
    """Removes its hook on `remove()` or at the end of a `with` block."""

    __slots__ = ("_hooks", "id")

    def __init__(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        self.id = _next_id()
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook away; doing it twice is harmless."""
        self._hooks.pop(self.id, None)

    def hooks_dict_ref(self) -> dict[int, Callable[..., Any]]:
        """Return the hooks that this one is, or was, among, by their numbers."""
        return self._hooks

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Hooks:
    """The hooks around one node.

    `on_grad` (tensor hooks), then `retain` (for `retain_grad`, which sees what the hooks made of
    the gradient), then `before_node`; `after_node` once the node has run, and `after_accumulate`
    once a leaf's gradient has been added.
    """

    __slots__ = (
        "after_accumulate",
        "after_node",
        "before_node",
        "guard",
        "metadata",
        "on_grad",
        "outputs",
        "packed",
        "retain",
        "tangents",
    )

    def __init__(self) -> None:
        self.on_grad: dict[int, Callable[..., Any]] = {}
        self.retain: Callable[[Any], None] | None = None
        self.outputs: dict[int, Hooks] = {}
        """The hooks `on_grad` and `retain` of each output, for a node with several."""
        self.guard: Callable[[Any], None] | None = None
        """Called with the node, raises because what the node saved can no longer be used."""
        self.packed: Any = None
        """The saved values as saved-tensor hooks have packed them (`saved_tensor_hooks.Packed`)."""
        self.metadata: dict[str, Any] = {}
        """Notes of users and of anomaly mode about the node."""
        self.tangents: list[tuple[str, Any, Any]] = []
        """The slots that keep an output only as an array, with its tangent and the level of that,
        outermost first."""
        self.before_node: dict[int, Callable[..., Any]] = {}
        self.after_node: dict[int, Callable[..., Any]] = {}
        self.after_accumulate: dict[int, Callable[..., Any]] = {}

    def of_output(self, output_nr: int) -> Hooks:
        """The hooks of one of several outputs, which run when the node is about to."""
        return self.outputs.setdefault(output_nr, Hooks())

    def add(
        self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Register `hook` in one of the dicts above."""
        return RemovableHandle(hooks, hook)


def rest_hooks(leaf: Any) -> None:
    """Keep the tensor's own hooks while it asks for no gradient: it may start again."""
    if leaf.grad_node is not None and leaf.grad_node.hooks is not None:
        leaf._resting_hooks = leaf.grad_node.hooks


def wake_hooks(leaf: Any) -> None:
    """Give a leaf that asks for its gradient again the hooks that it had before."""
    former = getattr(leaf, "_resting_hooks", None)
    if former is not None:
        own = leaf.grad_node._own_hooks()
        own.on_grad, own.after_accumulate = former.on_grad, former.after_accumulate
        leaf._resting_hooks = None


def retain_into(tensor: Callable[[], Any]) -> Callable[[Any], None]:
    """The hook of `retain_grad`; a weak reference, because the tensor holds the hook."""

    def retain(grad: Any) -> None:
        kept = tensor()
        if kept is not None and grad is not None:
            before = getattr(kept, "_grad", None)
            kept._grad = grad.clone() if before is None else before + grad

    return retain


def warn_of_grad_of_result() -> None:
    """Warn where `grad` is read of a result that has no hook to keep it."""
    warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed: a backward "
        "pass does not fill it. Call retain_grad() before, or take the grad of the leaf Tensor."
    )
