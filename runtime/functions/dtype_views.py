"""`tensor.view(dtype)`: the same memory as other numbers, through which no gradient flows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from ..batching.batched import Batched, batch
from ..core.storage import share_memory
from ..core.tensor import Tensor, wrap
from ..dispatch.overloads import variadic
from ..dispatch.registry import ops
from ..dtypes.refused import RefusedDtype

_reshaped = variadic(lambda input, *args, **kwargs: ops.view(input, *args, **kwargs))


class DtypeViewMethods:
    """The method of `Tensor` that replaces that of the op `view`, and calls it."""

    __slots__ = ()

    def view(self: Any, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
        """A view of another shape (one size may be -1), or the memory as numbers of another dtype.

        The last dimension grows or shrinks with the width of the numbers. RuntimeError where that
        or the new shape needs a copy.
        """
        if dtype is None and len(size) == 1 and isinstance(size[0], np.dtype | RefusedDtype):
            (dtype,) = size
        if dtype is None:
            return _reshaped(self, *size, **options)
        if isinstance(self, Batched):
            one = np.empty(self.shape, self.dtype)
            kernels.view_as_dtype(one, np.dtype(dtype))  # refuses what is too narrow for it
            return batch(self.physical.view(dtype), self.level)
        viewed = wrap(kernels.view_as_dtype(self.detach().array, np.dtype(dtype)))
        share_memory(self, viewed)
        return viewed
