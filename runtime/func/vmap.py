"""`vmap`: a function of one example as a function of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from ..batching.batched import Batched, Level, batch, is_of
from ..batching.call import call_batched as call_batched  # which ops on batched tensors need
from ..core import levels
from ..core.random_generator import get_rng_state, set_rng_state
from ..core.tensor import Tensor, normalize_dim
from ..dispatch.registry import ops
from .arrays import takes_arrays
from .trees import leaves_of, spread, with_leaves

_RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that applies `func` to every example of its arguments at once.

    `in_dims` says which dimension of each argument counts the examples, None for an argument that
    they share; `out_dims` where results have them. Both are a number or a structure like that of
    the arguments, or a prefix of it. Arguments by name are shared. Each op runs once, by its
    batching rule, or once an example where it has none. `randomness`: whether random numbers
    differ between examples; drawing some is an error unless this is said. `chunk_size`: as many
    examples at a time.

    A result whose `out_dims` is None is that of all examples, and may be anything that is not
    batched. ValueError for arguments that `in_dims` does not fit, for sizes that differ, and for
    other results that are no tensors.
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @takes_arrays
    @wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        dims = _dims_of(in_dims, args, f"vmap({_name_of(func)}, in_dims={in_dims}, ...)(<inputs>)")
        leaves = leaves_of(args)
        stacked = [_in_front(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
        is_batched = [dim is not None for dim in dims]
        size = _size(stacked, is_batched)
        step = chunk_size or max(size, 1)
        state = get_rng_state() if randomness == "same" and step < size else None
        chunks = []
        for start in range(0, max(size, 1), step):
            if state is not None:
                set_rng_state(state)
            part = [
                ops.narrow(leaf, 0, start, min(step, size - start))
                if flag and step < size
                else leaf
                for leaf, flag in zip(stacked, is_batched, strict=True)
            ]
            level = Level(min(step, size - start), randomness)
            chunks.append(_run(partial(func, **kwargs), args, part, is_batched, level, out_dims))
        return chunks[0] if len(chunks) == 1 else _joined(chunks, out_dims)

    return batched


def _name_of(func: Callable[..., Any]) -> str:
    while isinstance(func, partial):
        func = func.func
    return getattr(func, "__name__", repr(func))


def _dims_of(in_dims: Any, args: tuple[Any, ...], call: str) -> list[int | None]:
    """The dimension of each tensor that counts the examples."""
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"{call}: got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    try:
        found = spread(list(in_dims) if isinstance(in_dims, tuple) else in_dims, list(args))
    except ValueError as error:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`: {error}"
        ) from None
    for dim, leaf in zip(found, leaves_of(args), strict=True):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer "
                "dimension or None."
            )
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{call}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We "
                "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -leaf.ndim <= dim < leaf.ndim:
            raise ValueError(
                f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of "
                f"dimensionality {leaf.ndim} so expected in_dim to satisfy "
                f"-{leaf.ndim} <= in_dim < {leaf.ndim}."
            )
    if all(dim is None for dim in found):
        raise ValueError(f"{call}: Expected at least one Tensor to vmap over: all dims are None")
    return found


def _in_front(leaf: Any, dim: int | None) -> Any:
    """A tensor with the examples along its first dimension."""
    return leaf if dim is None else move(leaf, normalize_dim(dim, leaf.ndim), 0)


def move(tensor: Tensor, source: int, target: int) -> Tensor:
    """Bring one dimension to another place."""
    if source == target:
        return tensor
    order = [dim for dim in range(tensor.ndim) if dim != source]
    order.insert(target, source)
    return ops.permute(tensor, order)


def _size(leaves: list[Any], is_batched: list[bool]) -> int:
    sizes = [leaf.shape[0] for leaf, flag in zip(leaves, is_batched, strict=True) if flag]
    if len(set(sizes)) != 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])


def _run(
    func: Callable[..., Any],
    structure: tuple[Any, ...],
    leaves: list[Any],
    is_batched: list[bool],
    level: Level,
    out_dims: Any,
) -> Any:
    levels.enter(level)
    try:
        given = [batch(t, level) if flag else t for t, flag in zip(leaves, is_batched, strict=True)]
        result = func(*with_leaves(structure, given))
        return _unbatched(result, level, out_dims, f"vmap({_name_of(func)}, ..., {out_dims=})")
    finally:
        levels.leave(level)


def _unbatched(result: Any, level: Level, out_dims: Any, call: str) -> Any:
    """The results of all examples, along the dimension that is asked for."""
    _refuse_none(result, out_dims, call)
    pairs = zip(leaves_of(result), _out_dims_of(out_dims, result, call), strict=True)
    return with_leaves(result, [_placed(leaf, dim, level, call) for leaf, dim in pairs])


def _refuse_none(result: Any, out_dims: Any, call: str) -> None:
    """Raise ValueError for a None among the results, unless its `out_dims` is None, too."""
    if result is None and out_dims is not None:
        raise _no_tensor(result, call)
    if isinstance(result, dict):
        for key, item in result.items():
            _refuse_none(item, out_dims.get(key) if isinstance(out_dims, dict) else out_dims, call)
    if isinstance(result, list | tuple):
        several = isinstance(out_dims, list | tuple) and len(out_dims) == len(result)
        for nr, item in enumerate(result):
            _refuse_none(item, out_dims[nr] if several else out_dims, call)


def _no_tensor(leaf: Any, call: str) -> ValueError:
    return ValueError(
        f"{call}: the function must only return Tensors, got type {type(leaf)}. Did you mean to "
        "set out_dims= to None for output?"
    )


def _out_dims_of(out_dims: Any, result: Any, call: str) -> list[int | None]:
    """The dimension of each result along which its examples shall lie."""
    if isinstance(result, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    try:
        dims = spread(out_dims, result)
    except ValueError as error:
        raise ValueError(
            f"{call}: out_dims is not compatible with the structure of `outputs`: {error}"
        ) from None
    if not all(dim is None or isinstance(dim, int) for dim in dims):
        raise ValueError(
            f"{call}: `out_dims` must be an int, None or a python collection of ints that says "
            "where in the outputs the examples appear"
        )
    return dims


def _placed(leaf: Any, dim: int | None, level: Level, call: str) -> Any:
    if dim is None:
        if is_of(leaf, level):
            raise ValueError(f"{call}: can not return a BatchedTensor when out_dim is None")
        return leaf
    if not isinstance(leaf, Tensor):
        raise _no_tensor(leaf, call)
    if is_of(leaf, level):
        assert isinstance(leaf, Batched)
        stacked = leaf.physical
    else:
        stacked = ops.expand(leaf, (level.size, *leaf.shape))
    return move(stacked, 0, normalize_dim(dim, stacked.ndim))


def _joined(chunks: list[Any], out_dims: Any) -> Any:
    """The results of chunks, one behind the other."""
    dims = _out_dims_of(out_dims, chunks[0], "vmap")
    columns = zip(*map(leaves_of, chunks), strict=True)
    joined = [
        column[0] if dim is None else ops.cat(list(column), dim)
        for column, dim in zip(columns, dims, strict=True)
    ]
    return with_leaves(chunks[0], joined)
