"""Type promotion is PyTorch's, checked against it for every combination of operands."""

import itertools

import numpy as np
import pytest

import gradspec as gs
from gradspec.dtypes.promotion import (
    can_cast,
    check_inplace_dtype,
    get_default_dtype,
    promote,
    promote_to_float,
    promote_types,
    result_dtype,
    set_default_dtype,
    type_name,
)

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
NUMBERS = [True, 2, 2.5, 1 + 2j]


def name(dtype) -> str:
    return str(dtype).removeprefix("torch.").replace("complex32", "complex64")


def operands(torch):
    """`(our operand, torch's)`: dimensioned and 0-dim arrays of every dtype, and numbers."""
    for dtype in DTYPES:
        for shape in [(2,), ()]:
            yield np.ones(shape, dtype), torch.ones(shape, dtype=getattr(torch, dtype))
    for number in NUMBERS:
        yield number, number


@pytest.mark.oracle
def test_every_pair_promotes_as_in_torch(torch):
    for (ours, theirs), (our_other, their_other) in itertools.product(operands(torch), repeat=2):
        expected = name(torch.result_type(theirs, their_other))
        if isinstance(ours, np.ndarray) or isinstance(our_other, np.ndarray):
            assert result_dtype(ours, our_other).name == expected, (ours, our_other)


@pytest.mark.parametrize(
    ("array", "zero_dim", "number", "expected"),
    [
        ("int64", "float64", 2, "float64"),
        ("int64", "int8", 2.5, "float32"),
        ("int8", "int64", 2, "int8"),
        ("float32", "float64", 2.5, "float32"),
        ("float32", "float64", 1j, "complex64"),
        ("int32", "float64", 1j, "complex128"),
        ("bool", "uint8", True, "uint8"),
    ],
)
def test_three_priorities_at_once(array, zero_dim, number, expected):
    assert result_dtype(np.ones(2, array), np.ones((), zero_dim), number) == expected


@pytest.mark.oracle
def test_the_table_is_torchs(torch):
    for first, second in itertools.product(DTYPES, repeat=2):
        expected = name(torch.promote_types(getattr(torch, first), getattr(torch, second)))
        assert promote_types(np.dtype(first), np.dtype(second)).name == expected


@pytest.mark.oracle
def test_in_place_casts_are_torchs(torch):
    for source, target in itertools.product(DTYPES, repeat=2):
        expected = torch.can_cast(getattr(torch, source), getattr(torch, target))
        assert can_cast(np.dtype(source), np.dtype(target)) is expected


def test_objects_win_over_everything():
    symbols = np.array([[1], [2]], dtype=object)
    for dtype in DTYPES:
        assert result_dtype(symbols, np.ones(2, dtype)).kind == "O"
        assert result_dtype(np.ones(2, dtype), symbols[:1, 0].reshape(())).kind == "O"


def test_promote_keeps_an_array_that_has_the_dtype():
    wide = np.ones(2, np.float32)
    same, cast = promote(wide, np.array([1, 2]))
    assert same is wide
    assert cast.dtype == np.float32
    assert cast.tolist() == [1.0, 2.0]


def test_promote_keeps_symbols_and_their_class():
    class Symbols(np.ndarray):
        pass

    symbols = np.array([1, 2], dtype=object).view(Symbols)
    same, cast = promote(symbols, np.array([1.5, 2.5]))
    assert same is symbols
    assert cast.dtype == object


def test_to_float():
    assert promote_to_float(np.array([1, 2]))[0].dtype == np.float32
    assert promote_to_float(np.array([True]))[0].dtype == np.float32
    for dtype in (np.float16, np.float64, np.complex64, object):
        array = np.ones(2, dtype)
        assert promote_to_float(array)[0] is array


@pytest.fixture
def _restored_default():
    before = get_default_dtype()
    yield
    set_default_dtype(before)


@pytest.mark.usefixtures("_restored_default")
def test_default_dtype_is_what_numbers_become():
    set_default_dtype(np.float64)
    assert get_default_dtype() == np.float64
    assert result_dtype(np.array([1]), 2.5) == np.float64
    assert result_dtype(np.array([1]), 1j) == np.complex128
    assert promote_to_float(np.array([1]))[0].dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int64, np.complex64, np.bool_])
def test_default_dtype_must_be_real_floating(dtype):
    with pytest.raises(TypeError, match="only floating-point types are supported"):
        set_default_dtype(dtype)
    assert get_default_dtype() == np.float32


@pytest.mark.parametrize("dtype", ["datetime64[s]", "U3"])
def test_dtypes_that_are_not_numbers_are_refused(dtype):
    with pytest.raises(TypeError, match="not a dtype that tensors can have"):
        result_dtype(np.zeros(2, dtype), np.zeros(2))


def test_other_operands_are_refused():
    with pytest.raises(TypeError, match="expected a number or an array, not str"):
        result_dtype(np.zeros(2), "a")
    with pytest.raises(TypeError, match="without operands"):
        result_dtype()


@pytest.mark.oracle
def test_in_place_error_is_torchs(torch):
    with pytest.raises(RuntimeError) as expected:
        torch.tensor([1]).add_(torch.tensor([1.5], dtype=torch.float64))
    with pytest.raises(RuntimeError) as found:
        check_inplace_dtype(np.dtype(np.float64), np.dtype(np.int64))
    assert str(found.value) == str(expected.value)
    check_inplace_dtype(np.dtype(np.float64), np.dtype(np.float16))


def test_type_names():
    words = {"bool": "Bool", "uint8": "Byte", "int64": "Long", "complex128": "ComplexDouble"}
    assert {dtype: type_name(np.dtype(dtype)) for dtype in words} == words


@pytest.mark.parametrize(
    "other", [gs.tensor(2), gs.tensor([2, 3]), gs.tensor(2.0, dtype=gs.float64)]
)
@pytest.mark.parametrize("op", [gs.mul, gs.div, gs.pow, gs.atan2, gs.remainder, gs.hypot])
def test_a_gradient_has_the_dtype_of_its_tensor_whatever_stands_beside_it(op, other):
    x = gs.tensor([1.0, 2.5], requires_grad=True)
    for first, second in ((x, other), (other, x)):
        result = op(first, second)
        assert result.dtype == gs.float32
        (grad,) = gs.autograd.grad(result.sum(), x)
        assert grad.dtype == gs.float32
        (kept,) = gs.autograd.grad(op(first, second).sum(), x, create_graph=True)
        if kept.requires_grad:
            (second_grad,) = gs.autograd.grad(kept.sum(), x)
            assert second_grad.dtype == gs.float32


def test_gradients_of_the_elements_of_a_vector_keep_its_dtype():
    x = gs.tensor([0.5, -0.75], dtype=gs.float64, requires_grad=True)
    first, second = x.unbind()
    (first.sin() + second.sin()).backward()
    assert x.grad.dtype == gs.float64
    np.testing.assert_array_equal(x.grad.numpy(), np.cos([0.5, -0.75]))
