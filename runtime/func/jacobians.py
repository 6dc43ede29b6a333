"""Jacobians and Hessians, a row or a column for each element, all of them in one batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from ..core import levels
from ..core.random_generator import get_rng_state, set_rng_state
from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from ..functions.creation import zeros_like
from .arrays import takes_arrays
from .gradients import checked, pair, vjp
from .tangents import jvp
from .trees import leaves_of, map_leaves, with_leaves
from .vmap import vmap

ArgNums = int | tuple[int, ...]


def jacrev(
    func: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that computes the Jacobian of `func` by reverse mode, `chunk_size` rows at a time.

    For a result of shape `a` and an argument of shape `b` it has shape `a + b`. Of several results
    or arguments there is a tree of Jacobians, that of the results outside. With `chunk_size` 1 the
    rows are computed without `vmap`. RuntimeError for complex arguments or results.
    """
    if chunk_size is not None and chunk_size < 1:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @takes_arrays
    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        numbers = checked(argnums, args)
        primals = tuple(args[number] for number in numbers)
        _refuse_complex(primals, "jacrev", "input")

        def of_primals(*given: Any) -> Any:
            return func(*_replaced(args, numbers, given), **kwargs)

        result, pull_back, *aux = vjp(of_primals, *primals, has_aux=has_aux)
        _refuse_complex(result, "jacrev", "output")
        outputs = leaves_of(result)
        blocks = []
        for number, output in enumerate(outputs):
            basis = _basis(output)

            def row(cotangent: Tensor, number: int = number) -> Any:
                cotangents = [
                    cotangent if place == number else zeros_like(other)
                    for place, other in enumerate(outputs)
                ]
                return pull_back(with_leaves(result, cotangents))

            if not len(basis):
                rows = _no_rows(primals)
            elif chunk_size == 1:
                rows = _together([row(cotangent) for cotangent in ops.unbind(basis)], ops.stack)
            else:
                rows = vmap(row, chunk_size=chunk_size)(basis)
            blocks.append(map_leaves(partial(_unflattened, output), rows))
        found = [block[0] if isinstance(argnums, int) else block for block in blocks]
        jacobian = _like(result, found)
        return (jacobian, aux[0]) if has_aux else jacobian

    return call


def jacfwd(
    func: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """A function that computes the Jacobian of `func` by forward mode: see `jacrev`.

    `func` runs once, for all columns; where it reads values (`item()`, `if x > 0`), or writes to a
    tensor that is the same for all columns, once more for each column.

    RuntimeError for complex arguments or results.
    """

    @takes_arrays
    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        numbers = checked(argnums, args)
        primals = tuple(args[number] for number in numbers)
        _refuse_complex(primals, "jacfwd", "input")
        leaves = leaves_of(primals)

        def of_primals(*given: Any) -> Any:
            return func(*_replaced(args, numbers, given), **kwargs)

        columns: list[list[Tensor]] = []
        for number, leaf in enumerate(leaves):

            def column(tangent: Tensor, number: int = number) -> Any:
                tangents = [
                    tangent if place == number else zeros_like(other)
                    for place, other in enumerate(leaves)
                ]
                found = jvp(of_primals, primals, with_leaves(primals, tangents), has_aux=has_aux)
                return (found[1], found[0], *found[2:])

            if leaf.numel():
                slopes, *same = _columns(column, _basis(leaf), randomness)
                result, *aux = map_leaves(lambda t: ops.select(t, -1, 0), same)
            else:
                found = of_primals(*primals)
                result, *aux = pair(found, "jacfwd(f)(*args)") if has_aux else (found,)
                slopes = map_leaves(lambda t: t.new_zeros((*t.shape, 0)), result)
            _refuse_complex(result, "jacfwd", "output")
            shaped = [
                ops.reshape(slope, (*slope.shape[:-1], *leaf.shape)) for slope in leaves_of(slopes)
            ]
            columns.append(shaped)
        blocks = []
        for number in range(len(columns[0])):
            block = with_leaves(primals, [column[number] for column in columns])
            blocks.append(block[0] if isinstance(argnums, int) else block)
        jacobian = _like(result, blocks)
        return (jacobian, aux[0]) if has_aux else jacobian

    return call


def _columns(column: Callable[[Tensor], Any], basis: Tensor, randomness: str) -> Any:
    """Compute the columns of a Jacobian, with what comes beside them, in one batch or in turn.

    Columns have the values of a function in common, so that it may read what `vmap` refuses. Each
    is computed inside of a level of its own where random numbers are refused.
    """
    state = get_rng_state() if randomness == "same" else None
    try:
        return vmap(column, randomness=randomness, out_dims=-1)(basis)
    except RuntimeError as error:
        if not str(error).startswith("vmap: "):
            raise
    found = []
    for tangent in ops.unbind(basis):
        if state is not None:
            set_rng_state(state)
        if randomness == "different":
            found.append(column(tangent))
            continue
        level = levels.Level(randomness)
        levels.enter(level)
        try:
            found.append(column(tangent))
        finally:
            levels.leave(level)
    return _together(found, partial(ops.stack, dim=-1))


def hessian(func: Callable[..., Any], argnums: ArgNums = 0) -> Callable[..., Any]:
    """A function that computes the Hessian of `func`: forward mode of reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)


def _refuse_complex(tree: Any, name: str, role: str) -> None:
    for number, leaf in enumerate(leaves_of(tree)):
        if isinstance(leaf, Tensor) and leaf.dtype.kind == "c":
            raise RuntimeError(
                f"{name}: Expected all {role}s to be real but received complex tensor at "
                f"flattened {role} idx: {number}"
            )


def _replaced(args: tuple[Any, ...], numbers: list[int], given: tuple[Any, ...]) -> list[Any]:
    replaced = list(args)
    for number, value in zip(numbers, given, strict=True):
        replaced[number] = value
    return replaced


def _basis(like: Tensor) -> Tensor:
    """All unit vectors in the space of a tensor, along the first dimension."""
    size = like.numel()
    return wrap(np.eye(size, dtype=like.dtype).reshape(size, *like.shape))


def _unflattened(output: Tensor, rows: Tensor) -> Tensor:
    """The Jacobian whose rows, one for each element of an output, lie along the first dimension."""
    return ops.reshape(rows, (*output.shape, *rows.shape[1:]))


def _together(trees: list[Any], join: Callable[[list[Tensor]], Tensor]) -> Any:
    """The leaves of like trees, joined, in a tree like them."""
    alike = zip(*map(leaves_of, trees), strict=True)
    return with_leaves(trees[0], [join(list(leaves)) for leaves in alike])


def _no_rows(primals: tuple[Any, ...]) -> Any:
    return map_leaves(lambda t: zeros_like(t).new_zeros((0, *t.shape)), primals)


def _like(result: Any, blocks: list[Any]) -> Any:
    """One block for each result, in a tree like the results."""
    left = iter(blocks)
    return map_leaves(lambda _: next(left), result)
