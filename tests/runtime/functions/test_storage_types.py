"""Memory made by `Storage` and its kin, in-place ops by name, and LDL factors: literal values."""

from __future__ import annotations

import pytest

import gradspec as gs


def test_storage_holds_the_elements() -> None:
    assert gs.Storage([1.0, 2.0]).tolist() == [1.0, 2.0]
    assert gs.Storage([1.0]).dtype == gs.float32
    assert len(gs.LongStorage(3)) == 3
    assert gs.UntypedStorage([1, 2]).tolist() == [1, 2]


def test_tensor_lies_on_the_storage_it_is_made_of() -> None:
    storage = gs.FloatStorage([1.0, 2.0])
    tensor = gs.FloatTensor(storage)
    storage[0] = 5.0
    assert tensor.tolist() == [5.0, 2.0]


def test_a_tensor_made_of_another_keeps_its_tangent() -> None:
    found = gs.func.jacfwd(lambda x: gs.Tensor(x) * 2)(gs.ones(2))
    assert found.tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_kinds_of_storage_differ_in_dtype() -> None:
    storage = gs.zeros(2).storage()
    assert isinstance(storage, gs.FloatStorage)
    assert not isinstance(storage, gs.DoubleStorage)


def test_aten_writes_in_place() -> None:
    x = gs.tensor([1.0, 2.0])
    assert gs.ops.aten.add_.Tensor(x, x) is x
    assert x.tolist() == [2.0, 4.0]
    assert gs.ops.aten.fill_.overloads() == ["Scalar", "Tensor"]
    assert gs.ops.aten.zero_.overloads() == ["default"]
    assert str(gs.ops.aten.index_put_.default) == "aten.index_put_.default"
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        _ = gs.ops.aten.nothing_


def test_ldl_factors_solve_the_system() -> None:
    # Without a pivot on the diagonal, D has one block of two rows.
    swap = gs.tensor([[0.0, 1.0], [1.0, 0.0]])
    LD, pivots = gs.linalg.ldl_factor(swap)
    assert LD.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert pivots.tolist() == [-2, -2]
    assert gs.linalg.ldl_solve(LD, pivots, gs.tensor([[3.0], [5.0]])).tolist() == [[5.0], [3.0]]


def test_ldl_factor_refuses_a_gradient() -> None:
    matrix = gs.eye(2).requires_grad_()
    with pytest.raises(NotImplementedError, match=r"linalg\.ldl_factor is not implemented"):
        gs.linalg.ldl_factor(matrix)
