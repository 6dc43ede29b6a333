"""Kernels of one's own: what they mention, and their results for other orders and whole numbers.

What a formula tells apart is known, because it is parsed. A kernel is a function of Python: the
numbers and texts in its file are taken for what it tells apart.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

import numpy as np

from ...ir.walk import calls
from ...spec.model import OpSpec
from ...spec.own_kernels import MODULE
from ..identities.definition import evaluate_definition
from ..identities.identity import Mismatch
from ..inputs.domain import is_inside
from ..inputs.other_arrays import apart, in_dtype, with_floats
from ..symbolic.special_values import formulas
from .call import CallWithNumbers
from .called_again import check_called_again
from .measures import short

Array = np.ndarray[Any, Any]
_Answer = TypeVar("_Answer")

LONGEST_TEXT = 40
"""Longer texts in a file of kernels are messages."""

SMALLEST, LARGEST = 1e-3, 1e6
"""Other numbers keep a divisor from zero, or stand for infinity."""

TOLERANCE = 1e-9
"""Relative to the largest element: sums may be taken in another order."""

HALF_TOLERANCE = 0.05
"""The same in half precision, where numbers that round like its arguments give the same values."""

LARGEST_HALF = 1000.0
"""Larger values may come of numbers that half precision does not hold."""

KEPT = 1e-3
"""Relative to an element: in single precision so many digits are left, or nothing is compared."""

SMALLER = (np.int32, np.int16)
"""Dtypes of whole numbers in which kernels are compared with their definition, beside int64. Of
bytes a negative is none, and kernels that are meant for floats take negatives."""

SMALLER_TOLERANCE = 1e-3
"""Functions of int16 are computed in single precision."""


def kept(answer_of: Callable[[OpSpec], _Answer]) -> Callable[[OpSpec], _Answer]:
    """Keep the answer for the op that was asked of last: thousands of calls of it are made."""
    last: tuple[OpSpec, _Answer] | None = None

    @functools.wraps(answer_of)
    def answer(spec: OpSpec) -> _Answer:
        nonlocal last
        known = last
        if known is None or known[0] is not spec:
            last = known = spec, answer_of(spec)
        return known[1]

    return answer


def kernel_constants(spec: OpSpec) -> tuple[list[float], list[str]]:
    """The numbers and texts in the file of kernels that the formulas of an op call."""
    module = own_module(spec)
    return ([], []) if module is None else _constants(str(module.__file__))


def has_own_kernels(spec: OpSpec) -> bool:
    """Return whether formulas of an op call kernels of one's own."""
    return own_module(spec) is not None


@kept
def own_module(spec: OpSpec) -> ModuleType | None:
    """The file of kernels of one's own that the formulas of an op call."""
    own = [module for key, module in sys.modules.items() if f".{key}".endswith(f".{MODULE}")]
    if not own:
        return None
    called = (call.function for block in formulas(spec) for call in calls(block))
    names = {name.removeprefix("kernels.") for name in called if name.startswith("kernels.")}
    for module in own:
        if any(vars(module).get(name) for name in names):
            return module
    return None


@functools.cache
def _constants(file: str) -> tuple[list[float], list[str]]:
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    values += _computed(compile(tree, file, "exec"))
    plain = (v for v in values if isinstance(v, int | float) and not isinstance(v, bool))
    numbers = [float(v) for v in plain if SMALLEST <= abs(v) <= LARGEST]
    known = (v for v in values if isinstance(v, str) and 0 < len(v) <= LONGEST_TEXT)
    texts = [v for v in known if " " not in v]
    return list(dict.fromkeys(numbers)), list(dict.fromkeys(texts))


def _computed(code: CodeType) -> Iterator[Any]:
    """The constants of compiled code: also what is computed of others, as `16 * 1024`."""
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _computed(value)
        else:
            yield value


