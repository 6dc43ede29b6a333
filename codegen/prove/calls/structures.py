"""Calls near the examples of an op: other extents, dimensions, flags, strings, lists and data.

What a formula tells apart is known, because it is parsed: the numbers and strings that it mentions
are given to arguments and extents, with their neighbours.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...ir.walk import calls
from ...spec.model import Example, OpSpec, Param
from ...spec.vocabulary import FACTORIZATIONS
from .data import Args, all_data, data_of_numbers, kind_of_data, other_data, resized, shape_of
from .mentioned import mentioned_constants
from .own_kernels import kernel_constants

MOST_ELEMENTS = 2000
"""Elements of all tensors of a call together, at most."""

LARGEST_EXTENT = 130
"""Numbers of a formula up to this are tried as extents."""

_MOST_DIMS = 6

LONGEST_LIST = 12
"""Lists of tensors of up to so many parts are tried."""

_MOST_COMBINED = 400
"""So many calls have several things changed."""

MOST_FLAGS = 5
"""So many flags are taken in all combinations."""

_MOST_TOGETHER = 10
"""Extents up to this are tried in all pairs."""


def structures(spec: OpSpec, examples: tuple[Example, ...], most: int) -> Iterator[Args]:
    """At most so many different calls, the examples first; many are no calls of the op."""
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
    shapes = {name: value for name, value in args.items() if is_shape(spec, name, value)}
    lists = {n: v for n, v in args.items() if _is_list_of_shapes(spec, n, v)}
    for change in (
        *_words(spec, args, [args], numbers, strings),
        *_optional_tensors(spec, args, shapes),
    ):
        yield args | change
    for change in (*data_of_numbers(args, numbers), *all_data(args)):
        yield args | change
    for ndim in range(_MOST_DIMS):
        for name, shape in shapes.items():
            yield args | {name: ([2] * ndim + shape)[-ndim:] if ndim else []}
    places = [(name, place) for name, shape in shapes.items() for place in range(len(shape))]
    for one, other in itertools.combinations(places, 2):
        for sizes in itertools.product(range(_MOST_TOGETHER), repeat=2):
            yield args | _with_sizes(shapes, dict(zip((one, other), sizes, strict=True)))
    for name, parts in lists.items():
        for count in range(1, LONGEST_LIST + 1):
            yield args | {name: list(itertools.islice(itertools.cycle(parts), count))}
    large = [int(n) for n in numbers if LARGEST_EXTENT <= n <= MOST_ELEMENTS]
    for extent in (*range(LARGEST_EXTENT), *large):
        for size in sorted({size for shape in shapes.values() for size in shape}):
            yield args | _mapped(shapes, lists, _exchange(size, extent))
        for place in places:
            yield args | _with_sizes(shapes, {place: extent})
    if spec.is_called_by_formulas:
        return
    for param in spec.signature.params:
        if param.type.base in ("int", "SymInt", "Scalar", "float") and not param.type.is_list:
            for number in range(-12, LARGEST_EXTENT):
                yield args | {param.name: number}


def _with_sizes(shapes: Args, sizes: dict[tuple[str, int], int]) -> Args:
    changed = {name: list(shape) for name, shape in shapes.items()}
    for (name, place), size in sizes.items():
        changed[name][place] = size
    return changed


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
    """What is given otherwise at each call near one: with `args | change` the call is made."""
    numbers, strings = mentioned_constants(spec)
    shapes = {name: value for name, value in args.items() if is_shape(spec, name, value)}
    lists = {n: v for n, v in args.items() if _is_list_of_shapes(spec, n, v)}
    if has_factors(args):
        yield from _larger_matrices(args)
        if takes_any_values(spec):
            yield from _flags(spec, args)
            yield from _words(spec, args, given, numbers, strings)
        if not spec.is_called_by_formulas:
            yield from _optional_tensors(spec, args, shapes)
            yield from _beside_matrices(shapes)
        return
    if spec.is_called_by_formulas:  # with arguments that fit each other
        if any(isinstance(value, Mapping) for value in args.values()):
            return
        for group in (
            _complex(spec, shapes),
            _real(args),
            _extents(shapes, lists),
            _dimensions(shapes, numbers),
            _extents_of(shapes, lists, numbers),
        ):
            yield from group
        if takes_any_values(spec):
            yield from _flags(spec, args)
            yield from _words(spec, args, given, numbers, strings)
        return
    for group in (
        _flags(spec, args),
        _complex(spec, shapes),
        _real(args),
        _extents(shapes, lists),
        _lengths_of_data(args, shapes, lists),
        _words(spec, args, given, numbers, strings),
        _optional_tensors(spec, args, shapes),
        _parts(lists),
        other_data(args),
        _dimensions(shapes, numbers),
        _dims(spec, shapes),
        _extents_of(shapes, lists, numbers),
        _single_shapes(shapes),
        _extents_of_kernels(spec, shapes),
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
    shapes = {name: value for name, value in args.items() if is_shape(spec, name, value)}
    given = [dict(example.args) for example in examples]
    found = itertools.chain(_flags(spec, args), _words(spec, args, given, numbers, strings))
    if not spec.is_called_by_formulas:
        found = itertools.chain(found, _optional_tensors(spec, args, shapes), other_data(args))
    yield from _distinct((args | change for change in found), set())


def unlike_extents(args: Args) -> int:
    """Count the extents of a call that are unlike, and not one."""
    shapes = [value for value in args.values() if _is_ints(value)]
    return len({size for shape in shapes for size in shape if size > 1})


def with_other_extents(spec: OpSpec, args: Args) -> Iterator[Args]:
    """The call with larger extents: those that fit each other still do."""
    shapes = {name: value for name, value in args.items() if is_shape(spec, name, value)}
    lists = {n: v for n, v in args.items() if _is_list_of_shapes(spec, n, v)}
    ways: tuple[Callable[[int], int], ...] = (lambda n: n + 3, lambda n: 2 * n + 1)
    for way in ways:
        yield args | _mapped(shapes, lists, way)


def with_unlike_extents(spec: OpSpec, args: Args) -> Args:
    """The call with other extents: those that happen to be equal must not be taken for one."""
    return args | _unlike({n: value for n, value in args.items() if is_shape(spec, n, value)})


def _unlike(shapes: Args) -> Args:
    return {
        name: [size + place for place, size in enumerate(shape)] for name, shape in shapes.items()
    }


def _larger_matrices(args: Args) -> Iterator[Args]:
    """Matrices with a row and a column more, and stacks of them.

    Those of two rows are special: the eigenvectors that LAPACK finds for them are symmetric.
    """
    ways: tuple[Callable[[list[int]], list[int]], ...] = (
        lambda shape: [*shape[:-2], *(size + 1 for size in shape[-2:])],
        lambda shape: [2, *shape],
        lambda shape: [*shape[:-2], *(size + 2 for size in shape[-2:])],
    )
    for way in ways:
        yield {
            name: {kind: way(shape) for kind, shape in value.items()}
            if isinstance(value, Mapping)
            else way(value)
            for name, value in args.items()
            if isinstance(value, Mapping) or (_is_ints(value) and len(value) > 1)
        }


def _beside_matrices(shapes: Args) -> Iterator[Args]:
    """Other shapes of a tensor beside matrices that are given by their factors."""
    for name, shape in shapes.items():
        yield {name: shape[1:]}
        yield {name: shape[:-1]}
        yield {name: [2, *shape]}
        for place, size in enumerate(shape):
            for other in (1, size + 1, size + 2, 0):
                yield {name: [*shape[:place], other, *shape[place + 1 :]]}


def has_factors(args: Args) -> bool:
    """Return whether an argument is given as a product of factors."""
    kinds = (next(iter(value)) for value in args.values() if isinstance(value, Mapping))
    return any(kind in FACTORIZATIONS for kind in kinds)


def is_shape(spec: OpSpec, name: str, value: Any) -> bool:
    """Return whether an example gives a tensor by its shape."""
    param = next(p for p in spec.signature.params if p.name == name)
    return param.type.is_tensor and _is_ints(value)


def _is_ints(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int for size in value)


def _is_list_of_shapes(spec: OpSpec, name: str, value: Any) -> bool:
    param = next(p for p in spec.signature.params if p.name == name)
    return param.type.is_tensor_list and isinstance(value, list) and all(map(_is_ints, value))


def _flags(spec: OpSpec, args: Args) -> Iterator[Args]:
    names = [p.name for p in spec.signature.params if p.type.base == "bool" and not p.type.is_list]
    ways = list(itertools.product((False, True), repeat=min(len(names), MOST_FLAGS)))
    for way in ways:
        yield dict(zip(names, way, strict=False))
    for name in names:
        yield {name: not args.get(name, False)}


def with_complex(spec: OpSpec, args: Args) -> Iterator[Args]:
    """The call with complex numbers for all its tensors, and for each; none if an op has none."""
    shapes = {name: value for name, value in args.items() if is_shape(spec, name, value)}
    lists = {n: v for n, v in args.items() if _is_list_of_shapes(spec, n, v)}
    if lists and spec.complex:
        parts = {n: [{"complex": shape} for shape in shapes] for n, shapes in lists.items()}
        yield args | parts | {name: {"complex": shape} for name, shape in shapes.items()}
    elif shapes:
        yield from (args | change for change in _complex(spec, shapes))


def _complex(spec: OpSpec, shapes: Args) -> Iterator[Args]:
    """Complex numbers for all tensors, and for each."""
    if spec.complex:
        changed = {name: {"complex": list(shape)} for name, shape in shapes.items()}
        yield changed
        is_mixed = changed.keys() <= {*spec.promotes} and not spec.is_called_by_formulas
        if len(changed) > 1 and is_mixed:
            yield from ({name: value} for name, value in changed.items())


def _real(args: Args) -> Iterator[Args]:
    """Real numbers where an example has complex ones."""
    changed = {
        name: list(value["complex"])
        for name, value in args.items()
        if isinstance(value, Mapping) and _is_ints(value.get("complex"))
    }
    if changed:
        yield changed


def _extents(shapes: Args, lists: Args) -> Iterator[Args]:
    """Every extent changed in the same way, so that those that fit each other still do."""
    ways: tuple[Callable[[int], int], ...] = (
        lambda n: n + 1,
        lambda n: 1,
        lambda n: n + 3,
        lambda n: 2 * n,
        lambda n: 2 * n + 1,
        lambda n: 0,
        lambda n: 7,
        lambda n: 2,
        lambda n: 11,
    )
    for way in ways:
        yield _mapped(shapes, lists, way)
    yield _unlike(shapes)
    sizes = sorted({size for shape in shapes.values() for size in shape})
    for size in sizes:
        for other in (1, size + 1, size + 2, 0):
            yield _mapped(shapes, lists, _exchange(size, other))


def _exchange(size: int, other: int) -> Callable[[int], int]:
    return lambda n: other if n == size else n


def _mapped(shapes: Args, lists: Args, way: Callable[[int], int]) -> Args:
    return {
        **{name: [way(size) for size in shape] for name, shape in shapes.items()},
        **{name: [[way(s) for s in shape] for shape in parts] for name, parts in lists.items()},
    }


def _extents_of(shapes: Args, lists: Args, numbers: list[float]) -> Iterator[Args]:
    """The numbers of the formulas, and their neighbours, as extents."""
    whole = [int(n) for n in numbers if 3 < n <= LARGEST_EXTENT and float(n).is_integer()]
    sizes = sorted({size for shape in shapes.values() for size in shape})
    for number, size in itertools.product(whole, sizes):
        for extent in (number, number - 1, number + 1):
            yield _mapped(shapes, lists, _exchange(size, extent))


def _extents_of_kernels(spec: OpSpec, shapes: Args) -> Iterator[Args]:
    """The larger numbers of kernels of one's own, and what is behind them, as extents.

    They may be the sizes of blocks, whose last one is not full.
    """
    for number in kernel_constants(spec)[0]:
        if LARGEST_EXTENT < number < MOST_ELEMENTS and number.is_integer():
            for size in sorted({size for shape in shapes.values() for size in shape}):
                for extent in (int(number) + 1, int(number)):
                    yield _mapped(shapes, {}, _exchange(size, extent))


def _dimensions(shapes: Args, numbers: list[float]) -> Iterator[Args]:
    """More leading dimensions, for all tensors and for each."""
    for more in ([2], [2, 3], [1]):
        yield {name: [*more, *shape] for name, shape in shapes.items()}
    yield {name: [*shape, 3] for name, shape in shapes.items()}
    yield {name: shape[1:] for name, shape in shapes.items()}
    wanted = {
        int(n) + k for n in numbers if abs(n) < 9 and float(n).is_integer() for k in (0, 1)
    } | {0, 1, 2, 3}
    for ndim in sorted(n for n in wanted if 0 <= n <= _MOST_DIMS):
        yield {
            name: [*([2] * (ndim - len(shape)))[:ndim], *shape][-ndim:] if ndim else []
            for name, shape in shapes.items()
        }


def _dims(spec: OpSpec, shapes: Args) -> Iterator[Args]:
    """Tensors of one to four dimensions together with lists of as many whole numbers.

    Permutations that are their own inverse come with others.
    """
    names = [p.name for p in spec.signature.params if p.type.is_list and p.type.base == "int"]
    for ndim in range(1, 5) if names else ():
        order = list(range(ndim))
        for numbers in (
            order,
            [*order[1:], 0],
            [order[-1], *order[:-1]],
            order[::-1],
            [-1 - place for place in order],
            [place % 2 + 1 for place in order],
            [place % 3 for place in range(2 * ndim)],
        ):
            yield {name: [2 + place for place in order] for name in shapes} | {
                name: list(numbers) for name in names
            }


def _single_shapes(shapes: Args) -> Iterator[Args]:
    """One tensor changed alone: a call with broadcasting, or none of the op."""
    if len(shapes) < 2:
        return
    for name, shape in shapes.items():
        yield {name: [1] * len(shape)}
        yield {name: shape[1:]}
        yield {name: shape[:-1]}
        yield {name: [2, *shape]}
        for place in range(len(shape)):
            yield {name: [*shape[:place], 1, *shape[place + 1 :]]}


def _words(
    spec: OpSpec, args: Args, given: list[Args], numbers: list[float], strings: list[str]
) -> Iterator[Args]:
    for param in spec.signature.params:
        value = args.get(param.name, param.default)
        if param.type.is_list and param.type.base in ("int", "float", "Scalar"):
            yield from ({param.name: other} for other in _other_lists(value, numbers))
        elif param.type.base == "ScalarType":
            yield from ({param.name: dtype} for dtype in ("float32", "float64"))
        elif param.type.base == "str":
            yield from ({param.name: text} for text in strings)
        elif param.type.base in ("int", "float", "Scalar", "SymInt"):
            yield from ({param.name: n} for n in _other_numbers(param, value, numbers))
        if param.type.is_optional and param.type.base != "Tensor":
            yield {param.name: None}
        for other in given:
            if param.name in other and param.type.base != "Tensor":
                yield {param.name: other[param.name]}


def _other_numbers(param: Param, value: Any, numbers: list[float]) -> Iterator[Any]:
    usual: list[Any] = [0, 1, 2, -1, -2, 3]
    if isinstance(value, int | float) and not isinstance(value, bool):
        usual = [value + 1, value - 1, *usual]
    if param.type.base in ("int", "SymInt"):
        whole = [int(n) for n in numbers if abs(n) <= 1000 and float(n).is_integer()]
        yield from dict.fromkeys([*map(int, usual), *(n + k for n in whole for k in (0, 1, -1))])
    else:
        near = [n + k for n in numbers for k in ((0, 0.5, -0.5) if abs(n) < 1e6 else (0,))]
        cuts = sorted({0.0, 1.0, *(float(n) for n in numbers if np.isfinite(n))})
        between = [0.625 * low + 0.375 * high for low, high in itertools.pairwise(cuts)]
        yield from dict.fromkeys([*usual, 0.5, -0.75, 2.5, *between, *near])


def _other_lists(value: Any, numbers: list[float]) -> Iterator[Any]:
    if isinstance(value, list | tuple) and None not in value:
        yield [size + 1 for size in value]
        yield [-1 - size for size in value]
        yield list(value)[::-1]
        whole = [int(n) for n in numbers if 0 <= n <= LARGEST_EXTENT and float(n).is_integer()]
        for place in range(len(value)):
            for number in dict.fromkeys(n + k for n in whole for k in (0, 1)):
                yield [*value[:place], number, *value[place + 1 :]]
    yield from ([0], [1], [-1], [0, 1], [1, 0])


def _optional_tensors(spec: OpSpec, args: Args, shapes: Args) -> Iterator[Args]:
    names = [p.name for p in spec.signature.params if p.type.is_tensor and p.type.is_optional]
    first: list[int] = next(iter(shapes.values()), [])
    for name in names:
        if args.get(name) is not None:
            yield {name: None}
            continue
        others = [list(shape) for shape in shapes.values()]
        for shape in (first, *others, first[-1:], first[1:2], []):
            yield {name: list(shape)}
    if len(names) > 1:
        yield dict.fromkeys(names)
        yield {name: list(first) for name in names}
        yield dict.fromkeys(names, first[1:2])


def _parts(lists: Args) -> Iterator[Args]:
    """Lists of one to three parts, of unequal extents."""
    for name, parts in lists.items():
        if not parts:
            continue
        first = parts[0]
        yield {name: [first]}
        yield {name: [*parts, first]}
        for place in range(len(first)):
            longer = [
                [*shape[:place], size + number, *shape[place + 1 :]]
                for number, shape in enumerate([first, first, first])
                for size in [shape[place] if place < len(shape) else 1]
            ]
            yield {name: longer[:2]}
            yield {name: longer[::-1]}
        yield {name: [[2, *shape] for shape in parts]}


def _lengths_of_data(args: Args, shapes: Args, lists: Args) -> Iterator[Args]:
    """Arrays of whole numbers and flags of other extents: alone, and with all that are equal.

    Whole numbers go on in the range of those given, and reach as much farther as extents grow.
    """
    data = {name: kind for name, value in args.items() if (kind := kind_of_data(value))}
    known = {name: shape_of(args[name][kind]) for name, kind in data.items()}
    for name, kind in data.items():
        for size in dict.fromkeys(known[name]):
            for other in (size + 1, size + 3):
                yield {name: {kind: resized(args[name][kind], _exchange(size, other), 0)}}
    sizes = {size for shape in (*shapes.values(), *known.values()) for size in shape}
    for size in sorted(sizes) if data else ():
        for other in (size + 1, size + 4):
            way = _exchange(size, other)
            yield _mapped(shapes, lists, way) | {
                name: {kind: resized(args[name][kind], way, other - size)}
                for name, kind in data.items()
            }


def count_elements(args: Args) -> int:
    """Count the elements of all tensors that are given by their shapes."""
    return sum(_count(value) for value in args.values() if isinstance(value, list))


def _count(value: list[Any]) -> int:
    if _is_ints(value):
        product = 1
        for size in value:
            product *= max(size, 0)
        return product
    return sum(_count(item) for item in value if isinstance(item, list))
