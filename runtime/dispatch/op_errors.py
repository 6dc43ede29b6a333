"""Errors of NumPy inside an op in PyTorch's words, with the call that went wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.tensor import Tensor
from ..dtypes.promotion import type_name
from ..kernels.elementwise.checks import ArgumentError, LinAlgError

Array: TypeAlias = np.ndarray[Any, Any]


class UnmetRequirement(RuntimeError):
    """A call that an op is not meant for."""


class DimensionOutOfRange(IndexError, UnmetRequirement):
    """A call that names a dimension which the tensor does not have."""


def failure(op_name: str, error: Exception, *args: object) -> Exception:
    """The exception to raise for what `op_name(*args)` raised.

    It has PyTorch's type and key words, and names the op with the shapes and dtypes of its
    arguments. Errors that are not about the arguments' values pass through, with that as a note.
    """
    call = describe_call(op_name, args)
    arrays = list(_arrays(args))
    if isinstance(error, np.exceptions.AxisError):
        return IndexError(f"{_dim_out_of_range(error)} in {call}")
    if isinstance(error, np.linalg.LinAlgError):
        return LinAlgError(f"{op_name}: {error} in {call}")
    if isinstance(error, ArgumentError):
        return ValueError(f"{error} in {call}")
    if isinstance(error, ValueError):
        return RuntimeError(f"{_explain_value_error(str(error), arrays)} in {call}")
    if isinstance(error, TypeError) and "not supported for the input types" in str(error):
        kind = type_name(arrays[0].dtype) if arrays else "these arguments"
        return NotImplementedError(f"\"{op_name}\" not implemented for '{kind}' in {call}")
    if isinstance(error, TypeError) and "numpy boolean" in str(error):
        operation = "Subtraction" if "subtract" in str(error) else "Negation"
        return RuntimeError(
            f"{operation}, the `-` operator, of bools is not supported; use `^`, `~` or "
            f"logical_not() instead. In {call}"
        )
    if isinstance(error, TypeError):
        return TypeError(f"{error} in {call}")
    if isinstance(error, IndexError):
        return IndexError(f"{_of_dimensions(str(error))} in {call}")
    error.add_note(f"in {call}")
    return error


def no_derivative(op: str, argument: str, reason: str) -> NotImplementedError:
    """Make the error of a gradient that was asked for and is not implemented."""
    return NotImplementedError(
        f"the derivative for '{op}: {argument}' is not implemented: {reason}. Detach "
        f"'{argument}', or ask for the gradients of other arguments only."
    )


def no_forward_mode(op: str, reason: str) -> NotImplementedError:
    """Make the error of a tangent whose rule is not implemented."""
    return NotImplementedError(
        f"Trying to use forward AD with {op} that does not support it because it has not been "
        f"implemented yet: {reason}"
    )


def must_be_constant(op: str, argument: str, reason: str) -> RuntimeError:
    """The error of an argument with a gradient or a tangent, of an op that it is a constant of."""
    return RuntimeError(
        f"The function '{op}' is not differentiable with respect to argument '{argument}': "
        f"{reason}. This input cannot have requires_grad True, or a tangent; detach() it."
    )


def complex_gradient(op_name: str, *args: object) -> RuntimeError:
    """The error of a gradient through an op whose formulas hold for real numbers only."""
    return RuntimeError(
        f"{op_name} does not support automatic differentiation for complex dtypes: its formulas "
        f"hold for real numbers only, in {describe_call(op_name, args)}. Split the numbers with "
        "real() and imag(), or detach() what needs no gradient."
    )


def complex_refused(kind: type[RuntimeError], op_name: str, *args: object) -> RuntimeError:
    """The error of an op of real numbers that is given complex ones; NotImplementedError is one."""
    words = f"{op_name} does not support complex inputs"
    if issubclass(kind, NotImplementedError):
        dtype = next(array.dtype for array in _arrays(args) if array.dtype.kind == "c")
        words = f"\"{op_name}\" not implemented for '{type_name(dtype)}'"
    return kind(
        f"{words}: it is not defined for complex numbers, in {describe_call(op_name, args)}. Take "
        "their real(), imag() or abs()."
    )


def _of_dimensions(message: str) -> str:
    """Return NumPy's message in PyTorch's words."""
    if message.endswith("with size 0"):
        return "index is out of bounds for dimension with size 0"
    return message.replace("for axis", "for dimension")


def unmet_requirement(op_name: str, requirement: str, /, **given: object) -> UnmetRequirement:
    """Make the error of a call that an op is not meant for, with the arguments that tell so."""
    described = ", ".join(f"{name}: {_describe(value)}" for name, value in given.items())
    kind = DimensionOutOfRange if "out of range" in requirement else UnmetRequirement
    return kind(f"{op_name}: {requirement}, but got {described}")


def describe_call(op_name: str, args: Sequence[object]) -> str:
    """The call as `mul([2, 3] float32, 2.0)`."""
    return f"{op_name}({', '.join(map(_describe, args))})"


def _describe(value: object) -> str:
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, np.ndarray):
        return f"{list(value.shape)} {value.dtype}"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(_describe, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return repr(value)


def _arrays(args: Sequence[object]) -> list[Array]:
    """The arrays among the arguments, those in lists included."""
    found: list[Array] = []
    for value in args:
        if isinstance(value, Tensor):
            found.append(value.array)
        elif isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(_arrays(value))
    return found


def _dim_out_of_range(error: np.exceptions.AxisError) -> str:
    if error.axis is None or error.ndim is None:
        return f"Dimension out of range: {error}"
    span = max(error.ndim, 1)
    return (
        f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], "
        f"but got {error.axis})"
    )


_Explanation: TypeAlias = Callable[[str, list[Array]], str | None]


def _explain_value_error(message: str, arrays: list[Array]) -> str:
    """PyTorch's words for a complaint of NumPy about values, or NumPy's own."""
    for sign, explain in _EXPLANATIONS:
        if sign in message:
            found = explain(message, arrays)
            if found is not None:
                return found
    return message


def _sizes_differ(_message: str, arrays: list[Array]) -> str | None:
    """The last dimension at which two shapes cannot be broadcast."""
    for second in range(1, len(arrays)):
        for first in range(second):
            a, b = arrays[first].shape, arrays[second].shape
            for back in range(1, min(len(a), len(b)) + 1):
                if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
                    return (
                        f"The size of tensor a ({a[-back]}) must match the size of tensor b "
                        f"({b[-back]}) at non-singleton dimension {max(len(a), len(b)) - back}"
                    )
    return None


def _cannot_multiply(_message: str, arrays: list[Array]) -> str | None:
    """The product of vectors, matrices or batches, each in PyTorch's wording."""
    if len(arrays) < 2:
        return None
    a, b = arrays[-2].shape, arrays[-1].shape
    if not a or not b:
        return f"both arguments need to be at least 1D, but they are {len(a)}D and {len(b)}D"
    if len(a) == len(b) == 1:
        return (
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the "
            "same number of elements"
        )
    if len(b) == 1:
        rows, columns = a[-2:]
        return f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({b[0]})"
    if len(a) > 2 and len(b) > 2:
        return (
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a[0]}, {a[-1]}] but got: [{b[0]}, {b[-2]}]."
        )
    rows = 1 if len(a) == 1 else a[-2]
    return f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a[-1]} and {b[-2]}x{b[-1]})"


