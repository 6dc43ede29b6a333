"""`x.to(...)`, `x.double()` and its kin: the same values in another dtype or order in memory."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..core.devices import check_device
from ..core.entrance import check_dtype
from ..core.memory_format import memory_format as MemoryFormat
from ..core.memory_format import outermost_first, preserve_format, wanted_order, wrong_rank
from ..core.tensor import Tensor
from ..core.torch_function import handle_torch_function, has_torch_function_unary
from ..core.user_warnings import warn_of_imaginary_part
from ..dispatch.registry import ops
from ..dtypes import names as dtypes
from ..dtypes.refused import RefusedDtype, bfloat16
from ..forward_ad.tangent_layout import lay_out


def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy through which gradients flow, in the input's order in memory or in another one.

    RuntimeError for a `memory_format` that does not fit the dimensions.
    """
    copied: Tensor = ops.clone(input)
    if memory_format is None or memory_format == preserve_format:
        return copied
    order = outermost_first(memory_format, input.ndim)
    if order is None:
        raise wrong_rank(memory_format)
    lay_out(copied, order)
    return copied


def to(self: Any, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype; itself if that changes nothing and no copy is asked for.

    Called as `to(dtype)`, `to(device, dtype)` or `to(other)`, each with `non_blocking` and `copy`,
    and `memory_format` by name. There is one device, the CPU: RuntimeError for any other.
    """
    if has_torch_function_unary(self):
        return handle_torch_function(to, (self,), self, *args, **kwargs)
    dtype, copy, memory_format = wanted("to", *args, **kwargs)
    order = wanted_order(memory_format, self.array)
    if not copy and order is None and (dtype is None or dtype == self.array.dtype):
        return self
    if self.array.dtype.kind == "c" and dtype is not None and dtype.kind not in "cb":
        warn_of_imaginary_part()
    if dtype is not None and dtype.kind not in "fc":
        self = self.detach()  # no gradient comes back through integers
        if dtype.kind == "b" and self.array.dtype.kind == "c":
            self = ops.ne(self, 0)  # a number with an imaginary part alone is not zero
    return ops._to_copy(self, dtype=dtype, memory_format=order)


def wanted(
    name: str,
    *args: Any,
    memory_format: MemoryFormat | None = None,
    **kwargs: Any,
) -> tuple[Any, builtins.bool, MemoryFormat | None]:
    """The dtype, whether a copy is asked for, and the order in memory."""
    first = args[0] if args else kwargs.get("other")
    names: tuple[str, ...]
    if hasattr(first, "array"):
        names = ("other", "non_blocking", "copy")
    elif isinstance(first, np.dtype | type | RefusedDtype):
        names = ("dtype", "non_blocking", "copy")
    else:
        names = ("device", "dtype", "non_blocking", "copy")
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or given.keys() & kwargs or kwargs.keys() - set(names):
        raise TypeError(
            f"{name}() received an invalid combination of arguments: expected (dtype, "
            "non_blocking, copy), (device, dtype, non_blocking, copy) or (other, non_blocking, "
            "copy)"
        )
    given |= kwargs
    check_device(name, given.get("device"))
    dtype = given["other"].dtype if "other" in given else given.get("dtype")
    wanted = None if dtype is None else check_dtype(np.dtype(dtype))
    return wanted, given.get("copy", False), memory_format


class ConversionMethods:
    """Methods of `Tensor` that convert it.

    Apart, because inside this class `float` and `int` mean the methods.
    """

    __slots__ = ()

    to = to

    def astype(self, dtype: Any, copy: builtins.bool = True) -> Tensor:
        """Convert to a dtype, as arrays do: a copy, unless `copy` is False and none is needed."""
        return to(self, np.dtype(dtype), copy=copy)

    def copy(self) -> Tensor:
        """Copy, as arrays do: `clone`, through which gradients flow."""
        return to(self, copy=True)

    def half(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to float16."""
        return to(self, dtypes.float16, memory_format=memory_format)

    def float(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to float32."""
        return to(self, dtypes.float32, memory_format=memory_format)

    def double(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to float64."""
        return to(self, dtypes.float64, memory_format=memory_format)

    def cfloat(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to complex64."""
        return to(self, dtypes.complex64, memory_format=memory_format)

    def cdouble(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to complex128."""
        return to(self, dtypes.complex128, memory_format=memory_format)

    def int(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to int32."""
        return to(self, dtypes.int32, memory_format=memory_format)

    def byte(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to uint8."""
        return to(self, dtypes.uint8, memory_format=memory_format)

    def char(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to int8."""
        return to(self, dtypes.int8, memory_format=memory_format)

    def bfloat16(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Raise TypeError: NumPy has no such numbers."""
        return to(self, bfloat16, memory_format=memory_format)

    def short(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to int16."""
        return to(self, dtypes.int16, memory_format=memory_format)

    def long(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to int64."""
        return to(self, dtypes.int64, memory_format=memory_format)

    def bool(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """Convert to bool."""
        return to(self, dtypes.bool, memory_format=memory_format)
