"""Calls to begin with, of an op whose entry gives no examples: the first ones that it accepts.

Shapes are tried that most formulas take, the same for all tensors before others, small ones before
large ones: what matters is that there is one call, as the proof varies it to other extents,
dimensions, flags and data.
"""

from __future__ import annotations

import dataclasses
import itertools
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from ...spec.model import REQUIRED, AutoElementwise, Example, OpSpec, Param
from ...spec.structure import shape_only, unmet
from ...spec.vocabulary import FACTORIZATIONS
from ..identities.run import Call
from ..inputs.draw import usual_values
from .call import float_leaves
from .data import Args
from .extents import count_elements, is_shape
from .mentioned import mentioned_constants
from .points import NoCall, usual_points
from .required_shapes import with_required_numbers, with_required_shapes

MOST_EXAMPLES = 3
"""Number of calls that are taken, with tensors of different numbers of dimensions."""

MOST_ELEMENTS = 12
"""Elements of all tensors of a call, but for the first: each is a symbol."""

FEW_ELEMENTS = 8
"""Calls with more are made smaller."""

MANY_ELEMENTS = 20
"""Examples with more are too many symbols for products of quotients, as attention has them."""

MOST_TRIED = 4000
"""Number of calls that are tried before the author is asked for one."""

_DRAWS = 3
"""Points at which each call is tried. Results that are finite at one of them only will do for an op
that has no other calls: its entry may lack a domain."""

_SHAPES: tuple[list[int], ...] = (
    [2, 2],
    [2],
    [],
    [2, 3],
    [3, 2],
    [3],
    [2, 2, 2],
    [1, 2, 4, 4],
    [1, 2, 4],
)
_MIXED: tuple[list[int], ...] = ([2, 2], [2], [], [2, 3], [3, 2], [2, 2, 2])
_DATA: tuple[dict[str, list[Any]], ...] = (
    {"int": [0, 1]},
    {"bool": [True, False]},
    {"int": [[1, 0], [0, 1]]},
)


class NoExamples(Exception):
    """An entry gives no examples, and none were found."""


def with_examples(spec: OpSpec) -> OpSpec:
    """The entry, with calls that its op accepts where it gives none.

    Examples of many elements become smaller ones. Entries of elementwise ops have usual examples.
    Raises NoExamples if no call was found.
    """
    elementwise = any(isinstance(rule, AutoElementwise) for _, rule in spec.jvps)
    if not spec.examples and (elementwise or spec.promotes) and not spec.requires:
        return spec
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if spec.examples:
            smaller = tuple(_with_fewer_elements(spec, example) for example in spec.examples)
            return dataclasses.replace(spec, examples=smaller)
        found = (
            _accepted(spec, _DRAWS, with_gradients=True)
            or _accepted(spec, 1, with_gradients=True)
            or _accepted(spec, 1, with_gradients=False)
        )
    if not found:
        raise NoExamples(
            "no call was found that it accepts: add `examples:` with calls such as "
            "`- {self: [2, 3]}`"
        )
    return dataclasses.replace(spec, examples=found)


def _accepted(spec: OpSpec, fewest: int, *, with_gradients: bool) -> tuple[Example, ...]:
    """The first calls, each of which has finite results at some points, and gradients."""
    found: dict[tuple[int, ...], Example] = {}
    tensors = {param.name for param in spec.signature.tensor_params}
    for args in itertools.islice(_candidates(spec), MOST_TRIED):
        example = Example(tuple(args.items()), spec.span)
        kind = tuple(_ndim(value) for name, value in args.items() if name in tensors)
        if kind in found or (found and count_elements(args) > MOST_ELEMENTS):
            continue
        if found and min(kind, default=0) < min(min(key, default=0) for key in found):
            break  # what is a call with floats is none of whole numbers, flags or factors
        if _count_accepted(spec, example, with_gradients=with_gradients) >= fewest:
            found[kind] = _shrunk(spec, example, fewest, with_gradients=with_gradients)
            if len(found) == MOST_EXAMPLES:
                break
    return tuple(found.values())


def _with_fewer_elements(spec: OpSpec, example: Example) -> Example:
    """An example of many elements with smaller extents, unequal where they are, if that is a call.

    Larger extents are judged with numbers.
    """
    shapes = {n: given for n, given in example.args if is_shape(spec, n, given)}
    sizes = sorted({size for shape in shapes.values() for size in shape if size > 1})
    found = example
    for least in (2, 1):
        if count_elements(dict(found.args)) > MANY_ELEMENTS:
            new = {size: min(size, least + place) for place, size in enumerate(sizes)}
            args = dict(example.args) | {
                name: [new.get(size, size) for size in shape] for name, shape in shapes.items()
            }
            tried = Example(tuple(args.items()), example.span)
            if _count_accepted(spec, tried, with_gradients=True):
                found = tried
    return found


def smaller_example(spec: OpSpec, example: Example) -> Example | None:
    """An example with an extent of one, and the same elsewhere; None if that is no call."""
    shapes = {
        n: sizes for n, given in example.args if (sizes := _sizes(spec, n, given)) is not None
    }
    for place in range(max(map(len, shapes.values()), default=0)):
        smaller = {
            name: [1 if n == place else size for n, size in enumerate(shape)]
            for name, shape in shapes.items()
        }
        args = {
            name: _resized(given, smaller[name]) if name in smaller else given
            for name, given in example.args
        }
        fewer = count_elements(args)
        if 1 < fewer < count_elements(dict(example.args)) and fewer > len(shapes):
            tried = Example(tuple(args.items()), example.span)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if _count_accepted(spec, tried, with_gradients=True):
                    return tried
    return None