def check_own_kernels(call: CallWithNumbers, middle: dict[str, Array]) -> None:
    """Make a call twice, with arrays in other orders, in half precision, and of whole numbers.

    Raises Mismatch.
    """
    module = own_module(call.spec)
    if module is None:
        return
    check_called_again(call, module)
    for how, values in _in_other_orders(call.values):
        found = _outputs(call, values)
        for name, wanted in middle.items():
            size = np.abs(wanted).max(initial=1e-3)
            if found is not None and not _are_close(found[name], wanted, TOLERANCE * size):
                text = f"is {short(found[name])} for {how}, and else {short(wanted)}"
                raise Mismatch(f"kernel of {name}", "kernel", text)
    _check_halves(call, middle)
    if call.spec.kernel is not None:
        _check_whole_numbers(call)
        _check_smaller_numbers(call)
        _check_other_elements(call)


def check_own_kernels_at_nan(call: CallWithNumbers, middle: dict[str, Array]) -> None:
    """Look for numbers where an argument is nan, and the definition is for that reason.

    Of an infinite argument the definition may be nan, where a kernel knows the limit.
    """
    spec = call.spec
    if spec.kernel is None or own_module(spec) is None or not _has_nan_alone(call.values):
        return
    try:
        with np.errstate(all="ignore"):
            definition = evaluate_definition(spec, call.values)
    except Exception:
        return
    for name, wanted in definition.items():
        if wanted.dtype.kind in "fc" and (np.isnan(wanted) & ~np.isnan(middle[name])).any():
            text = f"is {short(middle[name])}, and of the definition {short(wanted)}"
            raise Mismatch(f"kernel of {name}", "kernel", text)


def _has_nan_alone(values: dict[str, Any]) -> bool:
    """Return whether an element of the tensors is nan, and none infinite."""
    floats = [v for v in values.values() if isinstance(v, np.ndarray) and v.dtype.kind in "fc"]
    return any(np.isnan(v).any() for v in floats) and not any(np.isinf(v).any() for v in floats)


def _check_halves(call: CallWithNumbers, middle: dict[str, Array]) -> None:
    """Compare the values in half precision, where no number of the call is large."""
    halves = in_dtype(call.values, np.float16)
    found = _outputs(call, halves)
    near = _outputs(call, in_dtype(halves, np.float64))
    if found is None or near is None:
        return
    for name, wanted in middle.items():
        size = np.abs(wanted).max(initial=1e-3)
        loses_digits = not _are_close(near[name], wanted, HALF_TOLERANCE / 8 * size)
        if size > LARGEST_HALF or loses_digits or not np.isfinite(found[name]).all():
            continue
        if not _are_close(found[name], wanted, HALF_TOLERANCE * size):
            text = f"is {short(found[name])} in half precision, and else {short(wanted)}"
            raise Mismatch(f"kernel of {name}", "kernel", text)


def _check_whole_numbers(call: CallWithNumbers) -> None:
    """Compare the values of the kernel and of the definition; dtypes may differ."""
    whole = with_floats(call.values, _whole)
    found, definition = _outputs(call, whole), _defined(call, whole)
    if found is None or definition is None:
        return
    for name, wanted in definition.items():
        size = np.abs(wanted).max(initial=1)
        if np.isfinite(size) and not _are_close(found[name], wanted, 1e-5 * size):
            text = f"is {short(found[name])} for whole numbers, of the definition {short(wanted)}"
            raise Mismatch(f"kernel of {name}", "kernel", text)


def _check_smaller_numbers(call: CallWithNumbers) -> None:
    """Compare whole numbers in smaller dtypes, where the definition gives what it gives in int64.

    Where it does not, numbers have wrapped around.
    """
    whole = with_floats(call.values, _whole)
    exact = _defined(call, whole)
    for dtype in SMALLER if exact is not None else ():
        smaller = with_floats(call.values, partial(_whole, dtype=dtype))
        found, definition = _outputs(call, smaller), _defined(call, smaller)
        if found is None or definition is None:
            continue
        for name, wanted in (exact or {}).items():
            size = np.abs(wanted).max(initial=1)
            is_exact = np.isfinite(size) and _are_close(definition[name], wanted, 1e-5 * size)
            if is_exact and not _are_close(found[name], wanted, SMALLER_TOLERANCE * size):
                word = np.dtype(dtype).name
                text = f"is {short(found[name])} for {word}, of the definition {short(wanted)}"
                raise Mismatch(f"kernel of {name}", "kernel", text)


