"""Bags of embeddings: sums, means and maxima of rows of a table, one for each group of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..batching.examples import reading_each_example
from ..core.captured import has_values, is_any, numbers_of
from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from . import init
from .composed import embedding
from .module import Module
from .parameter import check_table, table

MODES = ("sum", "mean", "max")


@reading_each_example
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Reduce the rows of `weight` at the indices of each bag: a tensor (bags, embedding_dim).

    A matrix of indices has a bag in each row; a vector has those that begin at `offsets`, the last
    of which begins none if `include_last_offset`. Indices equal to `padding_idx` count for
    nothing; an empty bag gives zeros. `per_sample_weights` weigh the rows of a sum. ValueError for
    shapes that do not fit, RuntimeError for indices outside of the table, NotImplementedError for
    weights without a sum and for sparse gradients.
    """
    if mode not in MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if per_sample_weights is not None:
        _check_weights(input, weight, per_sample_weights, mode)
    indices, starts = _bags(input, offsets, include_last_offset)
    if mode == "max" and (scale_grad_by_freq or sparse):
        what = "scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights"
        raise ValueError(f"max mode does not support {what}")
    rows = weight.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise RuntimeError(
                f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, "
                f"but got {padding_idx}"
            )
        padding_idx %= rows
    numbers = numbers_of(indices)
    _check_indices(numbers, rows)
    bag_of = bags_of_places(starts, numbers.size)
    counted = None if padding_idx is None else numbers != padding_idx
    found = embedding(indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    if not starts.size:
        return found[:0]
    if mode == "max":
        return _largest(found, bag_of, counted, starts.size)
    if per_sample_weights is not None:
        found = found * ops.unsqueeze(per_sample_weights.reshape(-1), 1)
    if counted is not None:
        found = ops.masked_fill(found, wrap(~counted[:, None]), 0)
    dtype = weight.array.dtype
    zeros = wrap(np.zeros((starts.size, weight.shape[1]), dtype))
    total = ops.index_add(zeros, 0, wrap(bag_of), found)
    if mode == "sum":
        return total
    each = np.ones(numbers.size, dtype) if counted is None else counted.astype(dtype)
    sizes = ops.index_add(wrap(np.zeros(starts.size, dtype)), 0, wrap(bag_of), wrap(each))
    return total / wrap(np.maximum(sizes.array, 1)[:, None])


def bags_of_places(starts: Any, count: int) -> Any:
    """Return the number of the bag that each of `count` places is in."""
    return np.searchsorted(starts, np.arange(count), "right") - 1


def _check_indices(numbers: Any, rows: int) -> None:
    if numbers.dtype.kind not in "iu":
        raise RuntimeError(f"expected indices to have an integer type, but got {numbers.dtype}")
    outside = np.flatnonzero((numbers < 0) | (numbers >= rows)) if has_values(numbers) else None
    if outside is not None and outside.size:
        raise RuntimeError(
            "embedding_bag: Expected idx >= 0 && idx < num_embeddings: Index "
            f"{outside[0]} of input takes value {numbers[outside[0]]} which is not in the valid "
            f"range [0, {rows})"
        )


def _check_weights(input: Tensor, weight: Tensor, weights: Tensor, mode: str) -> None:
    if weights.dtype != weight.dtype:
        raise RuntimeError(
            "embedding_bag: Expected weight to have the same type as per_sample_weights, but got "
            f"{weight.dtype} and {weights.dtype}"
        )
    if weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(weights.shape)}) is not None, then it "
            f"must have the same shape as the input ({list(input.shape)})"
        )
    if mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )


