"""Packed sequences, recurrent networks and bags of embeddings, on numbers worked out by hand."""

from __future__ import annotations

import pytest

import gradspec as gs
from gradspec import nn
from gradspec.nn.utils import rnn


def test_packing_goes_step_by_step() -> None:
    packed = rnn.pack_sequence([gs.tensor([1, 2]), gs.tensor([3, 4, 5])], enforce_sorted=False)
    assert packed.data.tolist() == [3, 1, 4, 2, 5]
    assert packed.batch_sizes.tolist() == [2, 2, 1]
    assert packed.sorted_indices is not None
    assert packed.sorted_indices.tolist() == [1, 0]
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1)
    assert padded.tolist() == [[1, 2, -1], [3, 4, 5]]
    assert lengths.tolist() == [2, 3]
    assert [part.tolist() for part in rnn.unpack_sequence(packed)] == [[1, 2], [3, 4, 5]]


def test_padding_on_either_side() -> None:
    parts = [gs.tensor([1]), gs.tensor([2, 3])]
    assert rnn.pad_sequence(parts, True).tolist() == [[1, 0], [2, 3]]
    assert rnn.pad_sequence(parts, True, 9, "left").tolist() == [[9, 1], [2, 3]]


def test_lengths_are_checked() -> None:
    batch = gs.zeros(3, 2, 1)
    for lengths, words in (([1, 3], "decreasing order"), ([3, 0], "greater than 0"), ([4, 1], "4")):
        with pytest.raises(RuntimeError, match=words):
            rnn.pack_padded_sequence(batch, lengths)


def test_a_network_that_counts() -> None:
    """With weights of one and relu each state is the sum of all inputs so far."""
    network = nn.RNN(1, 1, nonlinearity="relu", bias=False, bidirectional=True)
    for parameter in network.parameters():
        parameter.data = gs.ones(1, 1)
    output, last = network(gs.tensor([[1.0], [2.0], [4.0]]))
    assert output.tolist() == [[1, 7], [3, 6], [7, 4]]
    assert last.tolist() == [[7], [7]]


def test_sizes_of_networks() -> None:
    network = nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2)
    assert network.weight_hr_l1_reverse.shape == (2, 4)
    with pytest.raises(RuntimeError, match="Expected 3, got 5"):
        network(gs.zeros(2, 1, 5))
    with pytest.raises(RuntimeError, match=r"Expected hidden\[0\] size"):
        network(gs.zeros(2, 1, 3), (gs.zeros(1, 1, 2), gs.zeros(4, 1, 4)))
    with pytest.raises(ValueError, match="proj_size"):
        nn.GRU(3, 4, proj_size=2)


def test_bags() -> None:
    table = gs.tensor([[1.0, 5.0], [2.0, 4.0], [8.0, 0.0]], requires_grad=True)
    bag = nn.functional.embedding_bag
    indices, offsets = gs.tensor([0, 1, 2, 2]), gs.tensor([0, 2, 2])
    assert bag(indices, table, offsets, mode="sum").tolist() == [[3, 9], [0, 0], [16, 0]]
    assert bag(indices, table, offsets).tolist() == [[1.5, 4.5], [0, 0], [8, 0]]
    found = bag(indices, table, offsets, mode="max")
    assert found.tolist() == [[2, 5], [0, 0], [8, 0]]
    found.sum().backward()
    assert table.grad is not None
    assert table.grad.tolist() == [[0, 1], [1, 0], [1, 1]]
    with pytest.raises(NotImplementedError, match="only supported for mode='sum'"):
        bag(indices, table, offsets, per_sample_weights=gs.ones(4))


def test_attention_to_one_key() -> None:
    attention = nn.MultiheadAttention(2, 1, bias=False)
    x = gs.ones(3, 1, 2)
    hidden = gs.tensor([[False, True, True]])
    _, weights = attention(x, x, x, key_padding_mask=hidden)
    assert weights is not None
    assert weights.tolist() == [[[1, 0, 0]] * 3]


def test_old_names_of_linear_algebra() -> None:
    for name in ("solve", "lstsq", "eig", "symeig", "matrix_rank"):
        with pytest.raises(RuntimeError, match="now removed"):
            getattr(gs, name)(gs.eye(2))
