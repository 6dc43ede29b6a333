"""`Tensor`: a NumPy array, the vertex of the graph that made it, and its gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import ref

import numpy as np

from .conversion import ConversionMethods
from .hooks import RemovableHandle
from .node import AccumulateGrad, Node, OutputEdge

if TYPE_CHECKING:
    from .generated.methods import TensorMethods
else:
    TensorMethods = object  # what generated code defines is copied in by `install`


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


class Alias:
    """What a tensor shares with its views: the base, and how often the memory was written to."""

    __slots__ = ("is_shared", "version")

    def __init__(self) -> None:
        self.version = 0
        self.is_shared = False
        """Whether several tensors lie on the memory."""


class Tensor(ConversionMethods, TensorMethods):
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

    __slots__ = ("__weakref__", "_grad", "_is_parameter", "alias", "array", "edge")

    # A tensor takes part in `array * tensor`: NumPy must leave the operator to us.
    __array_priority__ = 1000
    __array_ufunc__ = None

    array: np.ndarray[Any, Any]
    edge: Node | None
    alias: Alias | None
    _grad: Tensor | None
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

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        return self.array.flags.c_contiguous

    # ---- its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor."""
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start or stop asking for the gradient of a leaf, in place.

        Raises RuntimeError for a result of an op, and for a dtype that has no derivative.
        """
        if not self.is_leaf:
            if requires_grad:
                return self
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. To use a computed "
                "value where no gradient should flow, use detach()."
            )
        if not requires_grad:
            self.edge = None
        elif self.edge is None:
            if self.array.dtype.kind not in "fcO":  # O: the symbols of a proof
                raise RuntimeError(
                    "only Tensors of floating point and complex dtype can require gradients, "
                    f"not {self.array.dtype}"
                )
            self.edge = AccumulateGrad(self)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor."""
        return self.edge is None or type(self.edge) is AccumulateGrad

    @property
    def grad_fn(self) -> Node | None:
        """The node of the op that made this tensor; None for a leaf."""
        edge = self.edge
        if edge is None or type(edge) is AccumulateGrad:
            return None
        return edge.node if type(edge) is OutputEdge else edge

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this tensor is."""
        return self.edge.output_nr if type(self.edge) is OutputEdge else 0

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient; None until a backward pass reached this tensor."""
        try:
            return self._grad
        except AttributeError:
            return None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got {value!r}")
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

    def add_to_grad(self, grad: np.ndarray[Any, Any]) -> None:
        """`self.grad += grad` on arrays; the first gradient is copied, as others may see it."""
        before = self.grad
        if before is None:
            self._grad = wrap(np.array(grad, subok=True))
        elif before.edge is not None:
            self._grad = before + wrap(grad)
        else:
            np.add(before.array, grad, out=before.array)

    @property
    def retains_grad(self) -> bool:
        """Whether this result keeps its gradient (`retain_grad`)."""
        edge = self.edge
        return edge is not None and edge.hooks is not None and edge.hooks.retain is not None

    @property
    def _version(self) -> int:
        """How often the memory was modified in place."""
        return 0 if self.alias is None else self.alias.version

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to the `grad` of the leaves it was computed from.

        `gradient` has the shape of this tensor and may be left out for a single element;
        `inputs` restricts the pass to the given tensors. See `autograd.backward`.
        """
        from .autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def detach(self) -> Tensor:
        """A tensor on the same memory through which no gradient flows."""
        out = wrap(self.array)
        share_alias(self, out)
        return out

    def retain_grad(self) -> None:
        """Keep `grad` for this result too; does nothing for a leaf, which always does."""
        edge = self.edge
        if edge is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if not self.is_leaf:
            edge._own_hooks().retain = _retain_into(ref(self))

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook(grad)` whenever the gradient of this tensor has been computed.

        What it returns, if not None, takes the place of the gradient.
        """
        edge = self.edge
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        hooks = edge._own_hooks()
        return hooks.add(hooks.on_grad, hook)

    # ---- values

    def numpy(self) -> np.ndarray[Any, Any]:
        """The values as a NumPy array on the same memory.

        Raises RuntimeError if gradients flow to this tensor: use `detach().numpy()`.
        """
        if self.edge is not None:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy()."
            )
        return self.array

    def item(self) -> int | float | bool | complex:
        """The value of a one-element tensor as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.array.size} elements cannot be converted to Scalar"
            )
        return cast("int | float | bool | complex", self.array.item())

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        return self.array.tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __bool__(self) -> bool:
        if self.array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                + ("no values" if self.array.size == 0 else "more than one value")
                + " is ambiguous"
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())  # type: ignore[arg-type]

    def __int__(self) -> int:
        return int(self.item())  # type: ignore[arg-type]

    def __index__(self) -> int:
        if self.array.dtype.kind not in "iub" or self.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __len__(self) -> int:
        if self.array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __iter__(self) -> Iterator[Tensor]:
        if self.array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self.array)))

    if TYPE_CHECKING:  # set by the package: indexing is made of ops of the table

        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        from .printing import tensor_repr

        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.array.ndim == 0 and spec else repr(self)


def _retain_into(tensor: ref[Tensor]) -> Callable[[Tensor], None]:
    """The hook of `retain_grad`; a weak reference, because the tensor holds the hook."""

    def retain(grad: Tensor) -> None:
        kept = tensor()
        if kept is not None:
            kept._grad = grad

    return retain


new_tensor: Final = Tensor.__new__
"""`new_tensor(Tensor)`: an empty tensor; whoever calls it sets `array`, `edge` and `alias`."""


def wrap(array: np.ndarray[Any, Any]) -> Tensor:
    """A leaf on `array`, without a copy."""
    out = new_tensor(Tensor)
    out.array = array if isinstance(array, np.ndarray) else np.asanyarray(array)
    out.edge = out.alias = None
    return out


def share_alias(base: Tensor, view: Tensor) -> None:
    """`view` lies on the memory of `base`: one version counter for both."""
    if base.alias is None:
        base.alias = Alias()
    base.alias.is_shared = True
    view.alias = base.alias


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
        if callable(function):
            setattr(Tensor, name, function)