def _bags(input: Tensor, offsets: Tensor | None, include_last_offset: bool) -> tuple[Tensor, Any]:
    """Return the indices as a vector, and where the bags begin in it."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                "of fixed length sequences. However, found offsets of type Tensor"
            )
        bags, length = input.shape
        return input.reshape(-1), np.arange(bags) * length
    if input.ndim != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    starts = numbers_of(offsets)
    if starts.dtype.kind not in "iu":
        raise RuntimeError(f"expected offsets to have an integer type, but got {starts.dtype}")
    if include_last_offset and not starts.size:
        raise RuntimeError("include_last_offset: number of offsets should be at least 1")
    if starts.size and is_any(starts[0] != 0):
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {starts[0]}"
        )
    if starts.size and is_any(starts[-1] > input.shape[0]):
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {input.shape[0]} but got "
            f"offsets[-1] of {starts[-1]}"
        )
    if is_any(starts[1:] < starts[:-1]):
        raise RuntimeError(f"expected offsets that do not decrease, but got {starts.tolist()}")
    return input, starts[:-1] if include_last_offset else starts


def _largest(found: Tensor, bag_of: Any, counted: Any, bags: int) -> Tensor:
    """Return the largest row elements of each bag, the first of equal ones; zeros for none."""
    if not found.shape[0]:
        return wrap(np.zeros((bags, found.shape[1]), found.array.dtype))
    first, is_filled = places_of_largest(numbers_of(found.detach()), bag_of, counted, bags)
    largest = ops.gather(found, 0, wrap(first))
    return ops.masked_fill(largest, wrap(~is_filled[:, None]), 0)


def places_of_largest(values: Any, bag_of: Any, counted: Any, bags: int) -> tuple[Any, Any]:
    """Return for each bag the rows of its largest elements, and whether it has a row at all.

    Of equal ones it is the first. Nothing is larger than a NaN that comes first, and no other NaN
    is larger than anything. `counted` are the rows that are looked at; None for all.
    """
    count, width = values.shape
    rows = np.arange(count)
    if counted is not None:
        bag_of = np.where(counted, bag_of, bags)  # the others have a bag of their own
    first_rows = _reduced(np.full(bags + 1, count), bag_of, rows, "amin")
    is_first = (first_rows[bag_of] == rows)[:, None]
    keys = np.where(np.isnan(values), np.where(is_first, np.inf, -np.inf), values)
    largest = _reduced(np.full((bags + 1, width), -np.inf), bag_of, keys, "amax")
    places = np.where(keys == largest[bag_of], rows[:, None], count)
    first = _reduced(np.full((bags + 1, width), count), bag_of, places, "amin")[:bags]
    is_filled = first_rows[:bags] < count
    return np.where(is_filled[:, None], first, 0), is_filled


def _reduced(initial: Any, bag_of: Any, values: Any, how: str) -> Any:
    """Return the smallest or largest of the values of each bag and what it has initially."""
    places = np.broadcast_to(bag_of if values.ndim == 1 else bag_of[:, None], values.shape)
    found = ops.scatter_reduce(wrap(initial), 0, wrap(places), wrap(values), how)
    return found.array


class EmbeddingBag(Module):
    """A table of vectors, of which bags are reduced: see `nn.functional.embedding_bag`."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("padding_idx must be within num_embeddings")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type, self.mode = max_norm, norm_type, mode
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.include_last_offset = include_last_offset
        self.weight = table((num_embeddings, embedding_dim), _weight, False, dtype, device)
        if _weight is None:
            self.reset_parameters()

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Make the module of a table of vectors, a matrix, which is not trained if `freeze`."""
        check_table(embeddings)
        rows, size = embeddings.shape
        made = cls(
            rows,
            size,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        made.weight.requires_grad_(not freeze)
        return made

    def reset_parameters(self) -> None:
        """Draw the vectors from a standard normal distribution; that of the padding is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.array[self.padding_idx] = 0

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Reduce the vectors of each bag; the shape is (bags, embedding_dim)."""
        return embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Show the sizes, and what differs from the defaults."""
        words = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            words.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            words.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            words.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        words.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            words.append(f"padding_idx={self.padding_idx}")
        return ", ".join(words)