def _bad_reshape(message: str, _arrays: list[Array]) -> str | None:
    found = re.search(
        r"cannot reshape array of size (\d+) into shape \(([-\d, newaxis]*)\)", message
    )
    if found is None:
        return None
    given = found[2].replace("newaxis", "-1").split(",")
    shape = [int(length) for length in given if length.strip()]
    if found[1] == "0" and 0 in shape:  # NumPy leaves out a -1 at the beginning
        return (
            f"cannot reshape tensor of 0 elements into shape {shape} because the unspecified "
            "dimension size -1 can be any value and is ambiguous"
        )
    return f"shape '{shape}' is invalid for input of size {found[1]}"


def _cannot_expand(message: str, _arrays: list[Array]) -> str | None:
    """The value of a write through a view: it is expanded to the shape of the view."""
    found = re.search(r"from shape \((.*?)\) into shape \((.*?)\)", message)
    if found is None:
        return None
    given, wanted = map(_lengths, found.groups())
    if len(given) > len(wanted):
        return (
            f"expand: the number of sizes provided ({len(wanted)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(given)}), which is of shape {given}"
        )
    dim = max(
        len(wanted) - back
        for back in range(1, len(given) + 1)
        if given[-back] not in (1, wanted[-back])
    )
    return (
        f"The expanded size of the tensor ({wanted[dim]}) must match the existing size "
        f"({given[dim - len(wanted)]}) at non-singleton dimension {dim}. Target sizes: {wanted}. "
        f"Tensor sizes: {given}"
    )


def _cannot_write(message: str, _arrays: list[Array]) -> str | None:
    """The value of a write at indices."""
    found = re.search(r"of shape \((.*?)\) could not .* of shape \((.*?)\)", message)
    if found is None:
        return None
    given, wanted = map(_lengths, found.groups())
    return (
        f"shape mismatch: value tensor of shape {given} cannot be broadcast to indexing result of "
        f"shape {wanted}"
    )


def _lengths(shape: str) -> list[int]:
    """The lengths in a shape as NumPy writes it: `3,4`, or `3,`."""
    return [int(length) for length in shape.split(",") if length.strip()]


def _several_unknown(_message: str, _arrays: list[Array]) -> str:
    return "only one dimension can be inferred"


def _repeated_dim(_message: str, _arrays: list[Array]) -> str:
    return "a dim appears multiple times in the list of dims"


def _unequal_parts(_message: str, arrays: list[Array]) -> str:
    return f"Sizes of tensors must match except in dimension dim, got {_shapes(arrays)}"


def _unequal_ndims(_message: str, arrays: list[Array]) -> str:
    return f"Tensors must have same number of dimensions: got {_shapes(arrays)}"


def _unequal_stack(_message: str, arrays: list[Array]) -> str:
    return f"stack expects each tensor to be equal size, but got {_shapes(arrays)}"


def _shapes(arrays: list[Array]) -> str:
    return ", ".join(str(list(array.shape)) for array in arrays)


_EXPLANATIONS: Final[tuple[tuple[str, _Explanation], ...]] = (
    ("could not broadcast input array", _cannot_expand),
    ("to indexing result of shape", _cannot_write),
    ("could not be broadcast", _sizes_differ),
    ("cannot be broadcast to a single shape", _sizes_differ),
    ("mismatch in its core dimension", _cannot_multiply),
    ("does not have enough dimensions", _cannot_multiply),
    ("not aligned", _cannot_multiply),
    ("cannot reshape array", _bad_reshape),
    ("can only specify one unknown dimension", _several_unknown),
    ("duplicate value in", _repeated_dim),
    ("repeated axis", _repeated_dim),
    ("concatenation axis must match", _unequal_parts),
    ("must have same number of dimensions", _unequal_ndims),
    ("all input arrays must have the same shape", _unequal_stack),
)
"""A phrase of NumPy's message, and who says the same in PyTorch's words."""
