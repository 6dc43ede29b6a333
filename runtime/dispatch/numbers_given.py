"""Arguments of an op that are plain numbers, by the types of the table and PyTorch's rules.

A generated function tests in a few nanoseconds that an argument has the type that it nearly always
has, and asks here about any other. The rules: a `bool` is a bool of Python alone; an `int` is a
whole number, and no bool; a `float` is any real number, bools among them; a `Scalar` may be complex
as well. NumPy's numbers, and tensors of one element without a gradient or a tangent, count as
Python's.
"""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..core.torch_function import type_name
from ..dtypes.promotion import differentiated, plain_number
from ..dtypes.whole_numbers import as_whole


def flag_refused(function: str, argument: str, given: object) -> TypeError:
    """Make the error of an argument that is neither True nor False."""
    return _refused(function, argument, "bool", given)


def flag_given(function: str, argument: str, given: Any) -> bool:
    """Return a bool; TypeError for anything else."""
    if given is not True and given is not False:
        raise flag_refused(function, argument, given)
    return bool(given)


def number_given(function: str, argument: str, given: Any) -> Any:
    """Return a number as Python's, as which it does not decide dtypes; TypeError for what is none.

    Numbers of classes derived from Python's stay as they are.
    """
    return _number(function, argument, "Number", given)


def real_given(function: str, argument: str, given: Any) -> Any:
    """Return a number as Python's; TypeError for a complex one, and for what is none."""
    if type(given) is int:
        return given
    number = _number(function, argument, "float", given)
    if isinstance(number, complex):
        raise _refused(function, argument, "float", given)
    return int(number) if type(number) is bool else number


def _number(function: str, argument: str, kind: str, given: Any) -> Any:
    if isinstance(given, Tensor):
        lost = differentiated(given)
        if given.ndim or lost:
            raise _refused(function, argument, kind, given, f"{lost}: give item()")
    number = plain_number(given)
    if not isinstance(number, int | float | complex):
        raise _refused(function, argument, kind, given)
    return number


def whole_numbers_given(
    function: str,
    argument: str,
    given: Any,
    *,
    takes_one: bool = False,
    some_absent: bool = False,
    none_is_empty: bool = False,
) -> Any:
    """Return several whole numbers as a tuple of Python's, or a single one if that is taken too.

    Where some may be absent, None stays; where none are the default, None stands for that.
    TypeError for anything else.
    """
    if given is None and none_is_empty:
        return ()
    if not isinstance(given, list | tuple):
        number = as_whole(given) if takes_one else None
        if number is None:
            raise _refused(function, argument, "tuple of ints", given)
        return number
    found = []
    for place, item in enumerate(given):
        number = as_whole(item)
        if number is None and not (some_absent and item is None):
            raise TypeError(
                f"{function}(): argument '{argument}' must be tuple of ints, but found element of "
                f"type {type_name(item)} at pos {place}"
            )
        found.append(number)
    return tuple(found)


def _refused(function: str, argument: str, kind: str, given: object, advice: str = "") -> TypeError:
    return TypeError(
        f"{function}(): argument '{argument}' must be {kind}, not {type_name(given)}{advice}"
    )
