"""Ops of one base name behind one function: `pow(x, 2)`, `pow(x, y)`, `pow(2, x)`.

The first overload whose parameters accept the arguments is called. The choice is remembered under
the types of the arguments, so that from the second call on it costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import cache, partial, wraps
from numbers import Number
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

import numpy as np

from ..core.entrance import is_supported
from ..core.tensor import Tensor
from ..core.torch_function import flattened, handle_torch_function, has_torch_function, type_name
from ..dtypes.promotion import plain_number, without_numpy
from ..dtypes.refused import RefusedDtype
from .registry import OPS, PUBLIC, Op, Param
from .registry import public_function as public_function

if TYPE_CHECKING:
    from .overload_types import ThreeOverloads, TwoOverloads

Function: TypeAlias = Callable[..., Any]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Answer = TypeVar("_Answer")
_Answer1 = TypeVar("_Answer1")
_Answer2 = TypeVar("_Answer2")
_Answer3 = TypeVar("_Answer3")
_P1 = ParamSpec("_P1")
_P2 = ParamSpec("_P2")
_P3 = ParamSpec("_P3")


class _Leniency(IntEnum):
    """Leniency of a match between a value and the type of a parameter; the stricter choice wins."""

    EXACT = 0
    NUMBER_AS_TENSOR = 1
    TENSOR_AS_NUMBER = 2


@overload
def overloaded(
    name: str,
    first: Callable[_P1, _Answer1],
    second: Callable[_P2, _Answer2],
    /,
    *,
    write_out: Function | None = None,
) -> TwoOverloads[_P1, _Answer1, _P2, _Answer2]: ...
@overload
def overloaded(
    name: str,
    first: Callable[_P1, _Answer1],
    second: Callable[_P2, _Answer2],
    third: Callable[_P3, _Answer3],
    /,
    *,
    write_out: Function | None = None,
) -> ThreeOverloads[_P1, _Answer1, _P2, _Answer2, _P3, _Answer3]: ...
@overload
def overloaded(name: str, *functions: Function, write_out: Function | None = None) -> Function: ...
def overloaded(name: str, *functions: Function, write_out: Function | None = None) -> Any:
    """A function `name(*args, **kwargs)` that calls the op that fits, of several registered ones.

    `axis` and `keepdims` stand for `dim` and `keepdim`; `out` is taken if it is said how it is
    written: see `inplace.keywords`. Raises TypeError, with the signatures that exist, if none of
    them accepts the arguments.
    """
    chosen: dict[tuple[Any, ...], Function] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and 0 < len(args) < 3:  # most calls, and those of operators: no loop
            first, last = args[0], args[-1]
            types: tuple[Any, ...] = (type(first), type(last)) if len(args) == 2 else (type(first),)
            function = chosen.get(types)
            if function is not None:
                return function(*args)
        types = (*map(type, args), *kwargs, *map(type, kwargs.values()))
        function = chosen.get(types)
        if function is None:
            function = _choose_and_remember(name, functions, chosen, args, kwargs)
            if function is None:
                return _with_further(name, call, write_out, args, kwargs)
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.overloads = functions  # type: ignore[attr-defined]
    for function in functions:
        PUBLIC[function] = call
    call.__doc__ = "\n\n".join(filter(None, (function.__doc__ for function in functions)))
    return call


def variadic(function: Callable[..., _Answer]) -> Callable[..., _Answer]:
    """A method whose list of integers may be spread: `x.view(2, 3)` for `x.view((2, 3))`."""

    @wraps(function)
    def call(self: Tensor, *args: Any, **kwargs: Any) -> _Answer:
        if args and type(args[0]) is tuple:
            return function(self, *args, **kwargs)
        if args and _is_integer(args[0]):
            return function(self, args, **kwargs)
        return function(self, *args, **kwargs)

    return call


def spread(function: _Function) -> _Function:
    """A method of which one overload takes a list, whose integers may be spread if there are
    several: `x.squeeze(0, 2)`. Its types are those of the function."""

    @wraps(function)
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and all(map(_is_integer, args)):
            return function(self, args, **kwargs)
        return function(self, *args, **kwargs)

    return cast("_Function", call)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) or (
        isinstance(value, Tensor) and value.array.ndim == 0
    )


def _choose_and_remember(
    name: str,
    functions: tuple[Function, ...],
    chosen: dict[tuple[Any, ...], Function],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Function | None:
    """Return the overload that fits, and None if there are arguments that no signature has."""
    # The type of a list says too little: what it holds belongs to the key.
    types = (*map(_deep_type, args), *kwargs, *map(_deep_type, kwargs.values()))
    function = chosen.get(types)
    if function is not None:
        return function
    relevant = flattened((*args, *kwargs.values()))
    if has_torch_function(relevant):
        return partial(handle_torch_function, PUBLIC[functions[0]], relevant)
    if not FURTHER_NAMES.isdisjoint(kwargs):
        return None
    for keyword in kwargs:
        if (name, keyword) in BY_KEYWORD:
            return BY_KEYWORD[name, keyword]
    for leniency in _Leniency:
        for function in functions:
            if _fits(OPS[function], args, kwargs, leniency):
                has_numpys = any(isinstance(x, np.generic) for x in (*args, *kwargs.values()))
                fitting = _with_plain_numbers(function) if has_numpys else function
                # Whether a tensor can stand for a number is not a matter of its type.
                if leniency is _Leniency.TENSOR_AS_NUMBER:
                    return _with_numbers_of_tensors(fitting, OPS[function])
                chosen[types] = fitting
                return fitting
    raise _no_overload(name, functions, args, kwargs)


def _with_further(
    name: str,
    call: Function,
    write_out: Function | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call a function with arguments by name that functions of its kind take."""
    named = pytorch_names(name, kwargs)
    if "out" not in named:
        return call(*args, **named)
    out = named.pop("out")
    if out is None:
        return call(*args, **named)
    if write_out is None:
        raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
    if name in DTYPE_OF_OUT and isinstance(out, Tensor):
        named.setdefault("dtype", out.array.dtype)
    return write_out(name, call(*args, **named), out, [*args, *named.values()])


