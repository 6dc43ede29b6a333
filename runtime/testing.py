"""`assert_close`: whether results are close, with an error that says how far they are off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .core.missing import explaining as _explaining
from .core.tensor import Tensor

__all__ = ["assert_close"]

__getattr__ = _explaining(__name__)

_TOLERANCES: Final = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}
"""Relative and absolute, by dtype; other dtypes must be equal."""

Message = str | Callable[[str], str] | None


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
    the dtype unless both are given. ValueError for one alone, TypeError for what has no numbers.
    """
    if (rtol is None) != (atol is None):
        name = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {name}."
        )
    tolerances = None if rtol is None or atol is None else (rtol, atol)
    options = _Options(tolerances, equal_nan, check_dtype, check_stride, allow_subclasses)
    found = options.compare(actual, expected, "")
    if found is not None:
        raise AssertionError(found if msg is None else msg(found) if callable(msg) else msg)


class _Options:
    """How to compare; `compare` answers what differs, None if nothing does."""

    def __init__(
        self,
        tolerances: tuple[float, float] | None,
        equal_nan: bool,
        check_dtype: bool,
        check_stride: bool,
        allow_subclasses: bool,
    ) -> None:
        self.tolerances = tolerances
        self.equal_nan = equal_nan
        self.check_dtype = check_dtype
        self.check_stride = check_stride
        self.allow_subclasses = allow_subclasses

    def compare(self, actual: Any, expected: Any, place: str) -> str | None:
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            return self._mappings(actual, expected, place)
        if _is_sequence(actual) and _is_sequence(expected):
            if len(actual) != len(expected):
                return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            pairs = zip(actual, expected, strict=True)
            return self._first((a, e, f"{place}[{number}]") for number, (a, e) in enumerate(pairs))
        found = self._leaves(actual, expected)
        return (
            found
            if found is None or not place
            else (f"{found}\n\nThe failure occurred for item {place}")
        )

    def _first(self, pairs: Any) -> str | None:
        found = (self.compare(actual, expected, place) for actual, expected, place in pairs)
        return next((each for each in found if each is not None), None)

    def _mappings(self, actual: Any, expected: Any, place: str) -> str | None:
        missing, more = set(expected) - set(actual), set(actual) - set(expected)
        if missing or more:
            return (
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing, key=repr)}\n"
                f"Additional keys in the actual mapping: {sorted(more, key=repr)}"
            )
        return self._first(
            (actual[key], expected[key], f"{place}[{key!r}]") for key in sorted(actual, key=repr)
        )

    def _leaves(self, actual: Any, expected: Any) -> str | None:
        if actual is None and expected is None:
            return None
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            return self._tensors(actual, expected)
        if isinstance(actual, np.ndarray) and isinstance(expected, np.ndarray):
            return self._arrays(actual, expected)
        numbers = (bool, int, float, complex)
        if isinstance(actual, numbers) and isinstance(expected, numbers):
            if self.check_dtype and type(actual) is not type(expected):
                return f"The (d)types do not match: {type(actual)} != {type(expected)}."
            return self._arrays(np.asarray(actual), np.asarray(expected))
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(actual)} and "
            f"{type(expected)}."
        )

    def _tensors(self, actual: Tensor, expected: Tensor) -> str | None:
        if not self.allow_subclasses and type(actual) is not type(expected):
            raise TypeError(
                f"No comparison pair was able to handle inputs of type {type(actual)} and "
                f"{type(expected)}."
            )
        if self.check_stride and actual.shape == expected.shape:
            mine, theirs = actual.stride(), expected.stride()
            if mine != theirs:
                return f"The values for attribute 'stride()' do not match: {mine} != {theirs}."
        return self._arrays(actual.detach().numpy(), expected.detach().numpy())

    def _arrays(self, actual: Any, expected: Any) -> str | None:
        if actual.shape != expected.shape:
            shapes = f"{_size(actual.shape)} != {_size(expected.shape)}"
            return f"The values for attribute 'shape' do not match: {shapes}."
        if self.check_dtype and actual.dtype != expected.dtype:
            dtypes = f"{actual.dtype} != {expected.dtype}"
            return f"The values for attribute 'dtype' do not match: {dtypes}."
        rtol, atol = self._tolerances_of(actual, expected)
        dtype = np.result_type(actual, expected)
        dtype = np.dtype(np.int64) if dtype.kind == "b" else dtype
        actual, expected = actual.astype(dtype), expected.astype(dtype)
        close = np.isclose(actual, expected, rtol, atol, self.equal_nan)
        return None if close.all() else _report(actual, expected, close, rtol, atol)

    def _tolerances_of(self, *arrays: Any) -> tuple[float, float]:
        if self.tolerances is not None:
            return self.tolerances
        pairs = [_TOLERANCES.get(array.dtype.name, (0.0, 0.0)) for array in arrays]
        return max(rtol for rtol, _ in pairs), max(atol for _, atol in pairs)


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _size(shape: tuple[int, ...]) -> str:
    return f"Size({list(shape)})"


def _report(actual: Any, expected: Any, close: Any, rtol: float, atol: float) -> str:
    """Say how many elements differ, and by how much at most."""
    word = "close" if rtol or atol else "equal"
    with np.errstate(all="ignore"):
        off = np.where(close, 0, np.abs(actual - expected))
        share = np.where(close, 0, off / np.abs(expected))
    allowed = (
        (f" (up to {atol} allowed)", f" (up to {rtol} allowed)") if word == "close" else ("", "")
    )
    if not close.ndim:
        return (
            f"Scalars are not {word}!\n\nExpected {expected.item()} but got {actual.item()}.\n"
            f"Absolute difference: {off.item()}{allowed[0]}\n"
            f"Relative difference: {share.item()}{allowed[1]}"
        )
    wrong = int((~close).sum())
    lines = [
        f"Tensor-likes are not {word}!\n",
        f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})",
    ]
    for kind, values, limit in (("absolute", off, allowed[0]), ("relative", share, allowed[1])):
        place = np.unravel_index(int(np.argmax(values)), values.shape)
        where = tuple(int(index) for index in place)
        lines.append(f"Greatest {kind} difference: {values[place].item()} at index {where}{limit}")
    return "\n".join(lines)
