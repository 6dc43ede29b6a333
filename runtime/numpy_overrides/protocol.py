"""NumPy's protocols: its ufuncs and functions, called with tensors, give tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.lazy import LazyModule
from ..core.tensor import Tensor

if TYPE_CHECKING:
    from . import lookup
else:
    lookup = LazyModule(".lookup", globals(), "lookup")


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
        name = ufunc.__name__
        is_call = method == "__call__"
        used = f"np.{name}" if is_call else f"np.{name}.{method}"
        override = lookup.ufunc_override(name) if is_call else lookup.method_override(name, method)
        if override is None:
            raise _no_override(used, lookup.reason("numpy", name), f"{used}(x.detach().numpy())")
        out = options.pop("out", None)
        if out is not None:
            if not (len(out) == 1 and isinstance(out[0], Tensor)):
                raise TypeError(
                    f"{used}: a tensor's values cannot be written to an array by "
                    "`out` or an in-place operator: use x.detach().numpy()"
                )
            options["out"] = out[0]
        if is_call:
            _refuse(used, options.keys() - {"out"})
        return _called(used, override, inputs, options)

    def __array_function__(
        self: Any,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        module, name = func.__module__, func.__name__
        override = lookup.function_override(module, name)
        if override is None:
            advice = "the same with x.detach().numpy()"
            raise _no_override(f"{module}.{name}", lookup.reason(module, name), advice)
        return _called(f"{module}.{name}", override, args, kwargs)


def _called(
    function: str, override: Callable[..., Any], args: Iterable[Any], named: dict[str, Any]
) -> Any:
    if isinstance(named.get("dtype"), str):
        named = named | {"dtype": np.dtype(named["dtype"])}
    try:
        return override(*args, **named)
    except TypeError as error:
        if "unexpected keyword" not in str(error) and "positional argument" not in str(error):
            raise
        raise TypeError(
            f"{function} of a tensor does not take all arguments of NumPy's: {error}; leave these "
            "out, or give arrays: x.detach().numpy()"
        ) from None


def _refuse(function: str, options: Iterable[str]) -> None:
    for option in options:
        raise TypeError(f"{function} of a tensor does not take {option!r}: use x.detach().numpy()")


def _no_override(function: str, why: str | None, advice: str) -> TypeError:
    return TypeError(
        f"{function} has no counterpart for tensors, through which gradients flow"
        + (f", as {why}" if why else "")
        + f": use a function of gradspec, or {advice}"
    )