BY_KEYWORD: Final[dict[tuple[str, str], Function]] = {}
"""Functions that answer for a name when an argument is given that no op of this name has."""

NUMPY_NAMES: Final = {"axis": "dim", "keepdims": "keepdim"}
"""PyTorch's names of arguments by those of NumPy, which functions take, too."""

FURTHER_NAMES: Final = frozenset((*NUMPY_NAMES, "out"))
"""Arguments by name of functions whose signatures do not have them."""


DTYPE_OF_OUT: Final = frozenset(("cumprod", "cumsum", "mean", "nanmean", "nansum", "prod", "sum"))
"""Functions that compute in the dtype of `out` unless another one is given."""


def pytorch_names(function: str, named: dict[str, Any]) -> dict[str, Any]:
    """Return arguments by PyTorch's names; TypeError if one is given under both."""
    found: dict[str, Any] = {}
    for name, value in named.items():
        usual = NUMPY_NAMES.get(name, name)
        if usual in found:
            raise TypeError(f"{function}() got multiple values for argument '{usual}'")
        found[usual] = value
    return found


def _with_plain_numbers(function: Function) -> Function:
    """Pass Python's numbers for those of NumPy, which would decide the dtype of the result."""

    def call(*args: Any, **kwargs: Any) -> Any:
        words = {name: without_numpy(value) for name, value in kwargs.items()}
        return function(*map(without_numpy, args), **words)

    return call


def _with_numbers_of_tensors(function: Function, op: Op) -> Function:
    """Pass the numbers that tensors hold where an op takes numbers."""
    names = op.names

    def number(name: str, value: Any) -> Any:
        if name in names.tensors:
            return value
        if isinstance(value, list | tuple):
            return tuple(plain_number(item) if isinstance(item, Tensor) else item for item in value)
        return plain_number(value) if isinstance(value, Tensor) else value

    def call(*args: Any, **kwargs: Any) -> Any:
        words = {name: number(name, value) for name, value in kwargs.items()}
        return function(*map(number, names.positional, args), **words)

    return call


def _deep_type(value: object) -> object:
    if isinstance(value, list | tuple):
        return type(value), frozenset(map(type, value))
    return type(value)


def _fits(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], leniency: _Leniency) -> bool:
    """Return whether an op takes these arguments."""
    positional = [param for param in op.params if not param.keyword_only]
    if len(args) > len(positional):
        return False
    given = {param.name: value for param, value in zip(positional, args, strict=False)}
    if not given.keys().isdisjoint(kwargs):
        return False
    given |= kwargs
    for param in op.params:
        if param.name in given:
            if not _accepts(op, param, given.pop(param.name), leniency):
                return False
        elif param.required:
            return False
    return not given


