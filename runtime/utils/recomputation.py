"""Calls whose saved values are not kept: they are computed again when a gradient needs them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Final
from weakref import ref

from ..core.modes import enable_grad, observe
from ..core.random_generator import current_generator
from ..core.tensor import Tensor
from ..graph.graph_task import current_task_number
from ..graph.saved_tensor_hooks import saved_tensors_hooks
from .selective import Watching

__all__ = ["CheckpointError", "Frame", "GraphExecGroup", "SameNumbers"]


class CheckpointError(RuntimeError):
    """A function computed something else the second time."""


class SameNumbers:
    """Block with the random numbers that there were at another time."""

    def __init__(self, preserve: bool) -> None:
        self.state = current_generator().bit_generator.state if preserve else None

    def __enter__(self) -> None:
        if self.state is not None:
            self.before = current_generator().bit_generator.state
            current_generator().bit_generator.state = self.state

    def __exit__(self, *_: object) -> None:
        if self.state is not None:
            current_generator().bit_generator.state = self.before


class _Groups(threading.local):
    """The group of this thread."""

    def __init__(self) -> None:
        self.current: GraphExecGroup | None = None


_groups: Final = _Groups()


class GraphExecGroup:
    """Block whose backward passes share what one recomputation of a checkpoint has found.

    They must not need the same saved value: that is a RuntimeError.
    """

    def __enter__(self) -> GraphExecGroup:
        if _groups.current is not None:
            raise RuntimeError("GraphExecGroup contexts cannot be nested")
        _groups.current = self
        return self

    def __exit__(self, *_: object) -> None:
        _groups.current = None


class _Enough(Exception):
    """All saved values are there: the rest of a recomputation has no use."""

    def __init__(self, frame: Frame) -> None:
        super().__init__("the recomputation of a checkpoint has all that it needs")
        self.frame = frame


class _Place:
    """Placeholder that a node keeps for a saved tensor; holds the value found in each pass."""

    __slots__ = ("__weakref__", "number", "values")

    def __init__(self, number: int) -> None:
        self.number = number
        self.values: dict[Hashable, Tensor | None] = {}


class Frame:
    """A call without saved values, and how to make it again.

    The nodes keep places, which the frame does not keep alive: values that no node asks for any
    more are not stored.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        preserve_rng_state: bool,
        contexts: tuple[AbstractContextManager[Any], AbstractContextManager[Any]],
        checks_metadata: bool,
        stops_early: bool,
        debug: bool,
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.first_context, self.second_context = contexts
        self.checks_metadata = checks_metadata
        self.stops_early = stops_early
        self.logs: list[list[str]] | None = [] if debug else None
        self.numbers = SameNumbers(preserve_rng_state)
        self.places: list[ref[_Place]] = []
        self.metadata: list[tuple[Any, Any]] = []
        self.is_complete = False
        self.passes: set[Hashable] = set()
        """The passes that this call was made again for."""

    def run(self) -> Any:
        """Call the function; its nodes keep places."""
        with ExitStack() as stack:
            self._enter_log(stack)
            stack.enter_context(saved_tensors_hooks(self._pack, self._unpack))
            stack.enter_context(self.first_context)
            result = self._call(self.first_context)
        self.is_complete = True
        return result

    def _call(self, context: AbstractContextManager[Any]) -> Any:
        if isinstance(context, Watching):
            return context.call(self.function, self.args, self.kwargs)
        return self.function(*self.args, **self.kwargs)

    def _enter_log(self, stack: ExitStack) -> None:
        if self.logs is None:
            return
        names: list[str] = []
        self.logs.append(names)

        def note(results: tuple[Tensor, ...]) -> None:
            node = results[0].grad_fn
            if node is not None:
                names.append(f"{node.name()} of {list(results[0].shape)}")

        stack.enter_context(observe(note))

    def _pack(self, tensor: Tensor) -> _Place:
        place = _Place(len(self.places))
        self.places.append(ref(place))
        self.metadata.append((tensor.shape, tensor.dtype))
        return place

    def _unpack(self, place: _Place) -> Tensor:
        number = current_task_number()
        key: Hashable = _groups.current if number != -1 and _groups.current else number
        if number == -1:
            key = object()  # Nothing is kept from one look at a node to the next.
        if key not in self.passes:
            self._recompute(key)
            self.passes.add(key)
        found = place.values.get(key)
        place.values[key] = None
        if number == -1:
            self._forget(key)
        if found is None:
            raise CheckpointError(_TWICE_IN_GROUP if key is _groups.current else _TWICE)
        return found

    def _forget(self, key: Hashable) -> None:
        self.passes.discard(key)
        for reference in self.places:
            place = reference()
            if place is not None:
                place.values.pop(key, None)

    def _recompute(self, key: Hashable) -> None:
        """Call the function again, and store what it saves at the places of its nodes."""
        found: list[tuple[Any, Any]] = []
        was_complete = self.is_complete

        def pack(tensor: Tensor) -> Tensor:
            value = tensor.detach() if tensor.requires_grad else tensor
            found.append((value.shape, value.dtype))
            if len(found) > len(self.places):
                if was_complete:
                    raise CheckpointError(
                        "torch.utils.checkpoint: trying to save more tensors during recomputation "
                        "than during the original forward pass."
                    )
                return value
            place = self.places[len(found) - 1]()
            if place is not None:
                place.values[key] = value
            if self.stops_early and len(found) == len(self.places):
                raise _Enough(self)
            return value

        try:
            with ExitStack() as stack:
                stack.enter_context(enable_grad())
                stack.enter_context(self.numbers)
                self._enter_log(stack)
                stack.enter_context(saved_tensors_hooks(pack, lambda tensor: tensor))
                stack.enter_context(self.second_context)
                self._call(self.second_context)
        except _Enough as stop:
            if stop.frame is not self:
                raise
        if was_complete:
            self._compare(found)

    def _compare(self, found: list[tuple[Any, Any]]) -> None:
        """Raise CheckpointError if the second call saved something else than the first."""
        if len(found) != len(self.metadata):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation: "
                f"{len(self.metadata)}, then {len(found)}." + self._logged()
            )
        if self.checks_metadata and found != self.metadata:
            pairs = zip(self.metadata, found, strict=True)
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                "different metadata than during the forward pass (shape and dtype, before and "
                f"after): {[pair for pair in pairs if pair[0] != pair[1]]}" + self._logged()
            )

    def _logged(self) -> str:
        if self.logs is None:
            return ""
        return (
            "\nYou are seeing this error because you passed `debug=True` to checkpoint, or set it "
            "with set_checkpoint_debug_enabled. Nodes of the original forward: "
            f"{', '.join(self.logs[0])}. Nodes of the recomputation: {', '.join(self.logs[-1])}."
        )


_TWICE: Final = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
    "once. If you are calling ctx.saved_tensors in backward, make sure to do so only once."
)
_TWICE_IN_GROUP: Final = (
    "torch.utils.checkpoint: Performing two backward calls that overlap (both need the same saved "
    "tensor) is not supported under one GraphExecGroup."
)