def _check_other_elements(call: CallWithNumbers) -> None:
    """Compare the values with the definition where elements are small, large, in order, or alike.

    Where the definition loses digits, single precision gives other ones: nothing is asked there.
    """
    for how, values in _with_other_elements(call.values):
        if not is_inside(call.spec.domain, values):
            continue
        single = _defined(call, in_dtype(values, np.float32))
        found, definition = _outputs(call, values), _defined(call, values)
        if found is None or definition is None or single is None:
            continue
        for name, wanted in definition.items():
            if wanted.dtype.kind not in "fc" or single[name].shape != wanted.shape:
                continue
            size = np.abs(wanted)
            is_kept = (size > 0) & (np.abs(single[name] - wanted) <= KEPT * size)
            if (is_kept & ~(np.abs(found[name] - wanted) <= KEPT * size)).any():
                text = f"is {short(found[name])} for {how}, of the definition {short(wanted)}"
                raise Mismatch(f"kernel of {name}", "kernel", text)


def _with_other_elements(values: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments with other elements, of the same shapes, and how these are."""
    for how, way in _ELEMENTS.items():
        yield how, with_floats(values, way)
    floats = {n: v for n, v in values.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f"}
    for (one, first), (other, second) in combinations(floats.items(), 2):
        for how, alike in ((f"`{one}`", first), (f"`{one}` turned round", first.T)):
            if alike.shape == second.shape:
                yield f"`{other}` equal to {how}", values | {other: alike.copy()}


def _defined(call: CallWithNumbers, values: dict[str, Any]) -> dict[str, Array] | None:
    """The values of the definition; None if it raises."""
    try:
        with np.errstate(all="ignore"):
            return evaluate_definition(call.spec, values)
    except Exception:
        return None


def _outputs(call: CallWithNumbers, values: dict[str, Any]) -> dict[str, Array] | None:
    """The outputs of the call with other arrays; None if the op refuses them."""
    from ..identities.run import Call

    try:
        outputs = Call(call.spec, values, [])()
        return {name: tensor.array for name, tensor in outputs.items()}
    except Exception:
        return None


def _in_other_orders(values: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments in other orders in memory, all of them and each alone, and how that is."""
    several = [name for name, value in values.items() if isinstance(value, np.ndarray | list)]
    for how, way in _ORDERS.items():
        changed = with_floats(values, way)
        yield f"arguments {how}", changed
        if len(several) > 1:
            yield from ((f"`{n}` {how}", values | {n: changed[n]}) for n in several)


def _are_close(found: Array, wanted: Array, slack: float) -> bool:
    return found.shape == wanted.shape and bool((np.abs(found - wanted) <= slack).all())


def _whole(array: Array, dtype: Any = np.int64) -> Array:
    return np.round(2 * array).astype(dtype)


def _backwards(array: Array) -> Array:
    return array[::-1].copy()[::-1] if array.ndim else array


def _symmetric(array: Array) -> Array:
    is_square = array.ndim == 2 and array.shape[0] == array.shape[1]
    return (array + array.T) / 2 if is_square else array


_ORDERS: dict[str, Callable[[Array], Array]] = {
    "in order of columns": lambda array: array.T.copy().T,
    "with gaps in memory": apart,
    "with a negative stride": _backwards,
}

_ELEMENTS: dict[str, Callable[[Array], Array]] = {
    "small elements": lambda array: array * 2.0**-16,
    "large elements": lambda array: array * 2.0**30,
    "rising elements": lambda array: np.sort(array, None).reshape(array.shape),
    "falling elements": lambda array: np.sort(array, None)[::-1].reshape(array.shape),
    "a symmetric matrix": _symmetric,
    "the unit matrix": lambda array: np.eye(*array.shape) if array.ndim == 2 else array,
}
