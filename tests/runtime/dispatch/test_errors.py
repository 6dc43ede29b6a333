"""Errors of NumPy inside an op become PyTorch's, and say which call they come from."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.tensor import wrap
from gradspec.dispatch.op_errors import describe_call, failure


def caught(function, *args) -> Exception:
    """Return what `function` raises as an op on these arrays."""
    try:
        function(*args)
    except Exception as error:
        return failure(function.__name__, error, *map(wrap, args))
    raise AssertionError("no error")


def ones(*shape) -> np.ndarray:
    return np.ones(shape, np.float32)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("shape", "other"), [((2, 3), (3, 4, 1)), ((2,), (3,)), ((4, 1, 2), (2, 3))]
)
def test_broadcasting_error_is_torchs(torch, shape, other):
    with pytest.raises(RuntimeError) as expected:
        torch.ones(shape) * torch.ones(other)
    error = caught(np.multiply, ones(*shape), ones(*other))
    assert type(error) is RuntimeError
    assert str(error).startswith(str(expected.value))
    assert str(error).endswith(f"in multiply({list(shape)} float32, {list(other)} float32)")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("shape", "other"),
    [((2, 3), (4, 5)), ((2,), (4, 3)), ((2, 3), (4,)), ((2,), (4,)), ((2, 2, 3), (2, 4, 5))],
)
def test_product_error_is_torchs(torch, shape, other):
    with pytest.raises(RuntimeError) as expected:
        torch.ones(shape) @ torch.ones(other)
    error = caught(np.matmul, ones(*shape), ones(*other))
    assert type(error) is RuntimeError
    words = str(expected.value).removesuffix(", but got 2 and 4 elements respectively")
    assert str(error).startswith(words)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("other", "words"),
    [
        ((2, 4), "Sizes of tensors must match except in dimension"),
        ((2,), "Tensors must have same number of dimensions"),
    ],
)
def test_error_of_parts_to_join_is_torchs(torch, other, words):
    with pytest.raises(RuntimeError, match=words):
        torch.cat([torch.ones(2, 3), torch.ones(other)])
    error = caught(lambda *parts: np.concatenate(parts), ones(2, 3), ones(*other))
    assert type(error) is RuntimeError
    assert str(error).startswith(words)


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_dim_error_is_torchs(torch, shape):
    with pytest.raises(IndexError) as expected:
        torch.ones(shape).sum(5)
    error = caught(lambda array: array.sum(axis=5), ones(*shape))
    assert type(error) is IndexError
    assert str(error).startswith(str(expected.value))


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(4,), (2, 4), (-1, -1), ()])
def test_reshape_error_is_torchs(torch, shape):
    with pytest.raises(RuntimeError) as expected:
        torch.ones(6).reshape(shape)
    error = caught(lambda array: array.reshape(shape), ones(6))
    assert type(error) is RuntimeError
    assert str(error).startswith(str(expected.value))


def test_other_value_errors_keep_their_words():
    error = caught(np.power, np.array([2]), np.array([-1]))
    assert type(error) is RuntimeError
    assert "negative integer powers" in str(error)
    assert "power([1] int64, [1] int64)" in str(error)


def test_missing_loop_is_not_implemented():
    error = caught(np.bitwise_and, ones(1), ones(1))
    assert type(error) is NotImplementedError
    assert "\"bitwise_and\" not implemented for 'Float'" in str(error)


def test_singular_matrix():
    error = caught(np.linalg.inv, np.zeros((2, 2)))
    assert type(error) is gs.linalg.LinAlgError
    assert isinstance(error, RuntimeError)
    assert "inv([2, 2] float64)" in str(error)


@pytest.mark.parametrize("kind", [TypeError, IndexError])
def test_type_and_index_errors_keep_their_type(kind):
    error = failure("take", kind("what was wrong"), wrap(ones(2)), 3)
    assert type(error) is kind
    assert str(error) == "what was wrong in take([2] float32, 3)"


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError])
def test_errors_that_are_already_right_pass_through(kind):
    raised = kind("what was wrong")
    error = failure("take", raised, wrap(ones(2)), 3)
    assert error is raised
    assert error.__notes__ == ["in take([2] float32, 3)"]


def test_call_shows_lists_and_numbers():
    arrays = [wrap(ones(2)), np.zeros((), bool)]
    call = describe_call("cat", [arrays, (1, None), 2.5])
    assert call == "cat([[2] float32, [] bool], (1, None), 2.5)"
