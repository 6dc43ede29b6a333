"""In-place ops: values, history, versions, refusals."""

import numpy as np
import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same


def test_in_place_under_no_grad_keeps_the_leaf():
    w = gs.tensor([1.0, 2.0], requires_grad=True)
    array = w.array
    (w * w).sum().backward()
    with gs.no_grad():
        w -= 0.5 * w.grad
    assert w.array is array
    assert w.tolist() == [0.0, 0.0]
    assert w.is_leaf
    assert w.requires_grad


def test_a_leaf_that_requires_grad_is_refused():
    w = gs.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w += 1
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w.mul_(2)


def test_the_history_goes_through_an_in_place_op():
    x = gs.tensor([2.0], requires_grad=True)
    y = x * 3
    y.mul_(x)
    y += 1
    y.backward()
    # y = 3x * x + 1
    assert y.tolist() == [13.0]
    assert x.grad.tolist() == [12.0]


def test_an_operand_that_is_the_tensor_itself_is_noticed():
    x = gs.tensor([2.0], requires_grad=True)
    y = x * 3
    y.mul_(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_saved_tensor_that_was_modified_is_noticed():
    x = gs.tensor([2.0], requires_grad=True)
    y = x * 3
    z = y * y
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_a_modified_tensor_that_nobody_saved_is_fine():
    x = gs.tensor([2.0], requires_grad=True)
    y = x * 2
    y += 1
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_versions_are_shared_with_views():
    x = gs.zeros(2, 3)
    row = x[0]
    assert (x._version, row._version) == (0, 0)
    row.add_(1)
    assert (x._version, row._version) == (1, 1)
    np.testing.assert_array_equal(x.array, [[1, 1, 1], [0, 0, 0]])


def test_shape_and_dtype_must_fit():
    x = gs.zeros(3)
    with pytest.raises(RuntimeError, match="broadcast shape"):
        x.add_(gs.zeros(2, 3))
    with pytest.raises(RuntimeError, match="can't be cast"):
        gs.zeros(3, dtype=gs.int64).add_(0.5)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "scales"),
    [
        *((name, (2,)) for name in ("add_", "sub_", "addcmul_", "addcdiv_")),
        *((name, (3, 2)) for name in ("addmm_", "addmv_", "addr_", "addbmm_", "baddbmm_")),
    ],
)
def test_scales_may_stand_in_front_as_in_old_programs(torch, name, scales):
    def behaviour(library):
        vector = library.tensor([1.0, 2.0])
        matrix = library.tensor([[1.0, 2.0], [3.0, 5.0]])
        x, y = {
            "addmm_": (matrix, matrix),
            "addmv_": (vector, matrix),
            "addr_": (matrix, vector),
            "addbmm_": (matrix, matrix[None]),
            "baddbmm_": (matrix[None], matrix[None]),
        }.get(name, (vector, vector + 1))
        factors = {"add_": (y,), "sub_": (y,), "addmv_": (y, vector)}.get(name, (y, y))
        found = []
        for count in range(1, len(scales) + 1):
            leaf = x.clone().requires_grad_()
            given = [factor.clone().requires_grad_() for factor in factors]
            result = getattr(leaf * 1, name)(*scales[:count], *given)
            result.sum().backward()
            found.append([result, leaf.grad, *(factor.grad for factor in given)])
        return found

    assert_same(behaviour, torch)


def test_other_numbers_of_arguments_are_refused():
    for call in (lambda x: x.add_(), lambda x: x.add_(1, 2, x), lambda x: x.sin_(2, x)):
        with pytest.raises(TypeError, match="argument"):
            call(gs.ones(2))


def test_a_scan_in_place_keeps_its_dtype():
    x = gs.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="input tensor dtype Float and output tensor dtype"):
        x.cumsum_(0, dtype=gs.float64)
    assert x.tolist() == [1.0, 2.0]
    with pytest.raises(NotImplementedError, match="cumsum_out_cpu"):
        gs.tensor([True]).cumsum_(0)


@pytest.mark.parametrize("name", ["eq_", "ne_", "less_", "ge_", "logical_and_", "logical_xor_"])
def test_no_gradient_passes_a_comparison_in_place(name):
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    getattr(y, name)(gs.tensor([2.0, 2.0, 8.0]))
    assert y.requires_grad
    assert gs.autograd.grad(y.sum(), x)[0].tolist() == [0.0, 0.0, 0.0]


def test_nor_one_through_a_view():
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y[1:].logical_not_()
    assert y.tolist() == [2.0, 0.0, 0.0]
    assert gs.autograd.grad(y.sum(), x)[0].tolist() == [2.0, 0.0, 0.0]


def test_whole_numbers_that_are_copied_from_floats_require_no_grad():
    x = gs.tensor([1.5, 2.5], requires_grad=True)
    written = [gs.zeros(2, dtype=dtype) for dtype in (gs.int64, gs.uint8, gs.bool)]
    written[0].copy_(x)
    written[1][:] = x
    written[2][0] = x[1]
    assert [tensor.tolist() for tensor in written] == [[1, 2], [1, 2], [True, False]]
    assert not any(tensor.requires_grad for tensor in written)
