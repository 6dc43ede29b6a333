"""The slow path of every op: what is not a plain tensor becomes one, or is refused by name.

A generated function checks in a few nanoseconds that its tensor arguments are of type `Tensor`
exactly. If one is not, it hands the whole call to `dispatch`, which lifts numbers and arrays, asks
the class of a special tensor what to do (`Tensor._call_op`, `Tensor._as_operand`), and calls the
function again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, TypeVar

import numpy as np

from ..core.entrance import operand
from ..core.levels import of_innermost_level
from ..core.tensor import Tensor, wrap
from ..core.torch_function import flattened, handle_torch_function, has_torch_function, type_name
from ..dtypes.number_conversion import converted, wrapped
from ..dtypes.promotion import (
    LAST_INTEGER,
    get_default_dtype,
    plain_number,
    result_dtype,
    without_numpy,
)
from .overloads import public_function
from .registry import OPS, Op, Param

_Given = TypeVar("_Given", Tensor, Tensor | None)


def dispatch(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call an op whose arguments are not all plain tensors.

    Raises TypeError naming the op, the argument and its position where a value cannot stand
    for a tensor.
    """
    relevant = flattened((*args, *kwargs.values()))
    if has_torch_function(relevant):
        return handle_torch_function(public_function(function), relevant, *args, **kwargs)
    op = OPS[function]
    values = bind(op, args, kwargs)
    special = of_innermost_level(relevant)
    if special is not None:
        return special._call_op(op, values)
    return call(op, lift(op, values))


def lift(op: Op, values: dict[str, Any]) -> dict[str, Any]:
    """Put tensors (duals stay duals) wherever the op takes tensors."""
    lifted = {}
    promoted = [values[name] for name in op.promotes]
    if any(isinstance(value, np.generic) for value in promoted) and any(
        isinstance(value, Tensor) for value in promoted
    ):
        values = values | {name: without_numpy(values[name]) for name in op.promotes}
    number_dtype = _dtype_for_numbers(op, values)
    for position, param in enumerate(op.params, 1):
        value = values[param.name]
        if type(value) is not Tensor and param.name in op.names.tensors:
            value = _lift(op, param, position, value, number_dtype)
        lifted[param.name] = value
    return lifted


def in_floats(tensor: _Given, array: Any) -> _Given:
    """The tensor that gradients read of an argument of which an op computes with `array`.

    It is the argument, unless it has whole numbers, and is computed with as floats: then it is a
    tensor of these. Bytes wrap around, and flags cannot be subtracted, where a rule has them alone.
    """
    if tensor is None or tensor.array.dtype.num > LAST_INTEGER or array.dtype.num <= LAST_INTEGER:
        return tensor
    return wrap(array)


