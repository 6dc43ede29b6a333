"""Packed and padded sequences: conversions, dtypes and what is refused, beside PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle

CASTS = ("double", "float", "half", "long", "int", "short", "char", "byte", "cpu")


@pytest.mark.parametrize("name", CASTS)
@pytest.mark.parametrize("lengths", [[3, 1], [1, 3]])
def test_conversions(torch: Any, name: str, lengths: list[int]) -> None:
    def behaviour(library: Any) -> Any:
        rnn = library.nn.utils.rnn
        given = library.arange(6, dtype=library.int32).reshape(3, 2)
        packed = rnn.pack_padded_sequence(given, lengths, enforce_sorted=False)
        made = getattr(packed, name)()
        return [
            *rnn.pad_packed_sequence(made),
            made is packed,
            packed.to(library.int32) is packed,
            packed.cpu() is packed,
            packed.cpu(dtype=library.float64).data,
            attempt(packed.cuda),
            packed.is_pinned(),
        ]

    assert_same(behaviour, torch)


def test_what_is_refused(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        rnn, one = library.nn.utils.rnn, library.ones
        return [
            attempt(lambda: rnn.pack_padded_sequence(one(0, 0), [])),
            attempt(lambda: rnn.pack_padded_sequence(one(0, 1, 2), [1])),
            attempt(lambda: rnn.pack_padded_sequence(one(3, 2), library.tensor([[3, 2]]))),
            list(rnn.pack_padded_sequence(one(3, 2), [2.5, 1.2])),
            attempt(lambda: rnn.pad_sequence(5)),
            attempt(lambda: rnn.pad_sequence([])),
            attempt(lambda: rnn.pad_sequence([one(1)], padding_side="middle")),
        ]

    assert_same(behaviour, torch)


def test_the_first_sequence_decides_on_the_dtype(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        pad = library.nn.utils.rnn.pad_sequence
        narrow, wide = library.ones(2), library.full((1,), 2.5, dtype=library.float64)
        whole = library.ones(3, dtype=library.int64)
        return [pad([narrow, wide]), pad([wide, narrow]), pad([whole, wide]), pad([wide, whole])]

    assert_same(behaviour, torch)
