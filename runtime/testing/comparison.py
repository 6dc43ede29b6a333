"""`assert_close`: whether results are close, with an error that says how far they are off."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..dtypes.promotion import promote_types
from ..functions.creation import as_tensor

Array: TypeAlias = np.ndarray[Any, Any]
Message: TypeAlias = str | Callable[[str], str] | None

_TOLERANCES: Final = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}
"""Relative and absolute, by dtype; other dtypes must be equal."""

_NUMBERS: Final = (int, float, complex, np.number)
_BOOLEANS: Final = (bool, np.bool_)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Raise AssertionError unless two tensors, numbers, sequences or mappings are close.

    Elements are if they differ by at most `atol + rtol * abs(expected)`; the tolerances depend on
    the dtype unless both are given. ValueError for one alone, TypeError for what has no numbers,
    or is of two unrelated types. `msg` takes the place of what says how far elements are off.
    """
    __tracebackhide__ = True
    if (rtol is None) != (atol is None):
        name = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {name}."
        )
    options = _Options(rtol, atol, equal_nan, check_dtype, check_stride, allow_subclasses)
    # All pairs are made first: containers that do not match say so before elements that differ.
    for pair in list(_pairs(actual, expected, "", options)):
        found = pair.compare(pair.actual, pair.expected, options)
        if found is None:
            continue
        if pair.place:
            found = _at(pair.place, found)
        raise AssertionError(found if msg is None else msg(found) if callable(msg) else msg)


@dataclass(frozen=True)
class _Options:
    """Options of a comparison."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_dtype: bool
    check_stride: bool
    allow_subclasses: bool

    def tolerances(self, *dtypes: np.dtype[Any]) -> tuple[float, float]:
        """Return those given, or the larger ones of two dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        pairs = [_TOLERANCES.get(dtype.name, (0.0, 0.0)) for dtype in dtypes]
        return max(rtol for rtol, _ in pairs), max(atol for _, atol in pairs)


@dataclass(frozen=True)
class _Pair:
    """Two values that are no containers, where they are, and what says how they differ."""

    place: str
    actual: Any
    expected: Any
    compare: Callable[[Any, Any, _Options], str | None]


# ---- what is compared with what


