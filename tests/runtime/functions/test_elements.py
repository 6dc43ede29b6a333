"""Functions of single elements, differences of neighbours, and elements at positions."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs

SQUARES = [[0.0, 1.0, 4.0, 9.0], [1.0, 2.0, 5.0, 10.0], [4.0, 5.0, 8.0, 13.0]]


@pytest.mark.parametrize("made", ["1", None, [1]])
def test_apply_takes_numbers(made: Any) -> None:
    with pytest.raises(TypeError, match="must be real number"):
        gs.arange(3.0).apply_(lambda _: made)


def test_map_broadcasts_to_the_written_tensor() -> None:
    x = gs.ones(2, 2).map_(gs.tensor([1.0, 2.0]), lambda a, b: a + b)
    assert x.tolist() == [[2, 3], [2, 3]]
    with pytest.raises(RuntimeError, match="expand"):
        gs.ones(1).map_(gs.ones(2), lambda a, b: a + b)


def test_gradient_of_a_matrix_at_coordinates() -> None:
    # x**2 + y**2 at y = 0, 1, 2 and x = 0, 1, 2, 3.
    rows, columns = gs.gradient(
        gs.tensor(SQUARES), spacing=[gs.tensor([0.0, 1.0, 2.0]), gs.tensor([0.0, 1.0, 2.0, 3.0])]
    )
    assert rows.tolist() == [[1] * 4, [2] * 4, [3] * 4]
    assert columns.tolist() == [[1, 2, 4, 5]] * 3


def test_gradient_of_a_matrix_of_two_samples_at_coordinates() -> None:
    (slopes,) = gs.gradient(
        gs.tensor([[1.0, 2.0], [3.0, 7.0]]), spacing=[gs.tensor([0.0, 2.0])], dim=0
    )
    assert slopes.tolist() == [[1, 2.5], [1, 2.5]]


def test_gradient_at_complex_steps() -> None:
    (slopes,) = gs.gradient(gs.tensor([1.0, 2.0, 4.0]), spacing=1j)
    assert slopes.tolist() == [-1j, -1.5j, -2j]


def test_gradient_of_bytes() -> None:
    with pytest.raises(RuntimeError, match="does not support uint8"):
        gs.gradient(gs.tensor([1, 2, 4], dtype=gs.uint8))


def test_diff_of_what_cannot_be_joined() -> None:
    with pytest.raises(RuntimeError, match="expects the shape of tensor to prepend or append to"):
        gs.diff(gs.ones(3, 2), prepend=gs.ones(1, 3))


def test_bounds_that_are_tensors() -> None:
    bound = gs.tensor(0.0, requires_grad=True)
    assert gs.linspace(bound, gs.tensor(1.0), 3).tolist() == [0, 0.5, 1]
    assert gs.logspace(bound, 2, 3).tolist() == [1, 10, 100]
    for function in (gs.linspace, gs.logspace):
        with pytest.raises(RuntimeError, match="only supports 0-dimensional start and end"):
            function(0, gs.tensor([1.0]), 3)


def test_numbers_between_complex_ones() -> None:
    made = gs.linspace(1j, 1, 3)
    assert made.dtype == gs.complex64
    assert made.tolist() == [1j, 0.5 + 0.5j, 1]
    assert gs.linspace(gs.tensor(1j), 1, 3, dtype=gs.complex128).dtype == gs.complex128
    with pytest.raises(RuntimeError, match="can't be safely cast"):
        gs.linspace(1j, 1, 3, dtype=gs.float32)


@pytest.mark.parametrize(
    "scatter",
    [
        lambda x, index: x.scatter(0, index, gs.zeros(0, 4)),
        lambda x, index: x.scatter(0, index, 1.0),
        lambda x, index: x.scatter_add(0, index, gs.zeros(0, 4)),
        lambda x, index: x.scatter_reduce(0, index, gs.zeros(0, 4), "sum"),
    ],
)
def test_scatter_at_no_positions_of_any_shape(scatter: Any) -> None:
    assert scatter(gs.arange(4.0), gs.zeros(0, 4, dtype=gs.int64)).tolist() == [0, 1, 2, 3]


def test_scatter_at_no_positions_of_a_dimension_that_is_not_there() -> None:
    with pytest.raises(IndexError, match="Dimension out of range"):
        gs.ones(2, 2).scatter(3, gs.zeros(0, dtype=gs.int64), 1.0)


def test_index_select_refuses() -> None:
    with pytest.raises(RuntimeError, match="Expected dtype int32 or int64 for index"):
        gs.index_select(gs.ones(2, 3), 1, gs.tensor([0.0]))
    with pytest.raises(RuntimeError, match="self indexing axis dim should be positive"):
        gs.index_select(gs.ones(0, 3), 0, gs.tensor([0]))
    assert gs.index_select(gs.ones(0, 3), 1, gs.tensor([0])).shape == (0, 1)


def test_a_complex_number_is_no_real_scalar_tensor():
    with pytest.raises(RuntimeError, match="cannot be converted to type float"):
        gs.scalar_tensor(1j)
    assert gs.scalar_tensor(1j, dtype=gs.complex64).item() == 1j


def test_complex_numbers_are_true_unless_both_parts_are_zero():
    z = gs.tensor([[1j, 0], [1, complex(0, float("nan"))]])
    expected = [[True, False], [True, True]]
    assert z.bool().tolist() == z.to(gs.bool).tolist() == expected
    assert gs.as_tensor(z, dtype=gs.bool).tolist() == expected
    assert gs.func.vmap(lambda row: row.bool())(z).tolist() == expected
    assert gs.compile(lambda z: z.bool())(z).tolist() == expected
