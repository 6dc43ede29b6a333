"""Sequences of several lengths: padded to one, or packed step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.missing import explaining as _explaining
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Sequences in one tensor: all first elements, then all second ones, the longest first.

    `batch_sizes` counts, as a tensor of int64, the sequences that have each step.
    `sorted_indices` is the order of length if the sequences were not given in it, and
    `unsorted_indices` leads back.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        """Check nothing: `pack_padded_sequence` makes these."""
        if batch_sizes is None:
            raise ValueError("PackedSequence needs batch_sizes: see pack_padded_sequence")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Convert the data, as `Tensor.to` does; itself if that changes nothing."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._replace(data=data)

    def double(self) -> PackedSequence:
        """Convert the data to float64."""
        return self.to(np.float64)

    def float(self) -> PackedSequence:
        """Convert the data to float32."""
        return self.to(np.float32)

    def half(self) -> PackedSequence:
        """Convert the data to float16."""
        return self.to(np.float16)

    def long(self) -> PackedSequence:
        """Convert the data to int64."""
        return self.to(np.int64)

    def int(self) -> PackedSequence:
        """Convert the data to int32."""
        return self.to(np.int32)

    def short(self) -> PackedSequence:
        """Convert the data to int16."""
        return self.to(np.int16)

    def char(self) -> PackedSequence:
        """Convert the data to int8."""
        return self.to(np.int8)

    def byte(self) -> PackedSequence:
        """Convert the data to uint8."""
        return self.to(np.uint8)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequence, converted as by `to`: it is on the CPU."""
        return self.to(*args, **{"device": "cpu", **kwargs})

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Raise AssertionError, as PyTorch does where it has no such device."""
        raise AssertionError("PackedSequence.cuda: gradspec has no CUDA devices, only the CPU")

    def pin_memory(self) -> PackedSequence:
        """Return the sequence: no device would copy from pinned memory."""
        return self

    def is_pinned(self) -> bool:
        """Return False: no memory is pinned."""
        return False

    @property
    def is_cuda(self) -> bool:
        """False: all tensors are on the CPU."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the permutation that undoes one; None for None."""
    if permutation is None:
        return None
    return wrap(np.argsort(permutation.detach().numpy()))


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack sequences (time, batch, ...), or (batch, time, ...), of the given lengths.

    With `enforce_sorted` they must be given from the longest to the shortest. RuntimeError for
    lengths that are not positive, too large, or not in that order, and for an empty input.
    """
    counts = np.asarray(
        lengths.tolist() if isinstance(lengths, Tensor) else list(lengths), np.int64
    )
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if counts.ndim != 1:
        raise RuntimeError(f"'lengths' argument should be of one dimension, but has {counts.ndim}")
    order = None
    if not enforce_sorted:
        order = wrap(np.argsort(-counts, kind="stable"))
        counts = counts[order.numpy()]
        input = input.index_select(0 if batch_first else 1, order)
    steps = input.transpose(0, 1) if batch_first else input
    _check_lengths(steps, counts)
    sizes = (counts[None, :] > np.arange(counts[0])[:, None]).sum(1)
    parts = [ops.narrow(steps[step], 0, 0, size) for step, size in enumerate(sizes.tolist())]
    return PackedSequence(ops.cat(parts, 0), wrap(sizes.astype(np.int64)), order)


def _check_lengths(steps: Tensor, counts: Any) -> None:
    if counts.size != steps.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {counts.size} "
            f"(batch_size={steps.shape[1]})"
        )
    if not counts.size or counts.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element "
            "in 'lengths' that is <= 0"
        )
    if (np.diff(counts) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    if counts[0] > steps.shape[0]:
        raise RuntimeError(
            f"Expected lengths of at most {steps.shape[0]}, the length of the padded sequences, "
            f"but got {counts[0]}"
        )


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the sequences (time, batch, ...), padded to one length, and their lengths.

    ValueError for a `total_length` below that of the longest.
    """
    sizes = np.asarray(sequence.batch_sizes.tolist())
    if total_length is not None and total_length < sizes.size:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {sizes.size}"
        )
    length, batch = total_length or sizes.size, int(sizes[0])
    lengths = (sizes[:, None] > np.arange(batch)).sum(0)
    # The row of `data` of each step of each sequence; one more row is the padding.
    rows = np.full((length, batch), int(sizes.sum()))
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    for step, (start, size) in enumerate(zip(starts.tolist(), sizes.tolist(), strict=True)):
        rows[step, :size] = np.arange(start, start + size)
    data = sequence.data
    padding = wrap(np.full((1, *data.shape[1:]), padding_value, data.array.dtype))
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices.numpy()
        rows, lengths = rows[:, back], lengths[back]
    rows = rows.T if batch_first else rows
    found = ops.index_select(ops.cat([data, padding], 0), 0, wrap(rows.reshape(-1)))
    return found.reshape(*rows.shape, *data.shape[1:]), wrap(lengths.astype(np.int64))


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack tensors (length, ...) with padding at one side: (time, batch, ...).

    The result has the dtype of the first. RuntimeError for what is no list of tensors, or empty,
    and for a side that is neither `right` nor `left`.
    """
    if padding_side not in ("right", "left"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    given = list(sequences.unbind(0) if isinstance(sequences, Tensor) else sequences)
    if not given:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    longest = max(sequence.shape[0] for sequence in given)
    padded = []
    dtype = given[0].array.dtype
    for sequence in given:
        sequence = sequence.to(dtype)
        missing = longest - sequence.shape[0]
        if missing:
            shape = (missing, *sequence.shape[1:])
            padding = wrap(np.full(shape, padding_value, dtype))
            both = [sequence, padding] if padding_side == "right" else [padding, sequence]
            sequence = ops.cat(both, 0)
        padded.append(sequence)
    return ops.stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Return the sequences of a padded batch, each of its own length."""
    batches = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    counts = lengths.tolist()
    return [ops.narrow(row, 0, 0, count) for row, count in zip(batches, counts, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack tensors (length, ...): see `pack_padded_sequence`."""
    lengths = [sequence.shape[0] for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences of a packed one, each of its own length."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


__getattr__ = _explaining(__name__)
