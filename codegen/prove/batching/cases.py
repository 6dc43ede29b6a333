"""Calls of an op on several examples, one by one: what a batched call is compared with."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...spec.model import Example, OpSpec
from ...spec.vocabulary import FACTORIZATIONS
from ..calls.data import Args
from ..calls.extents import shapes_of
from ..calls.points import NoCall, arguments
from ..calls.structures import structures
from ..identities.run import Call
from ..inputs.draw import build, examples_of
from ..inputs.unproved import is_unproved
from ..numeric.evaluate import Point
from ..symbolic.decisions import tracing

EXAMPLES = 4
"""Examples in a batch of numbers: an extent that few calls have otherwise."""

SYMBOLIC_EXAMPLES = 2

MOST_CALLS = 24
MOST_MIXED = 150
"""Calls that are made of tensors of several ones; few of them are calls of the op."""

_TRIED = 4
"""Structures that are tried for each call, as many are no calls of the op."""

_SMALL = 3
"""Every third call is also made with small whole numbers, which have ties and zeros."""

_WIDE = 8
"""Calls that are made with elements of all sizes, where those of about one tell nothing."""

_NO_NUMBERS = 0.2
"""The part of these elements that are nan or infinite."""

Values = dict[str, Any]


@dataclass
class Case:
    """One op on the arguments of several examples."""

    spec: OpSpec
    rows: list[Values]
    """The arguments of each example, arrays for tensors; those that are not batched are shared."""
    batched: tuple[str, ...]
    """The arguments that the examples do not share."""
    point: Point | None = None
    """The witness of the symbols, where the arguments are symbols."""
    for_results_alone: bool = False
    """True if there are elements that are no numbers, of which derivatives are not compared."""
    results: list[dict[str, Any]] = field(default_factory=list)
    """The outputs of each example, as tensors."""
    one_by_one: Any = None
    """The derivatives of each example, once they have been asked for (see `derivatives`)."""

    def stacked(self, name: str, wrap: Callable[[Any], Any]) -> Any:
        """The arrays of all examples for one argument, passed through `wrap`."""
        values = [row[name] for row in self.rows]
        if isinstance(values[0], list):
            columns = map(list, zip(*values, strict=True))
            return [None if c[0] is None else wrap(stack(c)) for c in columns]
        return wrap(stack(values))

    def is_proved(self) -> bool:
        """Return whether the op is defined for all examples, and its gradients are."""
        return not any(is_unproved(self.spec, row) for row in self.rows)

    def tells(self) -> bool:
        """Return whether the examples have other results: like ones cannot tell a rule wrong."""
        first, *others = self.results
        return any(not _alike(first[name], other[name]) for other in others for name in first)

    def shares_dimensions(self) -> bool:
        """Return whether an argument that is not batched has dimensions."""
        shared = (value for name, value in self.rows[0].items() if name not in self.batched)
        return any(isinstance(value, np.ndarray) and value.ndim for value in shared)

    def run(self) -> bool:
        """Call the op for each example; answers whether that can be done, with like results."""
        from gradspec.core.modes import no_grad

        try:
            with no_grad(), np.errstate(all="ignore"):
                self.results = [Call(self.spec, row, [])() for row in self.rows]
        except Exception:
            return False
        shapes = {
            tuple((name, *_shape_and_dtype(tensor)) for name, tensor in result.items())
            for result in self.results
        }
        return len(shapes) == 1


def _shape_and_dtype(value: Any) -> tuple[Any, ...]:
    return (value.array.shape, value.array.dtype) if hasattr(value, "array") else (value,)


def _alike(one: Any, other: Any) -> bool:
    if not hasattr(one, "array"):
        return bool(one == other)
    kinds = one.array.dtype.kind + other.array.dtype.kind
    return np.array_equal(one.array, other.array, equal_nan=set(kinds) <= set("fc"))


def stack(arrays: list[Any]) -> Any:
    """The arrays along a new first dimension; those of symbols stay such."""
    if arrays[0].dtype != object:
        return np.stack(arrays)
    out = np.empty((len(arrays), *arrays[0].shape), object).view(type(arrays[0]))
    for number, array in enumerate(arrays):
        out[number] = array
    return out


def cases_with_numbers(spec: OpSpec) -> Iterator[Case]:
    """Calls like the examples of the spec and near them, each with every choice of batched ones.

    Where no choice of elements that an op is given tells one example from another, elements of all
    sizes are tried, and those that are no numbers.
    """
    rng = np.random.default_rng(0)
    found: list[list[Values]] = []
    choices: dict[tuple[str, ...], bool] = {}
    for number, args in enumerate(structures(spec, examples_of(spec), _TRIED * MOST_CALLS)):
        try:
            rows = [_arrays(arguments(spec, args, rng)) for _ in range(EXAMPLES)]
        except (NoCall, ValueError, TypeError):
            continue
        made = list(_choices(spec, _shuffled(rows, rng)))
        if number % _SMALL == 0:
            small = [{k: _small(v, n, rng) for k, v in row.items()} for n, row in enumerate(rows)]
            made += _choices(spec, small)
            made += _choices(spec, rows[:1])  # a batch of one example has a dimension of one
        if any(_is_whole(value) for value in rows[0].values()):
            made += _choices(spec, rows)  # other data may be none that the op takes
        usable = [case for case in made if case.is_proved() and case.run()]
        for case in usable:
            choices[case.batched] = choices.get(case.batched, False) or case.tells()
        yield from usable
        if usable:
            found.append(rows)
        if len(found) == MOST_CALLS:
            break
    silent = {batched for batched, tells in choices.items() if not tells}
    for rows in found[:_WIDE] if silent else ():
        for case in _choices(spec, [_wide(row, rng) for row in _shuffled(rows, rng)]):
            case.for_results_alone = True
            if case.batched in silent and case.is_proved() and case.run():
                yield case


def further_cases(spec: OpSpec) -> Iterator[Case]:
    """Calls that are less like the examples, at which chosen rules are tried.

    Tensors come from different calls, and there are as many examples as a tensor has elements in a
    dimension: a rule that takes the one for the other is refused by the op where numbers differ,
    and wrong where they do not. Formulas give the ops that only they call what fits, and nothing
    that broadcasts unless it is promoted.
    """
    if spec.is_called_by_formulas and len(spec.promotes) < 2:
        return
    rng = np.random.default_rng(1)
    known = list(structures(spec, examples_of(spec), _TRIED * MOST_CALLS))
    if spec.is_called_by_formulas:
        known = [args for args in known if _has_dimensions_of_examples(spec, args)]
    for number, args in enumerate(itertools.chain(_mixed(spec, known), known[MOST_CALLS:])):
        try:
            row = _arrays(arguments(spec, args, rng))
            sizes = sorted({2, *_few(row.values())})
            more = range(sizes[number % len(sizes)] - 1)
            rows = [row, *(_arrays(arguments(spec, args, rng)) for _ in more)]
        except (NoCall, ValueError, TypeError):
            continue
        for case in _choices(spec, rows):
            if case.is_proved() and case.run():
                yield case


def _has_dimensions_of_examples(spec: OpSpec, args: Args) -> bool:
    """Return whether tensors have as many dimensions as in an example, at least."""
    shapes = shapes_of(spec, args)
    given = [shapes_of(spec, dict(example.args)) for example in spec.examples]
    return all(
        len(shape) >= min((len(each[name]) for each in given if name in each), default=0)
        for name, shape in shapes.items()
    )


def _few(values: Iterable[Any]) -> set[int]:
    """The extents of arrays that are as small as batches may be."""
    shapes = (value.shape for value in values if isinstance(value, np.ndarray))
    return {size for shape in shapes for size in shape if 1 < size <= EXAMPLES}


def _mixed(spec: OpSpec, known: list[Args]) -> Iterator[Args]:
    """Calls in which tensors come from different ones of those known."""
    rng = random.Random(spec.name)
    names = [param.name for param in spec.signature.tensor_params]
    for _ in range(MOST_MIXED if len(names) > 1 else 0):
        others = {name: rng.choice(known) for name in names}
        yield rng.choice(known) | {n: args[n] for n, args in others.items() if n in args}


def cases_with_symbols(spec: OpSpec) -> Iterator[Case]:
    """The examples of the spec, on symbols."""
    for example in examples_of(spec):
        with suppress(Exception):  # no symbols stand for such a call: numbers do
            yield from _with_symbols(spec, example)


def _with_symbols(spec: OpSpec, example: Example) -> Iterator[Case]:
    tensors = {param.name for param in spec.signature.tensor_params}
    args = tuple(
        (name, _prefixed(value) if name in tensors else value) for name, value in example.args
    )
    inputs = build(spec, Example(args, example.span))
    point = inputs.draw(random.Random(spec.name))
    rows = [
        {k: _nth(v, n) if k in tensors else v for k, v in inputs.values.items()}
        for n in range(SYMBOLIC_EXAMPLES)
    ]
    for case in _choices(spec, rows):
        case.point = point
        with tracing(point):
            if case.run():
                yield case


def _prefixed(given: Any) -> Any:
    """The shapes of all examples, from those of one."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        ((kind, data),) = given.items()
        if kind == "complex" or kind in FACTORIZATIONS:
            return {kind: [SYMBOLIC_EXAMPLES, *data]}
        return {kind: [data] * SYMBOLIC_EXAMPLES}
    if given and not isinstance(given[0], int):
        return [_prefixed(item) for item in given]
    return [SYMBOLIC_EXAMPLES, *given]


