"""The context of a custom function, by which its forward saves values for its backward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core.node import FREED, Node, freed_graph
from ..core.storage import Alias, changes_of, own_alias
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from ..forward_ad.dual import Level, with_tangent
from ..graph.raw_saved import (
    SavedTensor,
    after_freed,
    hooks_are_set,
    nothing_saved,
    without_history,
)
from ..graph.saved_tensor_hooks import Pack, PackedValue, Unpack, current_hooks, pack_tensor
from ..graph.saved_values import check_writes

_NODE_ATTRIBUTES = frozenset(
    ["name", "next_functions", "metadata", "register_hook", "register_prehook", "_sequence_nr"]
)


class ContextNode(Node):
    """Node with a context, which asks it for the node of a saved output."""

    is_ordinary = False
    runs_without_grad = True

    __slots__ = ()

    def output_node(self, output_nr: int) -> Node | None:
        """Return the node of an output."""
        raise NotImplementedError


class Saved(NamedTuple):
    """Saved value, with the version of its memory at that time."""

    tensor: Tensor | None
    """None for an output: a reference to it would close a cycle with the node."""
    array: np.ndarray[Any, Any] | None
    alias: Alias | None
    version: int
    output_nr: int
    packed: PackedValue | None = None
    """Used instead of the other fields, if saved-tensor hooks packed the value."""


class FunctionCtx:
    """Context of one call, `ctx`: saved tensors, marks on outputs, and attributes of the user's."""

    needs_input_grad: tuple[bool, ...]
    """Tells for each argument of `apply` if its gradient is needed."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._to_save: tuple[Tensor | None, ...] = ()
        self._saved: tuple[Saved, ...] | None = ()
        self._for_forward: tuple[Tensor | None, ...] | None = None
        self._node: Callable[[], ContextNode | None] = lambda: None
        self._not_differentiable: frozenset[int] = frozenset()
        """The ids of marked outputs; once recorded, the numbers of all outputs without gradient."""
        self._dirty: frozenset[int] = frozenset()
        """The ids of the inputs that were modified in place."""
        self._marked: tuple[Tensor, ...] = ()
        """The tensors that were marked: as long as they live, no others have their ids."""
        self._materialize = True
        self._materialize_non_diff_grads = True
        """True if zeros replace the gradient of an output that has none."""
        self._is_pure_view = False
        """True if `forward` computes nothing but a view, so that in-place ops may bypass it."""
        self._clears_on_access = False
        self._output_tangents: list[tuple[Level, tuple[Tensor | None, ...]]] = []

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save inputs, outputs or intermediate values for `backward`.

        TypeError for anything but tensors, once it is known that there will be a backward.
        """
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save values for `jvp`, which finds them in `saved_tensors`."""
        _check_tensors("save_for_forward", tensors)
        self._for_forward = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """Return the saved tensors. RuntimeError once freed, or if one was modified in place since.

        In `jvp` these are the tensors saved by `save_for_forward`.
        """
        if self._for_forward is not None:
            return self._for_forward
        if self._saved is None:
            raise _accessed_twice() if self._clears_on_access else freed_graph()
        tensors = tuple(self._unpack(index, saved) for index, saved in enumerate(self._saved))
        if self._clears_on_access:
            self._saved = None
        return tensors

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """Return the saved tensors, under the old name of `saved_tensors`."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def mark_non_differentiable(self, *outputs: Tensor) -> None:
        """Mark outputs to which no gradient flows."""
        self._marked += outputs
        self._not_differentiable = frozenset(map(id, outputs))

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether `backward` gets zeros (the default) or None for an unused output."""
        self._materialize = value

    def mark_dirty(self, *inputs: Tensor) -> None:
        """Mark inputs that `forward` modified in place; it must return each of them."""
        self._marked += inputs
        self._dirty = frozenset(map(id, inputs))

    def _save_duals(self, arguments: Iterable[tuple[Any, Any]]) -> None:
        """Save duals in place of the primals that `forward` was called with."""
        duals = {id(primal): given for given, primal in arguments}
        self._to_save = tuple(duals.get(id(saved), saved) for saved in self._to_save)

    def _keep(self, outputs: Sequence[object]) -> None:
        """Pack the saved values, once it is known which of them are outputs."""
        _check_tensors("save_for_backward", self._to_save)
        positions = {id(output): nr for nr, output in enumerate(outputs)}
        self._saved = tuple(_pack(tensor, positions) for tensor in self._to_save)
        self._to_save = self._marked = ()

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """Return the saved values as objects that hooks can be registered on."""
        if self._saved is None:
            raise freed_graph()
        return tuple(
            SavedTensor(partial(self._register_hooks, index), partial(self._held, index))
            for index in range(len(self._saved))
        )

    def _held(self, index: int) -> Any:
        if self._saved is None:
            return FREED
        saved = self._saved[index]
        return saved.packed or self._unpack(index, saved)

    def __getattr__(self, name: str) -> Any:
        # In PyTorch the context is the node; here it answers for its node.
        node = self._node() if name in _NODE_ATTRIBUTES else None
        if node is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(node, name)

    def _register_hooks(self, index: int, pack: Pack, unpack: Unpack) -> None:
        """Let hooks pack one of the saved values; RuntimeError as `SavedTensor.register_hooks`."""
        if self._saved is None:
            raise after_freed()
        saved = self._saved[index]
        if saved.packed is not None:
            raise hooks_are_set()
        tensor = self._unpack(index, saved)
        if tensor is None:
            raise nothing_saved()
        packed = pack_tensor(tensor, without_history(pack), unpack, saved.output_nr >= 0)
        kept = Saved(None, None, None, 0, saved.output_nr, packed)
        self._saved = (*self._saved[:index], kept, *self._saved[index + 1 :])

    def _unpack(self, index: int, saved: Saved) -> Tensor | None:
        if saved.packed is not None:
            return self._restore(saved)
        if saved.array is None:
            return None
        node = self._node()
        found = 0 if saved.alias is None else saved.alias.version
        if saved.tensor is not None:
            found = changes_of(saved.tensor)
        if node is not None:
            grad_node = node if saved.tensor is None else saved.tensor.grad_node
            name = f"saved_tensors[{index}]"
            check_writes(node, name, saved.array, grad_node, found, saved.version)
        if saved.tensor is not None:
            return saved.tensor
        tensor = wrap(saved.array)
        tensor.alias = saved.alias
        if node is not None:
            tensor.grad_node = node.output_node(saved.output_nr)
        return self._with_tangents(tensor, saved.output_nr)

    def _restore(self, saved: Saved) -> Tensor:
        assert saved.packed is not None
        if saved.output_nr < 0:
            return saved.packed.restore_itself()
        tensor = saved.packed.restore()  # never what the hook keeps, which would hold its own node
        node = self._node()
        if node is not None:
            tensor.grad_node = node.output_node(saved.output_nr)
        return self._with_tangents(tensor, saved.output_nr)

    def _with_tangents(self, tensor: Tensor, output_nr: int) -> Tensor:
        for level, tangents in self._output_tangents:
            tangent = tangents[output_nr]
            tensor = tensor if tangent is None else with_tangent(tensor, tangent, level)
        return tensor


def _accessed_twice() -> RuntimeError:
    return RuntimeError(
        "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on "
        "the Function: keep what the first access answers, or leave the attribute out"
    )


def _check_tensors(method: str, tensors: tuple[object, ...]) -> None:
    for index, tensor in enumerate(tensors):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"{method} can only save variables, but argument {index} is of type "
                f"{type(tensor).__name__}; other values can be attributes of ctx"
            )


def _pack(tensor: Tensor | None, positions: dict[int, int]) -> Saved:
    if tensor is None:
        return Saved(None, None, None, 0, -1)
    output_nr = positions.get(id(tensor), -1)
    hooks = current_hooks()
    if hooks is not None:
        packed = pack_tensor(tensor, *hooks, output_nr >= 0)
        return Saved(None, None, None, 0, output_nr, packed)
    if output_nr >= 0:
        own_alias(tensor)  # by which a later modification of the output will be seen
    kept = None if output_nr >= 0 else tensor
    return Saved(kept, tensor.array, tensor.alias, changes_of(tensor), output_nr)
