"""NumPy's protocols: its ufuncs and functions, called with tensors, give tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.lazy import LazyModule
from ..core.tensor import Tensor
from ..dispatch.overloads import NUMPY_NAMES
from ..dispatch.registry import ops

if TYPE_CHECKING:
    from . import numpy_twins as twins
else:
    twins = LazyModule(".numpy_twins", globals(), "twins")


class _ForUfuncs:
    """Descriptor of `__array_ufunc__`: the method for NumPy, which asks the class, and None for
    who asks a tensor. That are masked arrays, whose operators leave a sum to the tensor then."""

    __slots__ = ("_method",)

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __get__(self, tensor: Tensor | None, owner: type) -> Callable[..., Any] | None:
        return self._method if tensor is None else None


class NumpyFunctionMethods:
    """Methods of `Tensor` that NumPy calls where one of its functions is given a tensor."""

    __slots__ = ()

    @_ForUfuncs
    def __array_ufunc__(
        self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        name = twins.UFUNCS.get(ufunc.__name__)
        if method != "__call__" or name is None:
            used = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            raise _no_twin(f"np.{used}", f"np.{used}(x.detach().numpy())")
        out = options.pop("out", None)
        if out is not None:
            if not (len(out) == 1 and isinstance(out[0], Tensor)):
                raise TypeError(
                    f"np.{ufunc.__name__}: a tensor's values cannot be written to an array by "
                    "`out` or an in-place operator: use x.detach().numpy()"
                )
            options["out"] = out[0]
        _refuse(f"np.{ufunc.__name__}", options.keys() - {"out"})
        twin = _op("linalg_vecdot" if name == "vecdot" else name)
        return twin(*inputs, **options)

    def __array_function__(
        self: Any,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        module, name = func.__module__, func.__name__
        twin = _twin_of(module, name)
        if twin is None:
            raise _no_twin(f"{module}.{name}", "the same with x.detach().numpy()")
        named = {NUMPY_NAMES.get(key, key): value for key, value in kwargs.items()}
        try:
            return twin(*args, **named)
        except TypeError as error:
            if "unexpected keyword" not in str(error):
                raise
            raise TypeError(
                f"{module}.{name} of a tensor: {error}; give the arguments of PyTorch's function, "
                "or arrays: x.detach().numpy()"
            ) from None


def _twin_of(module: str, name: str) -> Callable[..., Any] | None:
    """Return the function of this library that is the one of NumPy."""
    if module == "numpy.linalg":
        adapted = twins.ADAPTED_LINALG.get(name)
        found = twins.LINALG.get(name)
        return adapted or (None if found is None else _op(f"linalg_{found}"))
    if module != "numpy":
        return None
    if name in twins.ADAPTED:
        return twins.ADAPTED[name]
    twin = twins.FUNCTIONS.get(name) or twins.UFUNCS.get(name)
    return None if twin is None else _op(twin)


def _op(name: str) -> Callable[..., Any]:
    """Return the op of a name, or of the name of which it is an alias."""
    function: Callable[..., Any]
    try:
        function = getattr(ops, name)
    except AttributeError:
        function = getattr(Tensor, name)
    return function


def _refuse(function: str, options: Iterable[str]) -> None:
    for option in options:
        raise TypeError(f"{function} of a tensor does not take {option!r}: use x.detach().numpy()")


def _no_twin(function: str, advice: str) -> TypeError:
    return TypeError(
        f"{function} has no counterpart for tensors, through which gradients flow: use a function "
        f"of gradspec, or {advice}"
    )