def _nth(value: Any, number: int) -> Any:
    if isinstance(value, list):
        return [_nth(item, number) for item in value]
    return None if value is None else np.asanyarray(value)[number, ...]


def _choices(spec: OpSpec, rows: list[Values]) -> Iterator[Case]:
    """All tensors are batched; then each alone, with the others shared."""
    names = [p.name for p in spec.signature.tensor_params if rows[0][p.name] is not None]
    for batched in (tuple(names), *((name,) for name in names if len(names) > 1)):
        yield Case(spec, [rows[0] | {n: row[n] for n in batched} for row in rows], batched)


def _arrays(values: Values) -> Values:
    return {name: _array(value) for name, value in values.items()}


def _array(value: Any) -> Any:
    if isinstance(value, list) and any(isinstance(v, np.ndarray | np.generic) for v in value):
        return [_array(item) for item in value]
    return np.asarray(value) if isinstance(value, np.generic) else value


def _is_whole(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_is_whole, value))
    return isinstance(value, np.ndarray) and value.dtype.kind in "iub"


def _shuffled(rows: list[Values], rng: np.random.Generator) -> list[Values]:
    """The examples with other whole numbers and flags in each: the given ones, in other places."""
    return [rows[0], *({k: _other(v, rng) for k, v in row.items()} for row in rows[1:])]


def _other(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, list):
        return [_other(item, rng) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.kind in "iub":
        return rng.choice(np.append(value, 0), value.shape).astype(value.dtype)
    return value


def _small(value: Any, largest: int, rng: np.random.Generator) -> Any:
    """Whole numbers for floats: ties, zeros and kinks."""
    if isinstance(value, list):
        return [_small(item, largest, rng) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return rng.integers(0, largest, value.shape, endpoint=True).astype(value.dtype)
    return value


def _wide(row: Values, rng: np.random.Generator) -> Values:
    """Floats of all sizes and both signs for those of the example, with infinities and nan."""
    return {name: _spread(value, rng) for name, value in row.items()}


def _spread(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, list):
        return [_spread(item, rng) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        factors = rng.choice((-1.0, 1.0), value.shape) * 10.0 ** rng.uniform(-4, 4, value.shape)
        no_numbers = rng.choice((np.nan, np.inf, -np.inf), value.shape)
        spread = np.where(rng.random(value.shape) < _NO_NUMBERS, no_numbers, value * factors)
        return spread.astype(value.dtype)
    return value
