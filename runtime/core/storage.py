"""Memory that several tensors lie on: how often it was written to, and who must be told.

A tensor that was never viewed nor written to has no `Alias`. Its first view, or the first write,
makes one; every further view shares it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from weakref import ref

import numpy as np

from .modes import is_recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from .node import Node
    from .tensor import Tensor

UNDER_NO_GRAD: Final = "no_grad"
SEVERAL_VIEWS: Final = "several"
INFERENCE: Final = "inference"
BY_FUNCTION: Final = "function"
"""The ways to make a view that restrict what may be done to it (`Tensor._view_kind`)."""

SWEEP_VIEWS_MIN: Final = 16


class Alias:
    """The record that a tensor shares with its views and with what was detached from it."""

    __slots__ = (
        *("_sweep_at", "creator", "detached", "memory", "outlived", "savers"),
        *("version", "views", "written_over"),
    )

    detached: int
    """The number of changes counted in `version` that were not writes but a `detach_`: a node that
    saved the tensor before does not know any more where it came from. Not set before the first."""

    memory: np.ndarray[Any, Any]
    """The whole array of which a view was detached, so that places in it can be counted from its
    beginning. Not set before, nor for a base that was given other memory since."""

    written_over: int
    """The number of views, which are in the order of creation, that are older than the last write;
    not set before the first."""
    outlived: bool
    """Set once a view may have a history though its base has none (any more)."""

    def __init__(self, grad_node: Node | None) -> None:
        self.version = 0
        self.creator = None if grad_node is None else ref(grad_node)
        """The node of the op that computed the values, which may have saved them."""
        self.savers: list[tuple[ref[Node], str, int]] = []
        """Nodes of in-place ops that saved their result: in which slot, and at which version."""
        self.views: list[ref[Tensor]] = []
        """Every view there is, and some that are no more: see `add_view`."""
        self._sweep_at = SWEEP_VIEWS_MIN

    def add_view(self, view: Tensor) -> None:
        """Remember a view, weakly; dead ones are swept out when their number has doubled."""
        views = self.views
        views.append(ref(view))
        if len(views) > self._sweep_at:
            written_over = getattr(self, "written_over", 0)
            if written_over:
                self.written_over = sum(view() is not None for view in views[:written_over])
            self.views = [view for view in views if view() is not None]
            self._sweep_at = 2 * len(self.views) + SWEEP_VIEWS_MIN

    def count_writes(self) -> int:
        """Count the writes to the memory."""
        return self.version - getattr(self, "detached", 0)

    def add_saver(self, node: Node, slot: str) -> None:
        """Remember a node that keeps the memory as it is now in one of its slots."""
        self.savers.append((ref(node), slot, self.version))

    def forget_dead_views(self) -> bool:
        """Return whether no view is left; then nothing is remembered either."""
        for view in self.views:
            if view() is not None:
                return False
        if self.views:
            self.views.clear()
            self.written_over = 0
        return True

    def bases(self) -> list[Tensor]:
        """The tensors that the views are views of, each once."""
        found = [base_of(view) for view in map(ref.__call__, self.views) if view is not None]
        return list(dict.fromkeys(base for base in found if base is not None))

    def views_of(self, root: Tensor) -> list[Tensor]:
        """The views of `root`; what was detached from it has views of its own."""
        found = (view() for view in self.views)
        return [view for view in found if view is not None and base_of(view) is root]


class _InferenceAlias(Alias):
    """The record that all tensors made in inference mode share: nothing is counted."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None)

    def add_view(self, view: Tensor) -> None:
        """Views of inference tensors have no history to keep."""

    @property
    def version(self) -> int:
        """Read when a node saves the tensor: RuntimeError, if the node is to stay."""
        if not is_recording():
            return 0
        raise RuntimeError(
            "Inference tensors cannot be saved for backward: this one was created in inference "
            "mode. clone() it outside of the mode to get a normal tensor."
        )

    @version.setter
    def version(self, value: int) -> None:
        pass


INFERENCE_ALIAS: Final[Alias] = _InferenceAlias()


def own_alias(tensor: Tensor) -> Alias:
    """The alias of `tensor`, made if there is none yet."""
    alias = tensor.alias
    if alias is None:
        alias = tensor.alias = Alias(tensor.grad_node)
    return alias


def changes_of(tensor: Tensor) -> int:
    """Return the version of `tensor`, which nodes that save it compare."""
    return 0 if tensor.alias is None else tensor.alias.version


def base_of(tensor: Tensor) -> Tensor | None:
    """The tensor that `tensor` is a view of; None if it is none."""
    base: Tensor | None = getattr(tensor, "_view_base", None)
    return base


def view_kind(tensor: Tensor) -> str | None:
    """Return the way a view was made, if it restricts anything."""
    kind: str | None = getattr(tensor, "_view_kind", None)
    return kind


when_shared: Final[list[Callable[[Tensor, Tensor], None]]] = []
"""Functions to tell of a tensor and a new one on its memory: see `inplace.in_transforms`."""


def share_memory(tensor: Tensor, other: Tensor) -> None:
    """`other` shares the memory of `tensor`, but is no view: it has a history of its own."""
    alias = other.alias = own_alias(tensor)
    base = base_of(tensor)
    if base is not None and alias is not INFERENCE_ALIAS and not hasattr(alias, "memory"):
        alias.memory = base.array
    for follow in when_shared:
        follow(tensor, other)


def place_like(tensor: Tensor, other: Tensor) -> None:
    """Tell `other`, whose writes are its own, where its memory is if `tensor` is only a part."""
    base = base_of(tensor)
    whole = getattr(tensor.alias, "memory", None)
    if base is not None and whole is None:
        whole = base.array
    if whole is not None:
        other.alias = Alias(None)
        other.alias.memory = whole
    for follow in when_shared:
        follow(tensor, other)


def share_alias(base: Tensor, view: Tensor) -> None:
    """`view` was made from `base` by an op that takes views where it can."""
    array = base.array
    owner = array if array.base is None else array.base
    if view.array.base is not owner and not np.may_share_memory(view.array, array):
        return  # NumPy had to copy
    alias = base.alias
    if alias is None:
        alias = base.alias = Alias(base.grad_node)
        view._view_base = base
    elif (root := getattr(base, "_view_base", None)) is None:
        view._view_base = base
    else:
        view._view_base = root
        kind = view_kind(base)
        if kind is not None:
            view._view_kind = kind
    view.alias = alias
    alias.add_view(view)


def share_alias_with_all(base: Tensor, views: tuple[Tensor, ...]) -> None:
    """`views` were made from `base` by one op, which is why none may be modified in place."""
    for view in views:
        share_alias(base, view)
        view._view_kind = SEVERAL_VIEWS
