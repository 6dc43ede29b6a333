"""Masks of attention by blocks: which blocks of queries and keys count, and the rule inside."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import islice, product
from typing import Any, Final, NoReturn

import numpy as np

from ...core.devices import check_device
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops
from .places import MaskMod, ScoreMod, noop_mask, of_all_places, takes_scores

BLOCK: Final = 128


def refuse_sliced(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> NoReturn:
    """Stand for the function of a part of a mask, whose places would be counted from its start."""
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask: places are counted from the start of the "
        "whole mask. Set mask_mod of the part, from that of the whole BlockMask."
    )


class BlockMask:
    """The blocks of a mask that count, by rows of blocks of queries; made by `create_block_mask`.

    `kv_num_blocks` (..., rows) says how many of `kv_indices` (..., rows, columns) hold the columns
    in which `mask_mod` decides; the `full_` ones are those of blocks that count whole. `q_...` are
    the same by columns.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (BLOCK, BLOCK),
        mask_mod: MaskMod = noop_mask,
    ) -> None:
        if kv_indices.ndim < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for kind, number, indices in (
            ("kv", full_kv_num_blocks, full_kv_indices),
            ("q", full_q_num_blocks, full_q_indices),
        ):
            if (number is None) != (indices is None):
                raise AssertionError(
                    f"full_{kind}_num_blocks and full_{kind}_indices must be both provided or "
                    "omitted"
                )
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = BLOCK,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """Make a mask from the blocks of each row; those of each column are found from them."""
        if kv_indices.ndim < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if seq_lengths is None:
            seq_lengths = kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1]
        q: tuple[Tensor | None, Tensor | None] = (None, None)
        full_q = q
        if compute_q_blocks:
            q = _transposed(kv_num_blocks, kv_indices)
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                full_q = _transposed(full_kv_num_blocks, full_kv_indices)
        return cls(
            *(seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices),
            *(q[0], q[1], full_q[0], full_q[1], size),
            noop_mask if mask_mod is None else mask_mod,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch dimensions, and the numbers of queries and of keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """The number of places."""
        return int(np.prod(self.shape))

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """The parts; those that are pairs as two numbers each, unless `flatten` is false."""
        lengths, sizes = (
            pair if flatten else (pair,) for pair in (self.seq_lengths, self.BLOCK_SIZE)
        )
        return (*lengths, *self._tensors(), *sizes, self.mask_mod)

    def _tensors(self) -> tuple[Tensor | None, ...]:
        return (
            *(self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices),
            *(self.q_num_blocks, self.q_indices, self.full_q_num_blocks, self.full_q_indices),
        )

    def __getitem__(self, index: Any) -> BlockMask:
        """A part of the mask, by batch, head and row of blocks; numbers keep their dimension.

        Its `mask_mod` is to be set anew.
        """
        index = index if isinstance(index, tuple) else (index,)
        index = (*index, *(slice(None),) * 3)[: min(3, self.kv_num_blocks.ndim)]
        sizes = self.kv_num_blocks.shape
        index = tuple(
            slice(i % n, i % n + 1) if isinstance(i, int) and -n <= i < n else i
            for i, n in zip(index, sizes, strict=False)
        )
        given = (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)
        parts = [None if each is None else each[index] for each in given]
        return self._with(parts, refuse_sliced, self.seq_lengths)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The mask of fewer or more queries and keys, as far as its blocks go."""
        rows, columns = (
            -(-length // size)
            for length, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE, strict=True)
        )
        parts: list[Tensor | None] = []
        for number, indices in self._kinds():
            dense = _dense(number, indices, indices.shape[-1])[..., :rows, :columns]
            parts += _ordered(dense)
        return self._with(parts, self.mask_mod, (new_q_len, new_kv_len))

    def _with(
        self, parts: Sequence[Tensor | None], mask_mod: MaskMod, seq_lengths: tuple[int, int]
    ) -> BlockMask:
        """Make a mask of other blocks, of the same size."""
        number, indices, *whole = parts
        assert number is not None
        assert indices is not None
        full_number, full_indices = whole or (None, None)
        has_columns = self.q_indices is not None
        return BlockMask.from_kv_blocks(
            *(number, indices, full_number, full_indices, self.BLOCK_SIZE, mask_mod),
            *(seq_lengths, has_columns),
        )

    def _kinds(self) -> list[tuple[Tensor, Tensor]]:
        """The blocks in which `mask_mod` decides, and those that count whole if they are apart."""
        found = [(self.kv_num_blocks, self.kv_indices)]
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            found.append((self.full_kv_num_blocks, self.full_kv_indices))
        return found

    def sparsity(self) -> float:
        """The share of the places, in percent, that lie in no block that counts."""
        blocks = sum(int(number.array.sum()) for number, _ in self._kinds())
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self) -> Tensor:
        """The blocks that count, as ones of (..., rows, columns)."""
        found = [_dense(*kind, kind[1].shape[-1]) for kind in self._kinds()]
        return found[0] if len(found) == 1 else found[0] | found[1]

    def places(self, batch: tuple[int, ...]) -> Tensor:
        """Mask the positions that count by the blocks and by `mask_mod`, for several matrices."""
        sizes = (*batch, *self.seq_lengths)
        decided, *whole = (
            self._spread(_dense(number, indices, indices.shape[-1]) > 0)
            for number, indices in self._kinds()
        )
        by_rule = decided & of_all_places(self.mask_mod, sizes)
        return by_rule | whole[0] if whole else by_rule

    def _spread(self, blocks: Tensor) -> Tensor:
        """Repeat what holds for blocks for the places in them."""
        for dim, (length, size) in enumerate(
            zip(self.seq_lengths, self.BLOCK_SIZE, strict=True), -2
        ):
            numbers = np.minimum(np.arange(length) // size, blocks.shape[dim] - 1)
            blocks = ops.index_select(blocks, dim, wrap(numbers))
        return blocks

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """Draw the blocks: full where all count, shaded where some do; at most `limit` matrices."""
        dense = self.to_dense()
        shape = dense.shape
        rows, columns = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        steps = [
            1 if most < 0 else max(1, -(-length // most))
            for length, most in zip(shape[-2:], (rows, columns), strict=True)
        ]
        numbers = list(islice(product(*map(range, shape[:-2])), limit + 1))
        pictures = [f"{number}\n" + _drawn(dense.array[number], *steps) for number in numbers]
        if len(pictures) > limit:
            pictures[limit:] = [
                "...",
                "To print out more, set BlockMask.to_string(limit=N)",
                "You can also index (BlockMask[batch, head]) to choose a specific batch or head",
            ]
        return "\n".join(pictures)

    def to(self, device: Any) -> BlockMask:
        """The same mask: there is one device. RuntimeError for any other."""
        check_device("to", device)
        return copy(self)

    def __str__(self) -> str:
        picture = self.to_string().strip()
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{picture}\n)"

    def __repr__(self) -> str:
        names = (
            *("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices"),
            *("q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices"),
        )
        shapes = [
            f"    {name}={None if tensor is None else tensor.shape},\n"
            for name, tensor in zip(names, self._tensors(), strict=True)
        ]
        return (
            f"BlockMask(\n{''.join(shapes)}"
            f"    BLOCK_SIZE={self.BLOCK_SIZE},\n"
            f"    shape={self.shape},\n"
            f"    sparsity={self.sparsity():.2f}%,\n"
            f"    mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}\n)"
        )


def _drawn(dense: np.ndarray[Any, Any], row_step: int, column_step: int) -> str:
    lines = []
    for row in range(0, dense.shape[0], row_step):
        line = ""
        for column in range(0, dense.shape[1], column_step):
            share = dense[row : row + row_step, column : column + column_step].mean()
            line += ("█" if share == 1 else "░" if share else " ") * 2
        lines.append(line + "\n")
    return "".join(lines)


def _ordered(dense: Tensor) -> list[Tensor]:
    """Count the ones in each row, and list the columns, those of ones first."""
    count = dense.sum(-1).to(np.dtype(np.int32))
    columns = ops.argsort(dense, stable=True, dim=-1, descending=True)
    return [count, columns.to(np.dtype(np.int32))]


def _dense(count: Tensor, columns: Tensor, width: int) -> Tensor:
    """Ones in the columns that count: the reverse of `_ordered`."""
    places = wrap(np.arange(columns.shape[-1]))
    beyond = wrap(np.asarray(width))
    chosen = ops.where(places < count.unsqueeze(-1), columns, beyond).to(np.dtype(np.int64))
    ones = wrap(np.ones(columns.shape, np.int32))
    zeros = wrap(np.zeros((*columns.shape[:-1], width + 1), np.int32))
    return ops.scatter(zeros, -1, chosen, ones)[..., :width]


def _transposed(count: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    by_column, rows = _ordered(_dense(count, columns, columns.shape[-1]).transpose(-2, -1))
    return by_column, rows


def create_mask(
    mod_fn: ScoreMod | MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
) -> Tensor:
    """The mask (B, H, Q_LEN, KV_LEN) of bools of a rule, or of where it leaves scores finite."""
    check_device("create_mask", device)
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    if not takes_scores(mod_fn):
        return of_all_places(mod_fn, sizes)
    scores = of_all_places(mod_fn, sizes, wrap(np.zeros(sizes, np.float32)))
    return ~ops.isneginf(scores)


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = BLOCK,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """The blocks in which a rule lets keys count; B and H None where it is the same for all.

    With `separate_full_blocks` those that count whole are kept apart. `_compile` chooses nothing.
    """
    if takes_scores(mask_mod):
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    if mask.dtype != np.bool_:
        raise AssertionError(f"mask.dtype must be torch.bool, got {mask.dtype}")
    before = [-length % step for length, step in zip((Q_LEN, KV_LEN), size, strict=True)]
    counted = ops.constant_pad_nd(mask.to(np.dtype(np.int64)), [0, before[1], 0, before[0]], 0)
    rows, columns = (n // step for n, step in zip(counted.shape[-2:], size, strict=True))
    split = counted.reshape(*counted.shape[:2], rows, size[0], columns, size[1])
    counts = split.sum((3, 5))
    is_full = counts == size[0] * size[1]
    kinds = [(counts > 0) & ~is_full, is_full] if separate_full_blocks else [counts > 0]
    number, indices, *whole = (
        part for kind in kinds for part in _ordered(kind.to(np.dtype(np.int8)))
    )
    full_number, full_indices = whole or (None, None)
    return BlockMask.from_kv_blocks(
        *(number, indices, full_number, full_indices, size, mask_mod, (Q_LEN, KV_LEN))
    )
