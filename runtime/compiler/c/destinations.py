"""Products of matrices that are made where a copy of them would lie.

Attention turns the heads of a product round, and puts gradients side by side. BLAS writes rows
anywhere, or the transposed product, so that nothing has to be copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from typing import Final

from ..program import Value
from .operations import Call, Map, Operation
from .products import by_matrices

_JOINS: Final = ("np.concatenate", "np.stack")
"""Steps whose results consist of copies side by side."""


def made_in_place(
    operations: Sequence[Operation], held: Set[Value], outputs: Set[Value]
) -> list[Operation]:
    """Return operations in which products that are read by a copy alone are made in its place.

    `held` are inputs and constants, which are not written to before their time.
    """
    reads = Counter(value for each in operations for value in each.reads)
    writes = Counter(value for each in operations for value in each.outs)
    found: list[Operation] = []
    calls: dict[Value, int] = {}
    for operation in operations:
        source = _copied(operation)
        if source in calls and reads[source] == writes[source] == 1 and source not in outputs:
            assert isinstance(operation, Map)
            nr, target = calls[source], operation.out
            is_alone = writes[target] == 1 or operation.step.function in _JOINS
            moved = _moved(found[nr], operation) if is_alone and target not in held else None
            if moved is not None:
                found[nr] = moved
                calls[target] = nr
                continue
        if isinstance(operation, Call) and operation.matrices is not None:
            calls[operation.out] = len(found)
        found.append(operation)
    return found


def _copied(operation: Operation) -> Value | None:
    """Return the value that an operation copies as it is; None if it does something else."""
    if not isinstance(operation, Map) or operation.formula != "{0}":
        return None
    operand, *others = operation.operands
    dtypes = {operand.dtype, operand.loop_dtype, operation.dtype, operation.out.dtype}
    return operand.access.root if operand.access and len(dtypes) == 1 and not others else None


def _moved(call: Operation, copy: Map) -> Call | None:
    """Return the product as it writes to where the copy does; None if BLAS cannot."""
    assert isinstance(call, Call)
    assert call.matrices is not None
    left, right, out = call.matrices
    read = copy.operands[0].access
    assert read is not None
    strides = _places(out, copy) if read.offset == out.offset else None
    if strides is None:
        return None
    target = copy.out
    seen = Value(target.name, out.shape, out.dtype, strides, target, copy.target.offset)
    size = out.dtype.itemsize
    if strides[-1] != size:
        left, right, seen = _turned(right), _turned(left), _turned(seen)
    if seen.strides[-1] != size or seen.strides[-2] < seen.shape[-1] * size:
        return None
    return by_matrices(call.step, left, right, seen, seen.shape[:-2], target)


def _places(out: Value, copy: Map) -> tuple[int, ...] | None:
    """Return the strides that a value has after a copy; None if it has none."""
    read = copy.operands[0].access
    assert read is not None
    dims = {stride: nr for nr, stride in enumerate(out.strides) if out.shape[nr] != 1}
    found = [out.dtype.itemsize] * len(out.shape)
    for length, stride, target in zip(copy.dims, read.strides, copy.target.strides, strict=True):
        done = 1
        while done < length:  # one dimension of the copy may be several of the value
            nr = dims.pop(stride * done, None)
            if nr is None:
                return None
            found[nr] = target * done
            done *= out.shape[nr]
        if done != length:
            return None
    return None if dims else tuple(found)


def _turned(value: Value) -> Value:
    """Return matrices as they are transposed."""
    shape = (*value.shape[:-2], value.shape[-1], value.shape[-2])
    strides = (*value.strides[:-2], value.strides[-1], value.strides[-2])
    base = value if value.base is None else value.base
    return Value(value.name, shape, value.dtype, strides, base, value.offset)