def bind(op: Op, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name; a generated function passes all of them."""
    return dict(zip(op.names.positional, args, strict=False), **kwargs)


def call(op: Op, values: dict[str, Any]) -> Any:
    """Call the function of an op with arguments by name."""
    _, positional, keyword_only, _ = op.names
    args = [values[name] for name in positional]
    return op.function(*args, **{name: values[name] for name in keyword_only})


_NUMBERS: Final = (int, float, complex)


def _dtype_for_numbers(op: Op, values: dict[str, Any]) -> np.dtype[Any] | None:
    """The dtype of a Python number among tensors: the one that the op will compute in."""
    promoted = [values[name] for name in op.promotes if values[name] is not None]
    if not any(isinstance(value, _NUMBERS) for value in promoted):
        return None
    dtype = result_dtype(*(v.array if isinstance(v, Tensor) else v for v in promoted))
    return get_default_dtype() if op.int_to_float and dtype.num <= LAST_INTEGER else dtype


def _lift(
    op: Op, param: Param, position: int, value: Any, number_dtype: np.dtype[Any] | None
) -> Any:
    """A plain tensor, or a list of them, for one tensor argument."""
    if value is None and param.type.endswith("?"):
        return None
    if "[]" in param.type:
        if isinstance(value, list | tuple):
            absent = param.type == "Tensor?[]"
            return [
                None if item is None and absent else _lift_one(op, param, position, item, None)
                for item in value
            ]
        raise _wrong_type(op, param, position, value)
    return _lift_one(op, param, position, value, number_dtype)


def _lift_one(
    op: Op, param: Param, position: int, value: Any, number_dtype: np.dtype[Any] | None
) -> Tensor:
    if isinstance(value, Tensor):
        return value._as_operand()
    if isinstance(value, np.ndarray):
        return wrap(operand(value))
    if isinstance(value, np.number | np.bool_):
        is_extended = isinstance(value, np.longdouble | np.clongdouble)
        return wrap(np.asarray(plain_number(value) if is_extended else value))
    if number_dtype is not None and isinstance(value, _NUMBERS):
        # A bool stays one, of the lowest category: some ops refuse it.
        dtype = np.dtype(np.bool_) if isinstance(value, bool) else number_dtype
        convert = converted if op.name in _NUMBERS_MUST_FIT else wrapped
        return wrap(np.asarray(convert(value, dtype), dtype))
    raise _wrong_type(op, param, position, value)


_NUMBERS_MUST_FIT: Final = ("where.self",)
"""Ops that answer a number as it is, instead of computing with it: it must fit."""


def _wrong_type(op: Op, param: Param, position: int, value: object) -> TypeError:
    expected = "tuple of Tensors" if "[]" in param.type else "Tensor"
    return TypeError(
        f"{op.function.__name__}(): argument '{param.name}' (position {position}) must be "
        f"{expected}, not {type_name(value)}"
    )


def all_tensors(values: object) -> bool:
    """Return whether a list holds plain tensors, or None where a tensor may be absent."""
    if type(values) is not list and type(values) is not tuple:
        return False
    for value in values:  # noqa: SIM110 - a third of the time
        if type(value) is not Tensor and value is not None:
            return False
    return True


def any_grad_node(tensors: Sequence[Tensor | None]) -> bool:
    """Return whether a gradient is asked for by any of a list of tensors."""
    for tensor in tensors:  # noqa: SIM110 - a third of the time
        if tensor is not None and tensor.grad_node is not None:
            return True
    return False


def grad_nodes_of(tensors: Sequence[Tensor | None]) -> tuple[Any, ...]:
    """Return the nodes to which the gradients of a list of tensors go."""
    return tuple([None if tensor is None else tensor.grad_node for tensor in tensors])


def by_argument(needs: Sequence[object], counts: Sequence[int]) -> list[bool]:
    """Return for each argument whether the gradient of one of its inputs is needed."""
    ends = list(accumulate(counts, initial=0))
    return [any(needs[start:end]) for start, end in pairwise(ends)]


def spread(grads: Sequence[Any], counts: Sequence[int]) -> tuple[Any, ...]:
    """Return a gradient for each input, from one for each argument: a list's come as a list.

    Raises RuntimeError if a list has another number of gradients than of tensors.
    """
    found: list[Any] = []
    for grad, count in zip(grads, counts, strict=True):
        several = grad if isinstance(grad, list | tuple) else (grad,)
        if grad is None:
            several = (None,) * count
        elif len(several) != count:
            raise RuntimeError(f"a list of {count} tensors was given {len(several)} gradients")
        found += several
    return tuple(found)


def is_number(tensor: Tensor) -> bool:
    """Return whether a tensor stands for a number that was given beside others: see `lift_number`.

    Several nodes may keep it, and its array is read-only: users are shown a copy.
    """
    array = tensor.array
    return not array.ndim and not array.flags.writeable and array.base is None


_lifted_numbers: Final[dict[tuple[Any, int | float], Tensor]] = {}
LIFTED_NUMBERS_MAX: Final = 1000


def lift_number(value: Any, beside: Any) -> Tensor | None:
    """A Python number as a tensor of the dtype of the tensor beside it.

    None where this is not the case at hand, or where the dtype takes more thought: then the slow
    path decides. The tensors are shared, so that their arrays are read-only.
    """
    kind = type(value)
    if type(beside) is not Tensor or (kind is not float and kind is not int):
        return None
    dtype = beside.array.dtype
    if dtype.num <= LAST_INTEGER:
        return None
    found = _lifted_numbers.get((dtype, value))
    if found is None:
        array = np.array(value, dtype)
        array.setflags(write=False)
        found = wrap(array)
        if value:  # 0.0 and -0.0 are equal, but not the same
            if len(_lifted_numbers) > LIFTED_NUMBERS_MAX:
                _lifted_numbers.clear()
            _lifted_numbers[dtype, value] = found
    return found
