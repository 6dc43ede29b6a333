"""Does the op answer the same however its arguments lie in memory?

Symbols are always contiguous. Users' arrays are transposed, sliced, expanded and read-only, and so
are the cotangents and tangents that other ops hand on. What the op answers for contiguous floats is
proved; for the same floats elsewhere in memory it must be that again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...spec.model import NotImplementedYet, OpSpec
from ..identities.identity import Mismatch
from ..identities.run import Array, Call, Leaf, differentiable_leaves
from ..numeric.evaluate import Point
from ..numeric.slopes import Answer, directions
from ..zero.number_fields import numeric_values
from .draw import Inputs

_TOLERANCE = 1e-9
"""Relative to the largest element: sums of other layouts are added in another order."""

_MOST = 1e6
"""Expanded arguments may be no place for an op, such as a matrix of equal rows for an inverse: what
is larger than this is mostly rounding."""


def contiguous(array: Array) -> Array:
    """A copy in row-major order."""
    return np.array(array, order="C")


def transposed(array: Array) -> Array:
    """The last dimension is the outermost in memory: for a matrix, column-major order."""
    laid = (
        np.moveaxis(np.array(np.moveaxis(array, -1, 0), order="C"), 0, -1) if array.ndim else array
    )
    return _read_only(laid)


def strided(array: Array) -> Array:
    """Every second element of a larger array from its end on, with other numbers between."""
    around = np.ones([2 * length + 1 for length in array.shape], array.dtype)
    laid = around[(slice(-2, None, -2),) * array.ndim + (...,)]
    laid[...] = array
    return _read_only(laid)


def expanded(array: Array) -> Array:
    """The first slice of the longest dimension in the place of all others: other values."""
    if not array.size:
        return contiguous(array)
    dim = max(range(array.ndim), key=array.shape.__getitem__, default=0)
    first = array[(slice(None),) * dim + (slice(1),)] if array.ndim else array
    return np.broadcast_to(first, array.shape)


def _read_only(array: Array) -> Array:
    array = array[...]
    array.flags.writeable = False
    return array


Lay: TypeAlias = Callable[[Array], Array]
"""Functions that place the elements of an array elsewhere in memory."""


class Layout(NamedTuple):
    """The layout in memory of arguments, and of cotangents and tangents."""

    text: str
    arguments: Lay
    directions: Lay

    def in_row_major_order(self) -> Layout:
        """The same numbers as plain arrays."""
        return Layout(
            "", lambda a: contiguous(self.arguments(a)), lambda a: contiguous(self.directions(a))
        )


LAYOUTS = (
    Layout("arguments are transposed", transposed, contiguous),
    Layout("cotangents and tangents are transposed", contiguous, transposed),
    Layout("all arrays are transposed", transposed, transposed),
    Layout("all arrays are strided", strided, strided),
)

EXPANDED = (
    Layout("cotangents and tangents are expanded", contiguous, expanded),
    Layout("arguments are expanded", expanded, contiguous),
)


def check_layouts(spec: OpSpec, inputs: Inputs, point: Point) -> int:
    """Compare answers, and count them. Raises Mismatch naming one that a layout changes."""
    given = numeric_values(inputs, point), differentiable_leaves(spec, inputs)
    compared = 0
    with np.errstate(all="ignore"):
        plain = _answers(spec, *given, Layout("", contiguous, contiguous))
        for layout in LAYOUTS:
            compared += _check(spec, *given, layout, plain)
        for layout in EXPANDED:
            same = _answers(spec, *given, layout.in_row_major_order())
            usual = [answer if _is_usual(answer) else None for answer in same]
            compared += _check(spec, *given, layout, usual)
    return compared


def _answers(
    spec: OpSpec, values: dict[str, Any], leaves: list[Leaf], layout: Layout
) -> list[Answer | None]:
    """The answers of every pass; None for one that the op refuses."""
    answers: list[Answer | None] = []
    for run in _PASSES:
        try:
            answers.append(run(spec, values, leaves, layout))
        except Exception:
            answers.append(None)
    return answers


def _check(
    spec: OpSpec,
    values: dict[str, Any],
    leaves: list[Leaf],
    layout: Layout,
    wanted: list[Answer | None],
) -> int:
    compared = 0
    if spec.signature.view_of is not None and _refuses(spec, values, layout):
        return 0
    for run, answer in zip(_PASSES, wanted, strict=True):
        if answer is None:
            continue
        try:
            found = run(spec, values, leaves, layout)
        except Exception as error:
            message = f"raises {type(error).__name__}: {error}"
            raise Mismatch(f"{spec.name} where {layout.text}", _key(leaves), message) from error
        for label, array in answer.items():
            _compare(f"{label} where {layout.text}", _key(leaves), found.get(label), array)
            compared += 1
    return compared


def _refuses(spec: OpSpec, values: dict[str, Any], layout: Layout) -> bool:
    """Return whether the answer would be a view that there is of some layouts only."""
    try:
        Call(spec, _laid(values, layout.arguments), [])()
    except RuntimeError:
        return True
    return False


def _is_usual(answer: Answer | None) -> bool:
    if answer is None:
        return False
    arrays = [array for array in answer.values() if array is not None and array.dtype.kind in "fc"]
    return all(bool((np.abs(array) < _MOST).all()) for array in arrays)


def _compare(label: str, key: str, found: Any, wanted: Any) -> None:
    if found is None or wanted is None:
        if found is not wanted:
            raise Mismatch(label, key, "is there for some layouts only")
        return
    if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
        kinds = f"{found.dtype}{list(found.shape)}, contiguous {wanted.dtype}{list(wanted.shape)}"
        raise Mismatch(label, key, f"is {kinds}")
    size = np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0)
    close = np.isclose(found, wanted, _TOLERANCE, _TOLERANCE * size, equal_nan=True)
    if not close.all():
        index = tuple(int(i) for i in np.argwhere(~close)[0])
        message = f"{list(index)} is {found[index]!r}, of contiguous arrays {wanted[index]!r}"
        raise Mismatch(label, key, message)


def _key(leaves: list[Leaf]) -> str:
    """Name the formula at fault by its key in the spec, as far as that can be said."""
    return leaves[0][0] if leaves else "forward"


def _laid(values: dict[str, Any], lay: Lay) -> dict[str, Any]:
    return {
        name: [_item(each, lay) for each in value] if isinstance(value, list) else _item(value, lay)
        for name, value in values.items()
    }


def _item(value: Any, lay: Lay) -> Any:
    return lay(value) if isinstance(value, np.ndarray) else value


def _backward(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf], layout: Layout) -> Answer:
    """Values and gradients."""
    from gradspec.autograd import grad

    call = Call(spec, _laid(values, layout.arguments), leaves)
    outputs = call()
    answer: Answer = {name: tensor.array for name, tensor in outputs.items()}
    roots = _roots(outputs.values())
    if roots:
        found = grad(roots, list(call.tensors.values()), _weights(roots, layout), allow_unused=True)
        answer |= _named("VJP of", leaves, found)
    return answer


def _backward_twice(
    spec: OpSpec, values: dict[str, Any], leaves: list[Leaf], layout: Layout
) -> Answer:
    """The gradients again, by the path that can be differentiated, and their gradients."""
    from gradspec.autograd import grad

    call = Call(spec, _laid(values, layout.arguments), leaves)
    roots = _roots(call().values())
    if not roots:
        return {}
    cotangents = [weight.requires_grad_() for weight in _weights(roots, layout)]
    tensors = list(call.tensors.values())
    first = grad(roots, tensors, cotangents, create_graph=True, allow_unused=True)
    answer = _named("recorded VJP of", leaves, first)
    again = [g for g in first if g is not None and g.requires_grad]
    if again:
        weights = _weights(again, layout)
        found = grad(again, [*tensors, *cotangents], weights, allow_unused=True)
        places = [*leaves, *(("cotangent", number) for number in range(len(roots)))]
        answer |= _named("double backward by", places, found)
    return answer


def _forward_mode(
    spec: OpSpec, values: dict[str, Any], leaves: list[Leaf], layout: Layout
) -> Answer:
    from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual

    if not leaves or any(isinstance(rule, NotImplementedYet) for _, rule in spec.jvps):
        return {}
    plain = Call(spec, _laid(values, layout.arguments), leaves)
    tensors = [tensor.detach() for tensor in plain.tensors.values()]
    call = Call(spec, _laid(values, layout.arguments), [])
    with dual_level():
        for leaf, tensor, tangent in zip(leaves, tensors, _weights(tensors, layout), strict=True):
            call.replace(leaf, make_dual(tensor, tangent))
        found = [unpack_dual(tensor).tangent for tensor in call().values()]
    return _named("JVP of", [("output", number) for number in range(len(found))], found)


_PASSES = (_backward, _backward_twice, _forward_mode)


def _roots(outputs: Iterable[Any]) -> list[Any]:
    return [
        tensor for tensor in outputs if tensor.requires_grad and tensor.array.dtype.kind in "fc"
    ]


def _weights(tensors: list[Any], layout: Layout) -> list[Any]:
    """A cotangent or a tangent for each tensor."""
    from gradspec.core.tensor import wrap

    arrays = [tensor.array for tensor in tensors]
    pairs = zip(directions(arrays), arrays, strict=True)
    return [wrap(layout.directions(weight.astype(array.dtype))) for weight, array in pairs]


def _named(what: str, places: Sequence[Leaf], tensors: Iterable[Any]) -> Answer:
    return {
        f"{what} {name} {number}": None if tensor is None else tensor.array
        for (name, number), tensor in zip(places, tensors, strict=True)
    }
