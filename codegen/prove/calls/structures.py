"""Calls near the examples of an op: other extents, dimensions, flags, strings, lists and data.

What a formula tells apart is known, because it is parsed: the numbers and strings that it mentions
are given to arguments and extents, with their neighbours.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping

from ...ir.walk import calls
from ...spec.model import Example, OpSpec
from ...spec.vocabulary import FACTORIZATIONS
from ..symbolic.complex_numbers import COMPLEX_NUMBER
from .data import Args, all_data, data_of_numbers, other_data
from .extents import (
    LARGEST_EXTENT,
    MOST_DIMS,
    MOST_ELEMENTS,
    beside_matrices,
    count_elements,
    exchange,
    extents_of_numbers,
    far_extents,
    is_ints,
    lengths_of_data,
    lists_of,
    lists_of_dimensions,
    mapped,
    mirrored,
    other_dimensions,
    other_extents,
    other_matrices,
    other_parts,
    shapes_of,
    single_shapes,
    unlike,
    with_sizes,
)
from .mentioned import mentioned_constants
from .words import flags, numbers_with_flags, optional_tensors, words

LONGEST_LIST = 12
"""Largest number of parts of the lists of tensors that are tried."""

_MOST_COMBINED = 400
"""Number of calls in which several things are changed."""

_MANY_ELEMENTS = 8
"""Calls of more elements than this are not preferred to each other."""

_LARGE_EXTENTS = (256, 512, 1024, MOST_ELEMENTS - 1)
"""Extents that are tried for conditions which no smaller one meets."""

_MOST_TOGETHER = 10
"""Extents up to this are tried in all pairs."""


def structures(spec: OpSpec, examples: tuple[Example, ...], most: int) -> Iterator[Args]:
    """A bounded number of different calls, the examples first; many are no calls of the op."""
    seen: set[str] = set()
    rng = random.Random(spec.name)
    given = [dict(example.args) for example in examples]
    yield from itertools.islice(_distinct(_all(spec, given, rng), seen), most)


def farther(spec: OpSpec, examples: tuple[Example, ...], most: int) -> Iterator[Args]:
    """Calls that are less like the examples: every extent, number of dimensions and whole number.

    For conditions that near calls answer in one way only.
    """
    rng = random.Random(spec.name)
    given = [dict(example.args) for example in examples]
    ways = [*(_far_changes(spec, args) for args in given)]
    ways += [_several_changes(spec, given, rng, most) for _ in given]
    found = itertools.chain.from_iterable(_round_robin(ways))
    yield from itertools.islice(_distinct(found, set()), most)


def _round_robin(several: list[Iterator[Args]]) -> Iterator[list[Args]]:
    for row in itertools.zip_longest(*several):
        yield [args for args in row if args is not None]


def _far_changes(spec: OpSpec, args: Args) -> Iterator[Args]:
    if has_factors(args):
        return
    numbers, strings = mentioned_constants(spec)
    shapes = shapes_of(spec, args)
    lists = lists_of(spec, args)
    for change in (
        *words(spec, args, [args], numbers, strings),
        *optional_tensors(spec, args, shapes),
    ):
        yield args | change
    for change in (*data_of_numbers(args, numbers), *all_data(args)):
        yield args | change
    for ndim in range(MOST_DIMS):
        for name, shape in shapes.items():
            yield args | {name: ([2] * ndim + shape)[-ndim:] if ndim else []}
    places = [(name, place) for name, shape in shapes.items() for place in range(len(shape))]
    for one, other in itertools.combinations(places, 2):
        for sizes in itertools.product(range(_MOST_TOGETHER), repeat=2):
            yield args | with_sizes(shapes, dict(zip((one, other), sizes, strict=True)))
    for name, parts in lists.items():
        for count in range(1, LONGEST_LIST + 1):
            yield args | {name: list(itertools.islice(itertools.cycle(parts), count))}
    large = [int(n) for n in numbers if LARGEST_EXTENT <= n <= MOST_ELEMENTS]
    for extent in (*range(LARGEST_EXTENT), *large, *_LARGE_EXTENTS):
        for size in sorted({size for shape in shapes.values() for size in shape}):
            yield args | mapped(shapes, lists, exchange(size, extent))
        for place in places:
            yield args | with_sizes(shapes, {place: extent})
    if spec.is_called_by_formulas:
        return
    for param in spec.signature.params:
        if param.type.base in ("int", "SymInt", "Scalar", "float") and not param.type.is_list:
            for number in range(-12, LARGEST_EXTENT):
                yield args | {param.name: number}


def _distinct(found: Iterator[Args], seen: set[str]) -> Iterator[Args]:
    for args in found:
        key = repr(sorted(args.items(), key=lambda item: item[0]))
        if key not in seen and count_elements(args) <= MOST_ELEMENTS:
            seen.add(key)
            yield args


def _all(spec: OpSpec, given: list[Args], rng: random.Random) -> Iterator[Args]:
    """The examples; each with one thing changed, in turns; then with two or three."""
    yield from given
    near = [list(changes(spec, args, given)) for args in given]
    for several in itertools.zip_longest(*near):
        for args, change in zip(given, several, strict=True):
            if change is not None:
                yield args | change
    yield from _several_changes(spec, given, rng, _MOST_COMBINED)


def _several_changes(
    spec: OpSpec, given: list[Args], rng: random.Random, most: int
) -> Iterator[Args]:
    """The examples with two or three things changed."""
    known: dict[int, list[Args]] = {}
    for _ in range(most):
        number = rng.randrange(len(given))
        args = given[number]
        for step in range(rng.choice((2, 2, 3))):
            near = known.get(number) if step == 0 else None
            if near is None:
                near = list(changes(spec, args, given))
            if step == 0:
                known[number] = near
            if near:
                args = args | rng.choice(near)
        yield args


def changes(spec: OpSpec, args: Args, given: list[Args]) -> Iterator[Args]:
    """Yield changes of the arguments of a call: `args | change` makes one near it."""
    numbers, strings = mentioned_constants(spec)
    shapes = shapes_of(spec, args)
    lists = lists_of(spec, args)
    if has_factors(args):
        yield from other_matrices(args)
        if takes_any_values(spec):
            yield from flags(spec, args)
            yield from words(spec, args, given, numbers, strings)
        if not spec.is_called_by_formulas:
            yield from optional_tensors(spec, args, shapes)
            yield from beside_matrices(shapes)
        return
    if spec.is_called_by_formulas:  # with arguments that fit each other
        if any(isinstance(value, Mapping) for value in args.values()):
            return
        for group in (
            _complex(spec, shapes),
            _real(args),
            other_extents(shapes, lists),
            other_dimensions(shapes, numbers),
            extents_of_numbers(shapes, lists, numbers),
        ):
            yield from group
        if takes_any_values(spec):
            yield from flags(spec, args)
            yield from words(spec, args, given, numbers, strings)
        return
    for group in (
        flags(spec, args),
        numbers_with_flags(spec, args),
        _complex(spec, shapes),
        _real(args),
        other_extents(shapes, lists),
        far_extents(shapes, numbers),
        lengths_of_data(args, shapes, lists),
        words(spec, args, given, numbers, strings),
        optional_tensors(spec, args, shapes),
        other_parts(lists),
        other_data(args),
        other_dimensions(shapes, numbers),
        lists_of_dimensions(spec, shapes),
        extents_of_numbers(shapes, lists, numbers),
        single_shapes(shapes),
    ):
        yield from group


def takes_any_values(spec: OpSpec) -> bool:
    """Return whether flags, numbers and texts mean something whatever they are.

    A kernel that only formulas call may rely on what these give it; a formula says what it does.
    """
    made = calls(spec.implementation.block) if spec.implementation is not None else ()
    return not (
        spec.is_called_by_formulas and any(call.function.startswith("kernels.") for call in made)
    )


def attributes(spec: OpSpec, examples: tuple[Example, ...], args: Args) -> Iterator[Args]:
    """The call with another flag, number, text or optional tensor, or with other whole numbers."""
    if not takes_any_values(spec):
        return
    numbers, strings = mentioned_constants(spec)
    shapes = shapes_of(spec, args)
    given = [dict(example.args) for example in examples]
    found = itertools.chain(flags(spec, args), words(spec, args, given, numbers, strings))
    if not spec.is_called_by_formulas:
        found = itertools.chain(found, optional_tensors(spec, args, shapes), other_data(args))
    yield from _distinct((args | change for change in found), set())


def unlike_extents(args: Args) -> tuple[int, int]:
    """Count the extents of a call that are unlike, and not one; then its elements, up to many."""
    shapes = [value for value in args.values() if is_ints(value)]
    sizes = {size for shape in shapes for size in shape if size > 1}
    return len(sizes), min(count_elements(args), _MANY_ELEMENTS)


def with_mirrored_extents(spec: OpSpec, args: Args) -> Args:
    """The call with the order of its extents turned round: tall matrices for wide ones."""
    return args | mirrored(shapes_of(spec, args))


def with_other_shapes(spec: OpSpec, args: Args) -> Iterator[Args]:
    """The call with larger extents, of which those that fit each other still do, and with one more
    dimension of its tensors."""
    shapes = shapes_of(spec, args)
    lists = lists_of(spec, args)
    ways: tuple[Callable[[int], int], ...] = (lambda n: n + 3, lambda n: 2 * n + 1)
    for way in ways:
        yield args | mapped(shapes, lists, way)
    yield args | {name: [2, *shape] for name, shape in shapes.items()}
    yield args | {name: [*shape, 3] for name, shape in shapes.items()}


def with_unlike_extents(spec: OpSpec, args: Args) -> Args:
    """The call with other extents: those that happen to be equal must not be taken for one."""
    return args | unlike(shapes_of(spec, args))


def has_factors(args: Args) -> bool:
    """Return whether an argument is given as a product of factors."""
    kinds = (next(iter(value)) for value in args.values() if isinstance(value, Mapping))
    return any(kind in FACTORIZATIONS for kind in kinds)


def with_complex(spec: OpSpec, args: Args) -> Iterator[Args]:
    """The call with complex numbers for all its tensors, for each, and for each number beside real
    and complex tensors; none if an op has none."""
    if not spec.complex:
        return
    numbers = (p for p in spec.signature.params if p.type.base == "Scalar" and not p.type.is_list)
    changes: list[Args] = [{}, *({param.name: COMPLEX_NUMBER} for param in numbers)]
    for changed in (args, *_with_complex_tensors(spec, args)):
        yield from (changed | change for change in changes if change or changed is not args)


def _with_complex_tensors(spec: OpSpec, args: Args) -> Iterator[Args]:
    shapes = shapes_of(spec, args)
    lists = lists_of(spec, args)
    if lists:
        parts = {n: [{"complex": shape} for shape in shapes] for n, shapes in lists.items()}
        yield args | parts | {name: {"complex": shape} for name, shape in shapes.items()}
    elif shapes:
        yield from (args | change for change in _complex(spec, shapes))


def _complex(spec: OpSpec, shapes: Args) -> Iterator[Args]:
    """Complex numbers for all tensors, and for each; none if an op has none."""
    if not spec.complex:
        return
    changed = {name: {"complex": list(shape)} for name, shape in shapes.items()}
    yield changed
    if len(changed) > 1 and not spec.is_called_by_formulas:
        yield from ({name: value} for name, value in changed.items())


def _real(args: Args) -> Iterator[Args]:
    """Real numbers where an example has complex ones."""
    changed = {
        name: list(value["complex"])
        for name, value in args.items()
        if isinstance(value, Mapping) and is_ints(value.get("complex"))
    }
    if changed:
        yield changed