class _Type(NamedTuple):
    """An ATen type, taken apart."""

    base: str
    is_list: bool
    takes_one: bool
    """`int[1]`, where a single value stands for the list."""
    optional: bool


@cache
def _parse(text: str) -> _Type:
    optional = text.endswith("?")
    base, bracket, length = text.removesuffix("?").partition("[")
    return _Type(base, bool(bracket), length not in ("", "]"), optional)


def _accepts(op: Op, param: Param, value: object, leniency: _Leniency) -> bool:
    expected = _parse(param.type)
    if value is None:
        return expected.optional
    as_tensor = leniency >= _Leniency.NUMBER_AS_TENSOR and param.name in op.promotes
    if expected.is_list:
        if isinstance(value, list | tuple):
            return all(_accepts_one(expected.base, item, leniency, False) for item in value)
        return expected.takes_one and _accepts_one(expected.base, value, leniency, as_tensor)
    return _accepts_one(expected.base, value, leniency, as_tensor)


def _accepts_one(base: str, value: object, leniency: _Leniency, as_tensor: bool) -> bool:
    if base == "Tensor?" and value is None:
        return True
    if base.startswith("Tensor"):
        if isinstance(value, Tensor | np.ndarray | np.generic):
            # A NumPy number is a number where an overload takes numbers.
            return not isinstance(value, np.generic) or leniency > _Leniency.EXACT
        return as_tensor and _is_number(value)
    if isinstance(value, Tensor):
        return leniency is _Leniency.TENSOR_AS_NUMBER and _stands_for_number(base, value)
    if base == "Scalar" and isinstance(value, complex) and leniency < _Leniency.TENSOR_AS_NUMBER:
        return False  # as a tensor, it brings real operands to a complex dtype
    check = _CHECKS.get(base)
    return check is None or check(value)


def _stands_for_number(base: str, tensor: Tensor) -> bool:
    """Return whether a tensor may be given for a number: one element, and no gradient to lose."""
    if tensor.array.ndim or tensor.requires_grad:
        return False
    kinds = {"Scalar": "biufc", "float": "biuf", "int": "iu", "SymInt": "iu"}
    return tensor.array.dtype.kind in kinds.get(base, "")


def _is_number(value: object) -> bool:
    return isinstance(value, Number | np.number | np.bool_)


def _is_int(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


_COMPLEX: Final = (complex, np.complexfloating)

_CHECKS: Final[dict[str, Callable[[object], bool]]] = {
    "Scalar": _is_number,
    "float": lambda value: _is_number(value) and not isinstance(value, _COMPLEX),
    "int": _is_int,
    "SymInt": _is_int,
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "ScalarType": lambda value: isinstance(value, np.dtype | type) and is_supported(value),
}
"""The check of a Python value for each ATen type."""


SHOWN_TYPES_MAX: Final = 8
"""Elements of a list whose types an error shows."""


def _no_overload(
    name: str, functions: tuple[Function, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> TypeError:
    for value in (*args, *kwargs.values()):
        if isinstance(value, RefusedDtype):
            return value.refusal()
    got = ", ".join(
        [_type_of(value) for value in args]
        + [f"{key}={_type_of(value)}" for key, value in kwargs.items()]
    )
    expected = "\n".join(f" * ({', '.join(_signature(OPS[function]))})" for function in functions)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({got}), "
        f"but expected one of:\n{expected}\n"
    )


def _type_of(value: object) -> str:
    if isinstance(value, list | tuple):
        inside = ", ".join(map(_type_of, value[:SHOWN_TYPES_MAX]))
        if len(value) > SHOWN_TYPES_MAX:
            inside += f", ... {len(value)} in all"
        return f"{type(value).__name__} of [{inside}]"
    return type_name(value)


def _signature(op: Op) -> Iterator[str]:
    keywords_began = False
    for param in op.params:
        if param.keyword_only and not keywords_began:
            keywords_began = True
            yield "*"
        kind = _parse(param.type)
        word = _WORDS.get(kind.base.removesuffix("?"), kind.base)
        if kind.is_list:
            word = f"tuple of {word}s"
        default = "" if param.required else " = None" if kind.optional else " = ..."
        yield f"{word} {param.name}{default}"


_WORDS: Final = {"Scalar": "Number", "SymInt": "int", "ScalarType": "dtype"}
