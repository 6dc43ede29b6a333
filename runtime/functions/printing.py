"""The text of a tensor, in PyTorch's format to the byte."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..core.captured import has_values
from ..core.invalid_view import StaleView
from ..core.tensor import Tensor
from ..dtypes.promotion import default_complex_dtype, get_default_dtype
from ..forward_ad.dual import Dual

Array: TypeAlias = np.ndarray[Any, Any]

NAMESPACE: Final = "gradspec."
"""The prefix of the name of a dtype."""


class PrintOptions(NamedTuple):
    """Options of printing: see `set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: Final = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}


class _Current:
    """The options in force."""

    __slots__ = ("options",)

    def __init__(self) -> None:
        self.options = PrintOptions()


_current: Final = _Current()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors print; what is left out stays as it is, but `sci_mode` becomes automatic.

    `precision` counts decimals; more than `threshold` elements print as the first and last
    `edgeitems` of each dimension; `profile` is "default", "short" or "full".
    """
    options = _current.options if profile is None else _PROFILES[profile]
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    _current.options = options._replace(**changes, sci_mode=sci_mode)


def tensor_repr(tensor: Tensor) -> str:
    """The text of a tensor: its values, then what else is to be known about it."""
    prefix = "tensor("
    values = _values(_readable(tensor.array), len(prefix), _current.options)
    text = _with_suffixes(prefix + values, list(_suffixes(tensor)), len(prefix))
    return f"Parameter containing:\n{text}" if getattr(tensor, "_is_parameter", False) else text


def _readable(array: Array) -> Array:
    if not has_values(array):
        array.tolist()  # refused, by its name, where a program is captured
    # PyTorch prints half precision as the float32 values.
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _suffixes(tensor: Tensor) -> Iterator[str]:
    array = tensor.array
    implied = [get_default_dtype()]
    if array.size == 0:
        if array.ndim != 1:
            yield f"size={array.shape}"
    else:
        if not _current.options.edgeitems:
            yield f"size={array.shape}"
        implied += [default_complex_dtype(), np.dtype(np.int64), np.dtype(np.bool_)]
    if array.dtype not in implied:
        yield f"dtype={NAMESPACE}{array.dtype.name}"
    if isinstance(tensor, StaleView):
        yield "grad_fn=<Invalid>"
    elif tensor.grad_fn is not None:
        yield f"grad_fn=<{tensor.grad_fn.name()}>"
    elif tensor.requires_grad:
        yield "requires_grad=True"
    if isinstance(tensor, Dual) and tensor.level.open:
        yield f"tangent={tensor.tangent!r}"


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """Append what fits to the last line, the rest to lines of their own."""
    parts = [text]
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > _current.options.linewidth:
            parts.append(f",\n{' ' * indent}{suffix}")
            length = indent + len(suffix)
        else:
            parts.append(f", {suffix}")
            length += len(suffix) + 2
    return "".join(parts) + ")"


def _values(array: Array, indent: int, options: PrintOptions) -> str:
    if array.size == 0:
        return "[]"
    summarize = array.size > options.threshold
    shown = _summarized(array, options.edgeitems) if summarize else array
    if array.dtype.kind == "c":
        element: _Format | _ComplexFormat = _ComplexFormat(shown, options)
    else:
        element = _Format(shown, options)
    return _nested(array, indent, summarize, element, options)


def _summarized(array: Array, grad_node: int) -> Array:
    """The elements that a summary shows: they alone decide about the format."""
    for axis, length in enumerate(array.shape):
        if length > 2 * grad_node:
            kept = np.r_[0:grad_node, length - grad_node : length]
            array = np.take(array, kept, axis=axis)
    return array


class _Format:
    """Format of the real elements of an array: one width for all."""

    def __init__(self, array: Array, options: PrintOptions) -> None:
        self._precision = options.precision
        self._floating = array.dtype.kind == "f"
        self._integral = True
        self._scientific = False
        self.width = 1
        if not self._floating:
            self.width = max((len(str(value)) for value in array.ravel().tolist()), default=1)
            return
        flat = array.ravel()
        listed = flat[np.isfinite(flat) & (flat != 0)].tolist()
        if listed:
            self._choose_notation(listed, options.sci_mode)

    def _choose_notation(self, values: list[float], scientific: bool | None) -> None:
        sizes = list(map(abs, values))
        low, high = min(sizes), max(sizes)
        self._integral = all(value == math.ceil(value) for value in values)
        wide_range = high / low > 1000 or high > 1e8 or low < 1e-4
        self._scientific = wide_range if scientific is None else scientific
        if self._scientific:
            self.width = max(len(f"{value:.{self._precision}e}") for value in values)
        elif self._integral:
            self.width = max(len(f"{value:.0f}") + 1 for value in values)
        else:
            self.width = max(len(f"{value:.{self._precision}f}") for value in values)

    def __call__(self, value: Any) -> str:
        if not self._floating:
            text = str(value)
        elif self._scientific:
            text = f"{value:{self.width}.{self._precision}e}"
        elif self._integral:
            text = f"{value:.0f}" + ("." if math.isfinite(value) else "")
        else:
            text = f"{value:.{self._precision}f}"
        return text.rjust(self.width)


class _ComplexFormat:
    """Real and imaginary parts, each in its own format."""

    def __init__(self, array: Array, options: PrintOptions) -> None:
        self._real = _Format(array.real, options)
        self._imag = _Format(array.imag, options)
        self.width = self._real.width + self._imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = (self._imag(value.imag) + "j").lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return self._real(value.real) + sign + imag


def _nested(
    array: Array,
    indent: int,
    summarize: bool,
    element: _Format | _ComplexFormat,
    options: PrintOptions,
) -> str:
    """The brackets, one dimension after the other."""
    if array.ndim == 0:
        return element(array.item())
    if array.ndim == 1:
        return _vector(array, indent, summarize, element, options)
    grad_node = options.edgeitems
    shortened = summarize and len(array) > 2 * grad_node
    rows = [*array[:grad_node], *array[len(array) - grad_node :]] if shortened else list(array)
    parts = [_nested(row, indent + 1, summarize, element, options) for row in rows]
    if shortened:
        parts.insert(grad_node, "...")
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _vector(
    array: Array,
    indent: int,
    summarize: bool,
    element: _Format | _ComplexFormat,
    options: PrintOptions,
) -> str:
    """One row of elements, broken into lines of `linewidth`."""
    grad_node = options.edgeitems
    values = array.tolist()
    if summarize and not grad_node:
        parts = ["..."]
    elif summarize and len(values) > 2 * grad_node:
        parts = [*map(element, values[:grad_node]), " ...", *map(element, values[-grad_node:])]
    else:
        parts = list(map(element, values))
    per_line = max(1, (options.linewidth - indent) // (element.width + 2))
    lines = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
