"""Facts about a tensor that are read without computing anything: its device, memory and dtype."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..core.devices import CPU, device
from ..core.memory_format import memory_format as MemoryFormat
from ..core.strides import outermost_first
from ..core.tensor import Tensor
from ..inplace.in_transforms import is_differentiated, is_transformed, refuse_transformed
from .storages import UntypedStorage, address_of


class layout(str):  # PyTorch's name
    """The way in which elements are stored; `strided`, the only one, is that of NumPy's arrays."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"gradspec.{self}"


strided: Final = layout("strided")


def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is not zero; RuntimeError for another number of them."""
    return bool(input)


def is_signed(input: Tensor) -> bool:
    """Return whether the dtype has negative numbers."""
    return input.array.dtype.kind not in "ub"


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether both have one shape."""
    return input.array.shape == other.array.shape


def is_conj(input: Tensor) -> bool:
    """Return False: conjugates are computed, never marked as such."""
    return False


def is_neg(input: Tensor) -> bool:
    """Return False: negatives are computed, never marked as such."""
    return False


def is_inference(input: Tensor) -> bool:
    """Return whether the tensor was made in inference mode."""
    return input.is_inference()


def get_device(input: Tensor) -> int:
    """Return -1, the number of the CPU among devices."""
    return -1


class PropertyMethods:
    """Methods and properties of `Tensor` that describe it."""

    __slots__ = ()

    if TYPE_CHECKING:
        array: np.ndarray[Any, Any]

    is_nonzero = is_nonzero
    is_signed = is_signed
    is_same_size = is_same_size
    is_conj = is_conj
    is_neg = is_neg
    get_device = get_device

    @property
    def device(self) -> device:
        """The CPU, the one device there is."""
        return CPU

    @property
    def layout(self) -> layout:
        """The one layout there is: `strided`."""
        return strided

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.array.nbytes

    @property
    def name(self) -> None:
        """None: tensors have no names."""
        return

    @property
    def materialize(self) -> Callable[..., None]:
        """`materialize(shape)` of a lazy module's parameter, which has none; others lack it."""
        mark = getattr(self, "_is_parameter", False)
        if not hasattr(mark, "materialize"):
            raise AttributeError("only parameters without a shape have 'materialize'")
        return partial(mark.materialize, self)

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self.array.itemsize

    def ndimension(self) -> int:
        """Return the number of dimensions."""
        return self.array.ndim

    def nelement(self) -> int:
        """Return the number of elements."""
        return self.array.size

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 where there is none."""
        return address_of(self.array) if self.array.size else 0

    def is_set_to(self, tensor: Tensor) -> bool:
        """Return whether both are the same elements of the same memory, in one order."""
        mine, other = self.array, tensor.array
        return (
            UntypedStorage(self) == UntypedStorage(tensor)
            and (address_of(mine), mine.shape, mine.strides)
            == (address_of(other), other.shape, other.strides)
        )  # fmt: skip

    def dim_order(
        self: Any, *, ambiguity_check: bool | list[MemoryFormat] = False
    ) -> tuple[int, ...]:
        """Return the dimensions from the outermost to the innermost in memory.

        With `ambiguity_check` it is a RuntimeError if another order is possible, as it is beside
        dimensions of length one; with a list of memory formats, unless the tensor is in exactly
        one of them.
        """
        formats = ambiguity_check if isinstance(ambiguity_check, list) else []
        if not isinstance(ambiguity_check, bool | list) or not all(
            isinstance(each, MemoryFormat) for each in formats
        ):
            raise TypeError(
                "The ambiguity_check argument must be a bool or a list of memory formats."
            )
        strides = self.stride()
        is_ambiguous = 1 in self.array.shape or len(set(strides)) < len(strides)
        if ambiguity_check is not False and is_ambiguous:
            fitting = [each for each in formats if self.is_contiguous(memory_format=each)]
            if len(fitting) != 1:
                raise RuntimeError(
                    "The tensor does not have unique dim order, or cannot map to exact one of the "
                    "given memory formats."
                )
        return tuple(outermost_first([abs(stride) for stride in self.array.strides]))

    def sparse_dim(self) -> int:
        """Return 0: no dimension is sparse."""
        return 0

    def dense_dim(self) -> int:
        """Return the number of dimensions, all of which are dense."""
        return self.array.ndim

    def is_pinned(self) -> bool:
        """Return whether the memory is page-locked for another device, which there is not."""
        return False

    def is_shared(self) -> bool:
        """Return whether other processes share the memory, which none does."""
        return False

    def cpu(self: Any, memory_format: Any = None) -> Tensor:
        """Return the tensor itself: it is on the CPU."""
        moved: Tensor = self.to("cpu", memory_format=memory_format)
        return moved

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Tensor:
        """Raise RuntimeError: there is no device but the CPU."""
        raise RuntimeError(
            "cuda(): there is no device 'cuda', only 'cpu': tensors are NumPy arrays"
        )

    def pin_memory(self, device: Any = None) -> Tensor:
        """Raise RuntimeError: memory is pinned for another device, which there is not."""
        raise RuntimeError("pin_memory(): Cannot access accelerator device: there is only the CPU")


_ABSENT: Final = (
    *("cuda", "ipu", "maia", "meta", "mkldnn", "mps", "mtia", "nested", "quantized", "sparse"),
    *("sparse_csr", "vulkan", "xla", "xpu"),
)


def _says_no(kind: str) -> property:
    return property(lambda self: False, doc=f"False: there are no {kind} tensors.")


def _set_data(self: Tensor, value: Tensor) -> None:
    if is_transformed(self) or (isinstance(value, Tensor) and is_transformed(value)):
        raise RuntimeError(
            "mutating directly with `.data` inside functorch transform is not allowed: write to "
            "the tensor with copy_(), or use the new values in its place"
        )
    _data.__set__(self, value)


def _set_requires_grad(self: Tensor, value: bool) -> None:
    if not isinstance(value, bool):
        raise RuntimeError("requires_grad must be a bool")
    from ..inplace.requires_grad import set_requires_grad

    set_requires_grad(self, value and self.is_leaf)  # a result refuses every change


def _retain_grad(self: Tensor) -> None:
    if is_differentiated():
        refuse_transformed("retain_grad()")
    _retain(self)


_data: Final[Any] = Tensor.data
_requires_grad: Final[Any] = Tensor.requires_grad
_retain: Final = Tensor.retain_grad


PROPERTIES: Final[dict[str, Any]] = {
    "data": _data.setter(_set_data),
    "requires_grad": _requires_grad.setter(_set_requires_grad),
    "retain_grad": wraps(_retain)(_retain_grad),
    "is_cpu": property(lambda self: True, doc="True: there is no other device."),
    **{f"is_{kind}": _says_no(kind) for kind in _ABSENT},
}
"""Properties that are the same of every tensor, and what refuses what transforms cannot follow."""
