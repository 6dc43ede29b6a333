"""Arguments that functions take by name beside those of their ops: `axis`, `keepdims`, `out`.

A generated function finds in a few nanoseconds that none of them is given, and comes here if one
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ..core.lazy import LazyModule
from ..core.modes import is_grad_enabled, no_grad
from ..core.tensor import Tensor
from ..core.torch_function import flattened, handle_torch_function, has_torch_function
from ..core.user_warnings import warn
from ..dispatch.dispatch import bind, call
from ..dispatch.named_results import Result
from ..dispatch.overloads import DTYPE_OF_OUT, NUMPY_NAMES, public_function, pytorch_names
from ..dispatch.registry import BY_NAME, OPS, Op
from ..dtypes.promotion import can_cast, type_name
from ..forward_ad.dual import Dual, without_closed_levels
from .fill_copy import copy_into
from .ops import mark_written

if TYPE_CHECKING:
    from . import out_overlap, resize
else:
    out_overlap = LazyModule(".out_overlap", globals(), "out_overlap")
    resize = LazyModule(".resize", globals(), "resize")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def with_further(
    function: Callable[..., Any],
    *args: Any,
    axis: Any = None,
    keepdims: Any = None,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Call an op with NumPy's names of its arguments, or with `out`.

    TypeError for an argument that is given under both of its names, and where a required one is
    missing.
    """
    given = {"axis": axis, "keepdims": keepdims, "out": out}
    named = {name: value for name, value in given.items() if value is not None}
    relevant = flattened((*args, *kwargs.values(), out))
    if has_torch_function(relevant):
        return handle_torch_function(public_function(function), relevant, *args, **kwargs, **named)
    op = OPS[function]
    values = bind(op, args, kwargs)
    for name, usual in NUMPY_NAMES.items():
        if name in named:
            if values[usual] is not _default(function, usual):
                raise TypeError(f"{_name(op)}() got multiple values for argument '{usual}'")
            values[usual] = named[name]
    for param in op.params:
        may_be_none = param.type.endswith("?")
        if param.required and not may_be_none and values[param.name] is None:
            raise TypeError(
                f'{_name(op)}() missing 1 required positional arguments: "{param.name}"'
            )
    if _name(op) in DTYPE_OF_OUT and isinstance(out, Tensor) and values["dtype"] is None:
        values["dtype"] = out.array.dtype
    result = call(op, values)
    return result if out is None else write_out(_name(op), result, out, values.values())


def _default(function: Callable[..., Any], argument: str) -> Any:
    from inspect import signature  # few programs need it, and it takes long to import

    return signature(function).parameters[argument].default


def _name(op: Op) -> str:
    return op.name.partition(".")[0]


def write_out(
    name: str, result: Any, out: Any, read: Iterable[object] = (), *, warns: bool = True
) -> Any:
    """Write the result of `name` to `out`, which is resized to fit, and return it.

    That elements are lost by it is a warning, unless `warns` is false.

    For several results both are tuples. Raises RuntimeError where a gradient is asked for, for a
    dtype that cannot hold the result, and where `out` overlaps what was `read`; TypeError if `out`
    is no tensor.
    """
    if isinstance(result, tuple):
        if not isinstance(out, Sequence) or len(out) != len(result):
            raise TypeError(
                f"{name}(): argument 'out' must be tuple of {len(result)} Tensors, "
                f"not {type(out).__name__}"
            )
        written = [write_out(name, *pair, read) for pair in zip(result, out, strict=True)]
        return type(result)(*written) if isinstance(result, Result) else tuple(written)
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if is_grad_enabled() and (result.requires_grad or out.requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    if any(isinstance(without_closed_levels(each), Dual) for each in (result, out)):
        raise RuntimeError(
            f"{name}(): Trying to use forward AD with an out= function is not supported: call it "
            "without out="
        )
    _check_dtype(name, result.array.dtype, out.array.dtype)
    if out.array.shape != result.array.shape:
        _resize(out, result.array.shape, warns)
    elif read:
        out_overlap.refuse_overlap_of_out(name, out, read)
    with no_grad():
        copy_into(out, result)
    return out


def _check_dtype(name: str, found: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    if found == wanted or (name, found.kind + wanted.kind) in _CASTING_KINDS:
        return
    if not _casts(name):
        raise RuntimeError(
            f"{name}(): Expected out tensor to have dtype {found}, but got {wanted} instead: give "
            "such a tensor, or the argument dtype where the function has it"
        )
    if not can_cast(found, wanted) and name in _CASTING_SAFELY:
        raise RuntimeError(
            f"{name}: Expected result to be safely castable from {type_name(found)} dtype, but got "
            f"result with dtype {type_name(wanted)}"
        )
    if not can_cast(found, wanted):
        raise RuntimeError(
            f"result type {type_name(found)} can't be cast to the desired output type "
            f"{type_name(wanted)}"
        )


def _casts(name: str) -> bool:
    """Return whether a function writes to tensors of other dtypes, as elementwise ones do that
    bring their arguments to one dtype."""
    if name in _EXACT:
        return False
    if name in _CASTING or name in _CASTING_SAFELY or "_polynomial_" in name:
        return True
    overloads = [op for op in BY_NAME.values() if _name(op) == name]
    return any(op.int_to_float or len(op.promotes) > 1 for op in overloads)


_CASTING: Final = frozenset(
    [
        *("cat", "column_stack", "concat", "concatenate", "diff", "dstack", "hstack", "kron"),
        *("lerp", "logical_and", "logical_not", "logical_or", "logical_xor", "outer", "square"),
        *("addr", "mvlgamma", "stack", "std", "var", "vstack"),
        *(f"{i}{kind}fft{n}" for i in ("", "i") for kind in ("", "r", "h") for n in ("", "2", "n")),
    ]
)
_CASTING_SAFELY: Final = frozenset(
    [
        *("cholesky", "cholesky_inverse", "cholesky_solve", "cond", "geqrf", "householder_product"),
        *("linalg_eigvals", "linalg_lstsq", "matrix_rank", "orgqr", "pinv", "tensorinv"),
        "tensorsolve",
    ]
)
"""Functions of matrices that cast, and say so in other words."""
_EXACT: Final = frozenset(["clamp", "cross", "heaviside", "linalg_cross", "where"])
"""Functions that do not cast, though elementwise."""

_CASTING_KINDS: Final = frozenset(
    (name, kinds) for name in ("all", "any") for kinds in ("bu", "ub")
)
"""Functions that cast from one kind of dtype to another, and no other."""


def _resize(out: Tensor, shape: tuple[int, ...], warns: bool) -> None:
    if out.array.size and warns:
        warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out.array.shape)}, which does not match the required output shape "
            f"{list(shape)}. Give a tensor of that shape, or one without elements, which may be "
            "resized: out.resize_(0)."
        )
    out.array = resize.resize_array(out.array, shape)
    mark_written(out)


def accepts_out(function: _Function) -> _Function:
    """Let a function that is no op of the table write its result to `out`: see `write_out`."""

    @wraps(function)
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if out is None:
            return result
        return write_out(function.__name__, result, out, [*args, *kwargs.values()])

    answer: Any = call
    return answer


def accepts_numpy_names(function: _Function) -> _Function:
    """Let a function that is no op of the table take `axis` and `keepdims`, too."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not NUMPY_NAMES.keys().isdisjoint(kwargs):
            kwargs = pytorch_names(function.__name__, kwargs)
        return function(*args, **kwargs)

    answer: Any = call
    return answer