def _sizes(spec: OpSpec, name: str, given: Any) -> list[int] | None:
    """The shape of a tensor of real or complex numbers; None for other values."""
    shape = given["complex"] if isinstance(given, dict) and "complex" in given else given
    return shape if is_shape(spec, name, shape) else None


def _resized(given: Any, shape: list[int]) -> Any:
    return {"complex": shape} if isinstance(given, dict) else shape


def _shrunk(spec: OpSpec, example: Example, fewest: int, *, with_gradients: bool) -> Example:
    """The call with an extent of one here and there, where it has more elements than others."""
    for name, shape in example.args:
        for place in range(len(shape) if is_shape(spec, name, shape) else 0):
            args = dict(example.args)
            smaller = [1 if n == place else size for n, size in enumerate(args[name])]
            if count_elements(args) <= FEW_ELEMENTS or count_elements({name: smaller}) < 2:
                continue
            tried = Example(tuple((args | {name: smaller}).items()), spec.span)
            if _count_accepted(spec, tried, with_gradients=with_gradients) >= fewest:
                example = tried
    return example


def _is_needed(param: Param) -> bool:
    return param.default is REQUIRED


def _ndim(given: Any) -> int:
    """The number of dimensions; less than none for whole numbers and flags, and for factors."""
    if isinstance(given, dict) and "complex" in given:
        return len(given["complex"])
    if isinstance(given, dict):
        return -2 if _is_of_factors(given) else -1
    return len(given[0]) if given and isinstance(given[0], list) else len(given)


def _candidates(spec: OpSpec) -> Iterator[Args]:
    """Calls to try, the simplest first."""
    params = [param for param in spec.signature.params if _is_needed(param)]
    tensors = [param for param in params if param.type.base == "Tensor"]
    others = [param for param in params if param not in tensors]
    _, strings = mentioned_constants(spec)
    names = [param.name for param in others]
    words = [dict(zip(names, values, strict=True)) for values in _words(others, strings)]
    seen = set()
    for given in _tensors(tensors, {*spec.differentiable_params}):
        for word in words:
            args = {param.name: (given | word)[param.name] for param in params}
            args = with_required_numbers(spec, with_required_shapes(spec, args))
            if (text := repr(args)) not in seen:
                seen.add(text)
                yield args


def _tensors(tensors: list[Param], differentiable: set[str]) -> Iterator[Args]:
    """Shapes, and whole numbers or flags for what has no derivative."""
    if all(param.name in differentiable for param in tensors):
        for shape in _SHAPES:
            yield {param.name: _of_type(param, shape) for param in tensors}
    factors = [{kind: [2, 2]} for kind in FACTORIZATIONS]
    choices = (
        (*_MIXED, *factors) if param.name in differentiable else (*_DATA, *_MIXED)
        for param in tensors
    )
    for given in sorted(itertools.product(*choices), key=_count_factors):
        yield {p.name: _of_type(p, one) for p, one in zip(tensors, given, strict=True)}


def _count_factors(several: tuple[Any, ...]) -> int:
    return sum(map(_is_of_factors, several))


def _is_of_factors(given: Any) -> bool:
    return isinstance(given, dict) and {*given} <= {*FACTORIZATIONS}


def _of_type(param: Param, given: Any) -> Any:
    return [given, given] if param.type.is_list else given


def _words(params: list[Param], strings: list[str]) -> Iterator[tuple[Any, ...]]:
    """Values of the arguments that are no tensors."""
    choices = [strings if p.type.base == "str" else usual_values(p) for p in params]
    return itertools.product(*choices)


def _count_accepted(spec: OpSpec, example: Example, *, with_gradients: bool) -> int:
    """Count the points, of a few, at which the op gives finite numbers."""
    if unmet(spec, shape_only(spec, example)) is not None:
        return 0
    rng = np.random.default_rng(zlib.crc32(spec.name.encode()))
    count = 0
    with suppress(NoCall, ArithmeticError, LookupError, TypeError, ValueError, RuntimeError):
        for values in usual_points(spec, dict(example.args), rng, _DRAWS):
            leaves = float_leaves(spec, values) if with_gradients else []
            call = Call(spec, values, [n for n in leaves if n[0] in spec.differentiable_params])
            outputs = call()
            arrays = [tensor.array for tensor in outputs.values()]
            arrays += _gradients([t for t in outputs.values() if t.requires_grad], call)
            count += bool(outputs) and all(np.isfinite(array).all() for array in arrays)
    return count


def _gradients(outputs: list[Any], call: Call) -> list[Any]:
    from gradspec.autograd import grad
    from gradspec.core.tensor import wrap

    if not outputs:
        return []
    cotangents = [wrap(np.ones_like(output.array)) for output in outputs]
    found = grad(outputs, list(call.tensors.values()), cotangents, allow_unused=True)
    return [gradient.array for gradient in found if gradient is not None]
