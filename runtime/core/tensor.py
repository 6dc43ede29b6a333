"""`Tensor`: a NumPy array, the node of the graph that made it, and its gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast, overload
from weakref import ref

import numpy as np

from ..dtypes.kinds import DIFFERENTIABLE_KINDS
from ..dtypes.whole_numbers import dim_number
from .hooks import RemovableHandle, retain_into, warn_of_grad_of_result
from .missing import MissingMethod
from .node import Node, place_of
from .storage import INFERENCE_ALIAS, Alias, base_of, place_like, share_memory
from .storage import share_alias as share_alias
from .storage import share_alias_with_all as share_alias_with_all

if TYPE_CHECKING:
    from ..tensor_methods import TensorMethods
    from .accumulate_grad import AccumulateGrad
else:
    TensorMethods = object


class Size(tuple[int, ...]):
    """A shape: a tuple that prints as PyTorch's does."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        product = 1
        for length in self:
            product *= length
        return product

    def __repr__(self) -> str:
        return f"gradspec.Size({list(self)})"


class Tensor(TensorMethods):
    """A multi-dimensional array that can remember how it was computed.

    Made by `gs.tensor`, `gs.from_numpy`, `gs.zeros` and so on, and by ops. Here is what it holds
    and its place in the graph; `gradspec.tensor_methods` names the layers that define its other
    methods, which the package installs.

    Attributes
    ----------
    array : numpy.ndarray
        The values. Shared, not copied.
    grad_node : Node or None
        Where the gradient of this tensor goes; None if it does not require one.
    alias : Alias or None
        The record shared with views of the same memory; None for a tensor that has no views and
        was never modified in place.
    """

    __slots__ = (
        "__dict__",  # for attributes of users' own
        "__weakref__",
        "_dual_parts",
        "_grad",
        "_is_parameter",
        "_resting_hooks",
        "_view_base",
        "_view_kind",
        "alias",
        "array",
        "grad_node",
    )

    _call_op: ClassVar[Any] = None
    """The method by which the innermost of several such arguments calls an op, by name, or None."""

    # A tensor takes part in `array * tensor`: NumPy must leave the operator to us.
    __array_priority__ = 1000
    __array_ufunc__ = None

    array: np.ndarray[Any, Any]
    grad_node: Node | None
    alias: Alias | None
    _grad: Tensor | None
    _view_base: Tensor
    """Set for a view: the tensor, itself no view, on whose memory it lies."""
    _view_kind: str
    """Set for a view that must not be modified in place: the reason (see `storage`)."""
    _dual_parts: Any
    """Set for a dual (see `forward_ad`): a plain tensor can become one when it is written to."""
    _is_parameter: bool
    """Set for an `nn.Parameter`, which is of this class exactly, so that ops stay fast."""

    # ---- what it is

    @property
    def shape(self) -> Size:
        """The length of every dimension."""
        return Size(self.array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Size | int:
        """The shape, or the length of one dimension."""
        if dim is None:
            return self.shape
        return self.array.shape[normalize_dim(dim, self.array.ndim)]

    def numel(self) -> int:
        """The number of elements."""
        return self.array.size

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a real floating one."""
        return self.array.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Return whether the dtype is a complex one."""
        return self.array.dtype.kind == "c"

    # ---- its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Return whether gradients flow to this tensor."""
        return self.grad_node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        self.requires_grad_(value and self.is_leaf)  # a result refuses every change

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool, and cannot be deleted")

    @property
    def is_leaf(self) -> bool:
        """Return whether no recorded op made this tensor."""
        return self.grad_node is None or self.grad_node.is_leaf

    @property
    def grad_fn(self) -> Node | None:
        """The node of the op that made this tensor; None for a leaf."""
        node = self.grad_node
        return None if node is None or node.is_leaf else place_of(node)[0]

    @property
    def output_nr(self) -> int:
        """The position of this tensor among the outputs of `grad_fn`."""
        return 0 if self.grad_node is None else place_of(self.grad_node)[1]

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient; None until a backward pass reached this tensor."""
        try:
            grad = self._grad
        except AttributeError:
            grad = None
        if grad is None and not self.is_leaf and not self.retains_grad:
            warn_of_grad_of_result()
        return grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got {value!r}")
            if value is self:
                raise RuntimeError("can't assign a Tensor as its own grad")
            if value.array.shape != self.array.shape:
                raise RuntimeError(
                    f"assigned grad has data of a different size: {list(value.shape)}, "
                    f"the tensor has {list(self.shape)}"
                )
            if value.array.dtype != self.array.dtype:
                raise RuntimeError(
                    f"assigned grad has data of a different type: {value.dtype}, "
                    f"the tensor has {self.dtype}"
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool:
        """Return whether this result keeps its gradient (`retain_grad`)."""
        hooks = None if self.grad_node is None else self.grad_node.tensor_hooks()
        return hooks is not None and hooks.retain is not None

    @property
    def _version(self) -> int:
        """The number of times the memory was modified in place."""
        if self.alias is INFERENCE_ALIAS:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self.alias is None else self.alias.count_writes()

    def detach(self) -> Tensor:
        """A tensor on the same memory through which no gradient flows."""
        out = wrap(self.array)
        share_memory(self, out)
        return out

    @property
    def data(self) -> Tensor:
        """The values on the same memory, of which no version counts; assigning replaces it."""
        out = wrap(self.array)
        place_like(self, out)
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.grad_node is not None:
            if value.array.dtype.kind not in DIFFERENTIABLE_KINDS:
                raise RuntimeError(
                    "data set to a tensor that requires gradients must be floating point or "
                    f"complex dtype, not {value.array.dtype}"
                )
            if self.grad_node.is_leaf:
                cast("AccumulateGrad", self.grad_node).array = value.array
        self.array = value.array
        if (value.alias is INFERENCE_ALIAS) is not (self.alias is INFERENCE_ALIAS):
            self.alias = INFERENCE_ALIAS if value.alias is INFERENCE_ALIAS else None

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed: delete the tensor")

    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of; None if it is no view, or for inference."""
        return None if self.alias is INFERENCE_ALIAS else base_of(self)

    def __dir__(self) -> list[str]:
        """List the attributes, but for private slots, which may be empty, and what is missing."""
        hidden = {slot for slot in Tensor.__slots__ if slot.startswith("_") and slot[1] != "_"}
        hidden.update(name for name, value in vars(Tensor).items() if type(value) is MissingMethod)
        return [name for name in super().__dir__() if name not in hidden]

    def is_inference(self) -> bool:
        """Return whether this tensor was made in inference mode."""
        return self.alias is INFERENCE_ALIAS

    def _is_view(self) -> bool:
        """Return whether this tensor is a view of another."""
        return self._base is not None

    def _as_operand(self) -> Tensor:
        """Return the tensor that an op computes with where this one is its argument.

        That is a plain one on the same memory, for a subclass that does not override it.
        """
        if type(self) is Tensor:
            return self
        plain = wrap(self.array)
        plain.grad_node = self.grad_node
        share_memory(self, plain)
        return plain

    def retain_grad(self) -> None:
        """Keep `grad` for this result too; does nothing for a leaf, which always does."""
        grad_node = self.grad_node
        if grad_node is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if not self.is_leaf:
            grad_node._own_hooks().retain = retain_into(ref(self))

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook(grad)` whenever the gradient of this tensor has been computed.

        What it returns, if not None, takes the place of the gradient.
        """
        grad_node = self.grad_node
        if grad_node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        hooks = grad_node._own_hooks()
        return hooks.add(hooks.on_grad, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook(self)` whenever a backward pass has added to the `grad` of this leaf."""
        grad_node = self.grad_node
        if grad_node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not grad_node.is_leaf:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        hooks = grad_node._own_hooks()
        return hooks.add(hooks.after_accumulate, hook)


new_tensor: Final[Callable[[], Tensor]] = partial(object.__new__, Tensor)
"""A tensor without anything; the caller sets `array`, `grad_node` and `alias`."""


def wrap(array: np.ndarray[Any, Any]) -> Tensor:
    """A leaf on `array`, without a copy."""
    out = new_tensor()
    out.array = array if isinstance(array, np.ndarray) else np.asanyarray(array)
    out.grad_node = out.alias = None
    return out


def normalize_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; IndexError if there is none such, as in PyTorch."""
    if type(dim) is not int:
        dim = dim_number(dim)
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], "
            f"but got {dim})"
        )
    return dim + span if dim < 0 else dim
