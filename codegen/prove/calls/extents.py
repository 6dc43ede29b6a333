"""Other extents and dimensions of the tensors of a call, and of lists and data beside them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...spec.model import OpSpec
from .data import Args, kind_of_data, resized, shape_of

MOST_ELEMENTS = 2000
"""Elements of all tensors of a call together, at most."""

LARGEST_EXTENT = 130
"""Numbers of a formula up to this are tried as extents."""

MOST_DIMS = 6


def is_shape(spec: OpSpec, name: str, value: Any) -> bool:
    """Return whether an example gives a tensor by its shape."""
    param = next(p for p in spec.signature.params if p.name == name)
    return param.type.is_tensor and is_ints(value)


def is_ints(value: Any) -> bool:
    """Return whether a value of an example is a list of whole numbers."""
    return isinstance(value, list) and all(type(size) is int for size in value)


def _is_list_of_shapes(spec: OpSpec, name: str, value: Any) -> bool:
    param = next(p for p in spec.signature.params if p.name == name)
    return param.type.is_tensor_list and isinstance(value, list) and all(map(is_ints, value))


def count_elements(args: Args) -> int:
    """Count the elements of all tensors that are given by their shapes, complex ones as two."""
    real = sum(_count(value) for value in args.values() if isinstance(value, list))
    shapes = (value.get("complex") for value in args.values() if isinstance(value, dict))
    return real + 2 * sum(_count(shape) for shape in shapes if shape is not None)


def _count(value: list[Any]) -> int:
    if is_ints(value):
        product = 1
        for size in value:
            product *= max(size, 0)
        return product
    return sum(_count(item) for item in value if isinstance(item, list))


def shapes_of(spec: OpSpec, args: Args) -> Args:
    """The tensors of a call that are given by their shapes."""
    return {name: value for name, value in args.items() if is_shape(spec, name, value)}


def lists_of(spec: OpSpec, args: Args) -> Args:
    """The lists of tensors of a call that are given by their shapes."""
    return {name: value for name, value in args.items() if _is_list_of_shapes(spec, name, value)}


def with_sizes(shapes: Args, sizes: dict[tuple[str, int], int]) -> Args:
    """The shapes with other extents at some places."""
    changed = {name: list(shape) for name, shape in shapes.items()}
    for (name, place), size in sizes.items():
        changed[name][place] = size
    return changed


def mapped(shapes: Args, lists: Args, way: Callable[[int], int]) -> Args:
    """The shapes, and those of lists, with every extent changed in one way."""
    return {
        **{name: [way(size) for size in shape] for name, shape in shapes.items()},
        **{name: [[way(s) for s in shape] for shape in parts] for name, parts in lists.items()},
    }


def exchange(size: int, other: int) -> Callable[[int], int]:
    """The way in which one extent becomes another, and the rest stay."""
    return lambda n: other if n == size else n


def unlike(shapes: Args) -> Args:
    """The shapes with extents that grow from place to place."""
    return {
        name: [size + place for place, size in enumerate(shape)] for name, shape in shapes.items()
    }


def mirrored(shapes: Args) -> Args:
    """The shapes with the largest extent for the smallest, and so on: tall for wide."""
    sizes = sorted({size for shape in shapes.values() for size in shape if size > 1})
    other = dict(zip(sizes, reversed(sizes), strict=True))
    return {name: [other.get(size, size) for size in shape] for name, shape in shapes.items()}


def other_extents(shapes: Args, lists: Args) -> Iterator[Args]:
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
        yield mapped(shapes, lists, way)
    yield unlike(shapes)
    sizes = sorted({size for shape in shapes.values() for size in shape})
    for size in sizes:
        for other in (1, size + 1, size + 2, 0):
            yield mapped(shapes, lists, exchange(size, other))


def extents_of_numbers(shapes: Args, lists: Args, numbers: list[float]) -> Iterator[Args]:
    """The numbers of the formulas, and their neighbours, as extents."""
    whole = [int(n) for n in numbers if 3 < n <= LARGEST_EXTENT and float(n).is_integer()]
    sizes = sorted({size for shape in shapes.values() for size in shape})
    for number, size in itertools.product(whole, sizes):
        for extent in (number, number - 1, number + 1):
            yield mapped(shapes, lists, exchange(size, extent))


def far_extents(shapes: Args, numbers: list[float]) -> Iterator[Args]:
    """The larger numbers of formulas and kernels, and what is behind them, as extents.

    They may be the sizes of blocks, whose last one is not full, or where a part ends.
    """
    places = [(name, place) for name, shape in shapes.items() for place in range(len(shape))]
    for number in numbers:
        if LARGEST_EXTENT < number < MOST_ELEMENTS and float(number).is_integer():
            for extent in (int(number) + 2, int(number) + 1, int(number)):
                for size in sorted({size for shape in shapes.values() for size in shape}):
                    yield mapped(shapes, {}, exchange(size, extent))
                for place in places:
                    yield with_sizes(shapes, {place: extent})


def other_dimensions(shapes: Args, numbers: list[float]) -> Iterator[Args]:
    """More leading dimensions, for all tensors and for each."""
    for more in ([2], [2, 3], [1]):
        yield {name: [*more, *shape] for name, shape in shapes.items()}
    yield {name: [*shape, 3] for name, shape in shapes.items()}
    yield {name: shape[1:] for name, shape in shapes.items()}
    wanted = {
        int(n) + k for n in numbers if abs(n) < 9 and float(n).is_integer() for k in (0, 1)
    } | {0, 1, 2, 3}
    for ndim in sorted(n for n in wanted if 0 <= n <= MOST_DIMS):
        yield {
            name: [*([2] * (ndim - len(shape)))[:ndim], *shape][-ndim:] if ndim else []
            for name, shape in shapes.items()
        }


def lists_of_dimensions(spec: OpSpec, shapes: Args) -> Iterator[Args]:
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


def single_shapes(shapes: Args) -> Iterator[Args]:
    """One tensor changed alone: a call with broadcasting, or none of the op."""
    if len(shapes) < 2:
        return
    for name, shape in shapes.items():
        yield {name: [1] * len(shape)}
        yield {name: shape[1:]}
        yield {name: shape[:-1]}
        yield {name: [2, *shape]}
        yield {name: [2, *[1] * len(shape)]}
        for place in range(len(shape)):
            yield {name: [*shape[:place], 1, *shape[place + 1 :]]}


def other_parts(lists: Args) -> Iterator[Args]:
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


def lengths_of_data(args: Args, shapes: Args, lists: Args) -> Iterator[Args]:
    """Arrays of whole numbers and flags of other extents: alone, and with all that are equal.

    Whole numbers go on in the range of those given, and reach as much farther as extents grow.
    """
    data = {name: kind for name, value in args.items() if (kind := kind_of_data(value))}
    known = {name: shape_of(args[name][kind]) for name, kind in data.items()}
    for name, kind in data.items():
        for size in dict.fromkeys(known[name]):
            for other in (size + 1, size + 3):
                yield {name: {kind: resized(args[name][kind], exchange(size, other), 0)}}
    sizes = {size for shape in (*shapes.values(), *known.values()) for size in shape}
    for size in sorted(sizes) if data else ():
        for other in (size + 1, size + 4):
            way = exchange(size, other)
            yield mapped(shapes, lists, way) | {
                name: {kind: resized(args[name][kind], way, other - size)}
                for name, kind in data.items()
            }


def other_matrices(args: Args) -> Iterator[Args]:
    """Matrices with a row and a column more, stacks of them, of one number, and wide for tall.

    Those of two rows are special: the eigenvectors that LAPACK finds for them are symmetric.
    """
    ways: tuple[Callable[[list[int]], list[int]], ...] = (
        lambda shape: [*shape[:-2], *(size + 1 for size in shape[-2:])],
        lambda shape: [2, *shape],
        lambda shape: [*shape[:-2], *(size + 2 for size in shape[-2:])],
        lambda shape: [*shape[:-2], *(1 for _ in shape[-2:])],
        lambda shape: [*shape[:-2], *shape[:-3:-1]],
    )
    for way in ways:
        yield {
            name: {kind: way(shape) for kind, shape in value.items()}
            if isinstance(value, Mapping)
            else way(value)
            for name, value in args.items()
            if (isinstance(value, Mapping) and all(map(is_ints, value.values())))
            or (is_ints(value) and len(value) > 1)
        }


def beside_matrices(shapes: Args) -> Iterator[Args]:
    """Other shapes of a tensor beside matrices that are given by their factors."""
    for name, shape in shapes.items():
        yield {name: shape[1:]}
        yield {name: shape[:-1]}
        yield {name: [2, *shape]}
        for place, size in enumerate(shape):
            for other in (1, size + 1, size + 2, 0):
                yield {name: [*shape[:place], other, *shape[place + 1 :]]}
