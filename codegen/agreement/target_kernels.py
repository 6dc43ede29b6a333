"""Functions of the user's that compute ops for a framework, beside the ops, at calls of all kinds.

No proof knows of such a function, and one is often right for the lengths, the dtype and the layout
that its author had in mind. So it is also called with other extents, flags and numbers than those
of examples, in both precisions, with arguments that do not lie row by row, and with large ones.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ..prove.calls.call import NoCall
from ..prove.calls.every_size import exchanged, sizes_of
from ..prove.calls.points import arguments
from ..prove.calls.required_shapes import with_required_shapes
from ..prove.calls.structures import attributes, structures
from ..prove.identities.run import Call
from ..prove.inputs.domain import is_inside
from ..prove.inputs.draw import examples_of
from ..prove.inputs.other_arrays import apart, arrays_of, in_dtype, with_floats
from ..spec.model import OpSpec
from .call import caller
from .questions import Array, Question, shown

Values: TypeAlias = dict[str, Any]

_MOST_STRUCTURES = 80
_MOST_ATTRIBUTES = 40

_LONG = (7, 31, 64, 129, 1025)
"""Extents on both sides of the blocks that kernels divide their work into."""

_MOST_ELEMENTS = 20_000

_MOST_SHOWN = 24
"""Elements that are shown."""

_LARGE = (64, 2.0**-12)
"""Factors of the arguments."""

_TOLERANCES = {"float64": 1e-9, "float32": 2e-5}
"""The largest differences, of the largest number of a result or of one where that is smaller."""


def differences(
    spec: OpSpec,
    function: Callable[..., Any],
    array: Callable[[Any], Any],
    dtype: Callable[[str], Any],
    *,
    has_layouts: bool,
) -> Iterator[str]:
    """Compare the function of an op at other calls: tell what differs at each, if anything does."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for values in _other_values(spec):
            for name, tolerance in _TOLERANCES.items():
                given = in_dtype(values, np.dtype(name))
                wanted = _results(spec, given)
                for way, laid in _layouts(given) if has_layouts else [("", given)]:
                    if wanted is not None:
                        question = Question(_shown(spec, given), laid, [], [], [], [])
                        call = caller(spec, function, question, array, dtype)
                        told = _told(call, wanted, tolerance)
                        yield told and f"{question.call} in {name}{way}: {told}"
                        if told:
                            break


def _other_values(spec: OpSpec) -> Iterator[Values]:
    """The arguments of calls, of which the op may refuse some."""
    examples = examples_of(spec)
    given = [dict(example.args) for example in examples]
    rng = np.random.default_rng(0)
    several = [
        itertools.islice(structures(spec, examples, _MOST_STRUCTURES), _MOST_STRUCTURES),
        *(itertools.islice(attributes(spec, examples, a), _MOST_ATTRIBUTES) for a in given),
        (exchanged(spec, a, n, long) for a in given for n in sizes_of(spec, a) for long in _LONG),
    ]
    seen: set[str] = set()
    for args in itertools.chain.from_iterable(several):
        for changed in (args, with_required_shapes(spec, args)):
            if repr(changed) in seen:
                continue
            seen.add(repr(changed))
            try:
                values = arguments(spec, changed, rng)
            except (NoCall, ValueError):
                continue
            if sum(array.size for array in arrays_of(values.values())) <= _MOST_ELEMENTS:
                yield values
                if changed in given:
                    scaled = (_scaled(values, factor) for factor in _LARGE)
                    yield from (each for each in scaled if is_inside(spec.domain, each))


def _shown(spec: OpSpec, values: Values) -> str:
    """The call, with shapes for arrays that are too long to read."""
    if sum(array.size for array in arrays_of(values.values())) <= _MOST_SHOWN:
        return shown(spec, values)
    shapes = with_floats(values, lambda array: list(array.shape), "fc")
    words = (f"{n} of shape {s}" if s is not values[n] else f"{n}={s!r}" for n, s in shapes.items())
    return f"{spec.signature.name}({', '.join(words)})"


def _scaled(values: Values, factor: float) -> Values:
    return with_floats(values, lambda array: np.asarray(array * factor), "fc")


def _layouts(values: Values) -> Iterator[tuple[str, Values]]:
    """The same numbers in other orders of memory, each with what to say of it."""
    yield "", values
    if any(array.size > 1 for array in arrays_of(values.values())):
        yield ", of every second element", with_floats(values, apart, "fc")
        yield ", column by column", with_floats(values, np.asfortranarray, "fc")


def _results(spec: OpSpec, values: Values) -> list[Array] | None:
    """The results of the op itself; None if it refuses the call, or gives no numbers."""
    try:
        found = [tensor.array for tensor in Call(spec, values, [])().values()]
    except Exception:  # a call that the op was not made for, however it says so
        return None
    return found if all(np.isfinite(array).all() for array in found) else None


def _told(call: Callable[[], tuple[Any, ...]], wanted: list[Array], tolerance: float) -> str:
    """Say how results differ; nothing if they do not."""
    try:
        found = [np.asarray(_on_numpy(each)) for each in call()]
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        return f"raises {type(error).__name__}: {str(error)[:200]}"
    if len(found) != len(wanted):
        return f"there are {len(found)} results, not {len(wanted)}"
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            kinds = (f"{list(array.shape)} {array.dtype}" for array in (one, other))
            return "output {} is {}, not {}".format(number, *kinds)
        near = tolerance * max(1.0, float(np.max(np.abs(other), initial=0.0)))
        if not np.allclose(one, other, rtol=0.0, atol=near):
            at = np.unravel_index(
                np.argmax(~np.isclose(one, other, rtol=0.0, atol=near)), one.shape
            )
            place = ", ".join(map(str, at))
            return f"output {number} at [{place}] is {one[at].item()}, not {other[at].item()}"
    return ""


def _on_numpy(result: Any) -> Any:
    return result.numpy(force=True) if hasattr(result, "numpy") else result
