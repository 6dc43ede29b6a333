"""Questions about tensors that are answered by a bool or a number."""

from __future__ import annotations

import numpy as np

from ..core.tensor import Tensor
from ..dispatch.numbers_given import flag_given, real_given
from ..dispatch.op_errors import failure


def is_tensor(obj: object) -> bool:
    """Return whether it is a tensor."""
    return isinstance(obj, Tensor)


def _check(name: str, **given: object) -> None:
    """TypeError for an argument that is no tensor."""
    for position, (argument, value) in enumerate(given.items(), 1):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, not "
                f"{type(value).__name__}"
            )


def is_complex(input: Tensor) -> bool:
    """Return whether the dtype is a complex one."""
    _check("is_complex", input=input)
    return input.is_complex()


def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype is a real floating one."""
    _check("is_floating_point", input=input)
    return input.is_floating_point()


def numel(input: Tensor) -> int:
    """The number of elements."""
    _check("numel", input=input)
    return input.numel()


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether both have the same shape and elements; NaN is not itself."""
    _check("equal", input=input, other=other)
    return np.array_equal(input.array, other.array)


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether `|input - other| <= atol + rtol * |other|` everywhere, for one dtype."""
    _check("allclose", input=input, other=other)
    if input.array.dtype != other.array.dtype:
        raise RuntimeError(
            f"allclose: {input.array.dtype} did not match {other.array.dtype}: use to() on one"
        )
    rtol = real_given("allclose", "rtol", rtol)
    atol = real_given("allclose", "atol", atol)
    equal_nan = flag_given("allclose", "equal_nan", equal_nan)
    try:
        return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))
    except ValueError as error:
        raise failure("allclose", error, input, other) from None


class PredicateMethods:
    """Methods of `Tensor` that are these functions, beside those of `core`."""

    __slots__ = ()

    equal = equal
    allclose = allclose
