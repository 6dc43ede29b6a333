"""`Tensor`: a NumPy array, the node of the graph that made it, and its gradient."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

import numpy as np

from ..functions.complex_parts import ComplexParts
from ..functions.composites import CompositeMethods, gradient_for
from ..functions.conversion import ConversionMethods
from ..functions.numpy_protocol import ValueMethods
from .dtype_kinds import DIFFERENTIABLE_KINDS
from .hooks import RemovableHandle, rest_hooks, retain_into, wake_hooks, warn_of_grad_of_result
from .modes import refuse_inference
from .node import AccumulateGrad, Node, leads_nowhere, nowhere, place_of
from .storage import INFERENCE_ALIAS, Alias, base_of, own_alias, share_memory
from .storage import share_alias as share_alias
from .storage import share_alias_with_all as share_alias_with_all
from .strides import copy_in_order_of

if TYPE_CHECKING:
    from ..autograd.backward import BackwardMethods
    from ..generated.methods import TensorMethods

    class _Installed(BackwardMethods, TensorMethods):
        """What modules above this one define; copied in by `install`."""

        __slots__ = ()
else:
    _Installed = object


_adding: Final = threading.RLock()
"""Held while a leaf's gradient grows: passes of several threads may share the leaf."""


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


class Tensor(ComplexParts, CompositeMethods, ConversionMethods, ValueMethods, _Installed):
    """A multi-dimensional array that can remember how it was computed.

    Made by `gs.tensor`, `gs.from_numpy`, `gs.zeros` and so on, and by ops. The methods that are
    ops of the table are installed by the package from `gradspec.generated`.

    Attributes
    ----------
    array : numpy.ndarray
        The values. Shared, not copied.
    edge : Node or None
        Where the gradient of this tensor goes; None if it does not require one.
    alias : Alias or None
        The record shared with views of the same memory; None for a tensor that has no views and
        was never modified in place.
    """

    __slots__ = (
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
    """Set for a view that must not be modified in place: why (see `aliasing`)."""
    _dual_parts: Any
    """Set for a dual (see `forward_mode`): a plain tensor can become one when it is written to."""
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

    def size(self, dim: int | None = None) -> Size | int:
        """The shape, or the length of one dimension."""
        if dim is None:
            return self.shape
        return self.array.shape[normalize_dim(dim, self.array.ndim)]

    def numel(self) -> int:
        """The number of elements."""
        return self.array.size

    def is_floating_point(self) -> bool:
        """Whether the dtype is a real floating one."""
        return self.array.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one."""
        return self.array.dtype.kind == "c"

    # ---- its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor."""
        return self.grad_node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        self.requires_grad_(value and self.is_leaf)  # a result refuses every change

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start or stop asking for the gradient of a leaf, in place.

        Raises RuntimeError for a result of an op, and for a dtype that has no derivative.
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(f"requires_grad_() takes a bool, not {type(requires_grad).__name__}")
        if not self.is_leaf:
            if requires_grad:
                return self
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. To use a computed "
                "value where no gradient should flow, use detach()."
            )
        if not requires_grad:
            rest_hooks(self)
            base = base_of(self)
            self.grad_node = None if base is None or base.grad_node is None else nowhere(self)
            _tell_views(self)
        elif self.grad_node is None or leads_nowhere(self.grad_node):
            if self.array.dtype.kind not in DIFFERENTIABLE_KINDS:
                raise RuntimeError(
                    "only Tensors of floating point and complex dtype can require gradients, "
                    f"not {self.array.dtype}"
                )
            refuse_inference(self, "Setting requires_grad=True")
            self.grad_node = AccumulateGrad(self)
            wake_hooks(self)
            _tell_views(self)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor."""
        return self.grad_node is None or type(self.grad_node) is AccumulateGrad

    @property
    def grad_fn(self) -> Node | None:
        """The node of the op that made this tensor; None for a leaf."""
        node = self.grad_node
        return None if node is None or type(node) is AccumulateGrad else place_of(node)[0]

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this tensor is."""
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

    def add_to_grad(self, grad: np.ndarray[Any, Any], keep: bool = False) -> None:
        """`self.grad += grad` on arrays; the first gradient is copied, unless it is to `keep`.

        It lies in memory as this tensor does, if that is dense, or else row by row.
        """
        with _adding:  # NumPy lets other threads run while it adds
            before = self.grad
            if before is None:
                self._grad = wrap(grad if keep else copy_in_order_of(self.array, grad))
            else:
                np.add(before.array, grad, out=before.array)
                alias = own_alias(before)
                if alias is not INFERENCE_ALIAS:
                    alias.version += 1  # an op that has saved the gradient can tell

    def add_recorded_grad(self, grad: Tensor) -> None:
        """`self.grad = self.grad + grad` on tensors; the first is copied, as others may see it."""
        with _adding:
            before = self.grad
            self._grad = gradient_for(self, grad) if before is None else before + grad

    @property
    def retains_grad(self) -> bool:
        """Whether this result keeps its gradient (`retain_grad`)."""
        hooks = None if self.grad_node is None else self.grad_node.tensor_hooks()
        return hooks is not None and hooks.retain is not None

    @property
    def _version(self) -> int:
        """How often the memory was modified in place."""
        if self.alias is INFERENCE_ALIAS:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self.alias is None else self.alias.count_writes()

    def detach(self) -> Tensor:
        """A tensor on the same memory through which no gradient flows."""
        out = wrap(self.array)
        share_memory(self, out)
        return out

    def detach_(self) -> Tensor:
        """Cut this tensor off from the graph that made it; RuntimeError for a view."""
        if self._is_view():
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        alias = own_alias(self)  # by which the node that made the values learns of later writes
        if not self.is_leaf:
            alias.version += 1
            alias.detached = getattr(alias, "detached", 0) + 1
        self.grad_node = None
        _tell_views(self)
        return self

    @property
    def data(self) -> Tensor:
        """The values on the same memory, of which no version counts; assigning replaces it."""
        return wrap(self.array)

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
            if isinstance(self.grad_node, AccumulateGrad):
                self.grad_node.array = value.array
        self.array = value.array
        if (value.alias is INFERENCE_ALIAS) is not (self.alias is INFERENCE_ALIAS):
            self.alias = INFERENCE_ALIAS if value.alias is INFERENCE_ALIAS else None

    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of; None if it is no view, or for inference."""
        return None if self.alias is INFERENCE_ALIAS else base_of(self)

    def is_inference(self) -> bool:
        """Whether this tensor was made in inference mode."""
        return self.alias is INFERENCE_ALIAS

    def _is_view(self) -> bool:
        """Whether this tensor is a view of another."""
        return self._base is not None

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
        if not isinstance(grad_node, AccumulateGrad):
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        hooks = grad_node._own_hooks()
        return hooks.add(hooks.after_accumulate, hook)


def _tell_views(base: Tensor) -> None:
    """Tell the views of `base` that it requires grad now, or does no longer."""
    if base.alias is not None:
        from ..inplace.rebase_history import follow_base  # which imports this module

        follow_base(base)


new_tensor: Final[Callable[[], Tensor]] = partial(object.__new__, Tensor)
"""A tensor without anything; whoever calls it sets `array`, `edge` and `alias`."""


def wrap(array: np.ndarray[Any, Any]) -> Tensor:
    """A leaf on `array`, without a copy."""
    out = new_tensor()
    out.array = array if isinstance(array, np.ndarray) else np.asanyarray(array)
    out.grad_node = out.alias = None
    return out


def normalize_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; IndexError if there is none such, as in PyTorch."""
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], "
            f"but got {dim})"
        )
    return dim + span if dim < 0 else dim


def install(methods: type) -> None:
    """Make the functions of the generated `TensorMethods` methods and operators of `Tensor`."""
    for name, function in vars(methods).items():
        if callable(function) or isinstance(function, classmethod):
            setattr(Tensor, name, function)
