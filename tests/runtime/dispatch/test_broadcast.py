"""Gradients come back in the shape and dtype of the operand that was broadcast."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gradspec as gs
from gradspec.dispatch.unbroadcast import reduce_to_differentiable
from gradspec.kernels.reductions.unbroadcast import reduce_to


def like(shape, dtype="float64"):
    return shape, np.dtype(dtype)


@given(
    hnp.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=3), st.integers(0, 2**31)
)
def test_it_is_the_transpose_of_broadcasting(shapes, seed):
    """⟨broadcast(x), g⟩ = ⟨x, reduce_to(g)⟩ for every shape that takes part."""
    rng = np.random.default_rng(seed)
    grad = rng.integers(-5, 5, shapes.result_shape).astype(float)
    for shape in shapes.input_shapes:
        operand = rng.integers(-5, 5, shape).astype(float)
        reduced = reduce_to(grad, like(shape))
        assert reduced.shape == shape
        wide = np.broadcast_to(operand, shapes.result_shape)
        assert np.vdot(operand, reduced) == np.vdot(wide, grad)


def test_nothing_to_do_returns_the_same_array():
    grad = np.ones((2, 3))
    assert reduce_to(grad, like((2, 3))) is grad


def test_zero_dim_stays_an_array():
    reduced = reduce_to(np.ones((2, 3)), like(()))
    assert type(reduced) is np.ndarray
    assert reduced.shape == ()
    assert reduced == 6


@pytest.mark.parametrize(
    ("found", "wanted"), [("float64", "float32"), ("float32", "float64"), ("float32", "complex64")]
)
def test_dtype_is_that_of_the_operand(found, wanted):
    assert reduce_to(np.ones(3, found), like((3,), wanted)).dtype == wanted


def test_real_operand_of_a_complex_gradient_gets_the_real_part():
    reduced = reduce_to(np.array([1 + 2j, 3 - 1j]), like((1,), "float32"))
    assert reduced.dtype == np.float32
    assert reduced.tolist() == [4.0]


class Symbols(np.ndarray):
    """Stands for the arrays of symbols of a proof."""


@pytest.mark.parametrize("shape", [(2, 2), (2,), (1, 2), (2, 1), (1,), ()])
def test_symbols_keep_class_and_dtype(shape):
    grad = np.array([[1, 2], [3, 4]], dtype=object).view(Symbols)
    reduced = reduce_to(grad, like(shape))
    assert type(reduced) is Symbols
    assert reduced.dtype == object
    assert reduced.shape == shape


def test_equal_dtypes_that_are_different_objects_do_not_copy():
    grad = np.ones(3, np.dtype("<f8"))
    assert reduce_to(grad, ((3,), np.dtype("f8").newbyteorder("="))) is grad


@pytest.mark.parametrize("shape", [(2, 3), (3,), (1, 3), (2, 1), (1, 1), (1,), ()])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_on_tensors_it_is_the_same_and_recorded(shape, dtype):
    grad = gs.arange(6, dtype=gs.float64).reshape(2, 3).requires_grad_()
    reduced = reduce_to_differentiable(grad, like(shape, dtype))
    expected = reduce_to(grad.array, like(shape, dtype))
    assert reduced.shape == expected.shape
    assert reduced.dtype == expected.dtype
    np.testing.assert_array_equal(reduced.array, expected)
    (back,) = gs.autograd.grad(reduced, grad, gs.ones(shape, dtype=dtype))
    assert back.tolist() == [[1.0] * 3] * 2


def test_on_tensors_nothing_to_do_returns_the_same():
    grad = gs.ones(2, 3)
    assert reduce_to_differentiable(grad, like((2, 3), "float32")) is grad