def _pairs(actual: Any, expected: Any, place: str, options: _Options) -> Iterator[_Pair]:
    """Iterate over what two values hold; AssertionError where one holds more than the other."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing, more = set(expected) - set(actual), set(actual) - set(expected)
        if missing or more:
            text = (
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {_in_order(missing)}\n"
                f"Additional keys in the actual mapping: {_in_order(more)}"
            )
            raise AssertionError(_at(place, text))
        keys: Any = _in_order(actual)
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise AssertionError(_at(place, text))
        keys = range(len(actual))
    else:
        yield _pair(actual, expected, place, options)
        return
    for key in keys:
        yield from _pairs(actual[key], expected[key], f"{place}[{key!r}]", options)


def _pair(actual: Any, expected: Any, place: str, options: _Options) -> _Pair:
    """Find how to compare two values; TypeError where there is no way."""
    if actual is None or expected is None:
        return _Pair(place, actual, expected, _compare_nones)
    if isinstance(actual, _BOOLEANS) and isinstance(expected, _BOOLEANS):
        return _Pair(place, bool(actual), bool(expected), _compare_booleans)
    if isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
        return _Pair(place, _number(actual), _number(expected), _compare_numbers)
    kinds = type(actual), type(expected)
    is_related = isinstance(actual, kinds[1]) or isinstance(expected, kinds[0])
    if is_related and (options.allow_subclasses or kinds[0] is kinds[1]):
        try:
            tensors = as_tensor(actual).detach(), as_tensor(expected).detach()
        except (TypeError, ValueError, RuntimeError):
            pass  # what cannot become a tensor is no tensor
        else:
            return _Pair(place, *tensors, _compare_tensors)
    text = f"No comparison pair was able to handle inputs of type {kinds[0]} and {kinds[1]}."
    raise TypeError(_at(place, text))


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _in_order(keys: Any) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=repr)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.number) else value


def _at(place: str, text: str) -> str:
    return f"{text}\n\nThe failure occurred for item {place}" if place else text


# ---- comparisons: each returns what differs, None if nothing does


def _compare_nones(actual: Any, expected: Any, options: _Options) -> str | None:
    return None if actual is expected else f"None mismatch: {actual} is not {expected}"


def _compare_booleans(actual: bool, expected: bool, options: _Options) -> str | None:
    return None if actual is expected else f"Booleans mismatch: {actual} is not {expected}"


def _compare_numbers(actual: Any, expected: Any, options: _Options) -> str | None:
    if options.check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    if actual == expected:
        return None
    if options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
        return None
    rtol, atol = options.tolerances(np.dtype(type(actual)), np.dtype(type(expected)))
    distance = abs(actual - expected)
    if cmath.isfinite(distance) and distance <= atol + rtol * abs(expected):
        return None
    return _report_scalars(actual, expected, rtol, atol)


def _compare_tensors(actual: Tensor, expected: Tensor, options: _Options) -> str | None:
    attributes: dict[str, tuple[Any, Any]] = {"shape": (actual.shape, expected.shape)}
    if options.check_stride:
        attributes["stride()"] = (actual.stride(), expected.stride())
    if options.check_dtype:
        attributes["dtype"] = (actual.dtype, expected.dtype)
    for name, (mine, theirs) in attributes.items():
        if mine != theirs:
            return f"The values for attribute '{name}' do not match: {mine} != {theirs}."
    rtol, atol = options.tolerances(actual.dtype, expected.dtype)
    dtype = _common_dtype(actual.dtype, expected.dtype)
    actual, expected = actual.to(dtype), expected.to(dtype)
    close = ops.isclose(actual, expected, rtol, atol, options.equal_nan).array
    if close.all():
        return None
    if not close.ndim:
        return _report_scalars(actual.item(), expected.item(), rtol, atol)
    return _report_tensors(actual.array, expected.array, close, rtol, atol)


def _common_dtype(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to compare in; wide unsigned integers, which have none, count as int64."""
    first, second = dtypes
    if first == second:
        return first
    signed = [np.dtype(np.int64) if d.kind == "u" and d.itemsize > 1 else d for d in dtypes]
    return promote_types(*signed)


# ---- how far values are off


def _word(rtol: float, atol: float) -> str:
    return "close" if rtol or atol else "equal"


def _allowed(tolerance: float, rtol: float, atol: float) -> str:
    return f" (up to {tolerance} allowed)" if rtol or atol else ""


def _report_scalars(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    distance = abs(actual - expected)
    share = distance / abs(expected) if expected else float("inf")
    return (
        f"Scalars are not {_word(rtol, atol)}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {distance}{_allowed(atol, rtol, atol)}\n"
        f"Relative difference: {share}{_allowed(rtol, rtol, atol)}"
    )


def _report_tensors(actual: Array, expected: Array, close: Array, rtol: float, atol: float) -> str:
    """Say how many elements differ, and by how much at most."""
    if actual.dtype.kind in "biu":
        actual, expected = actual.astype(np.int64), expected.astype(np.int64)
    with np.errstate(all="ignore"):
        off = np.where(close, 0, np.abs(actual - expected))
        share = np.where(close, 0, off / np.abs(expected))
    wrong = int((~close).sum())
    lines = [
        f"Tensor-likes are not {_word(rtol, atol)}!\n",
        f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})",
    ]
    for kind, values, limit in (("absolute", off, atol), ("relative", share, rtol)):
        place = np.unravel_index(int(np.argmax(values)), values.shape)
        where = tuple(int(index) for index in place)
        lines.append(
            f"Greatest {kind} difference: {values[place].item()} at index {where}"
            f"{_allowed(limit, rtol, atol)}"
        )
    return "\n".join(lines)
