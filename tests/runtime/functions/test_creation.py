"""Tensors made from data and from sizes have PyTorch's values and dtypes."""

from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.tensor import Tensor, wrap
from gradspec.dtypes.promotion import get_default_dtype, set_default_dtype
from gradspec.functions import creation, progressions

DATA = [
    1,
    2.5,
    True,
    1j,
    [],
    [[]],
    [1, 2.5],
    [True, 2],
    [1, 1j],
    [[1, 2], [3, 4]],
    ((1.5,), [2]),
    range(3),
    [float("nan"), float("inf")],
    np.float64(2),
    [np.float64(2)],
    [np.float32(2), 1],
    [np.int32(2)],
    np.bool_(True),
    np.ones((2, 2)),
    np.ones(2, np.int16),
    [np.ones(2), np.zeros(2)],
]


def assert_same(ours: Tensor, theirs) -> None:
    assert ours.array.dtype.name == str(theirs.dtype).removeprefix("torch.")
    assert ours.array.shape == tuple(theirs.shape)
    np.testing.assert_allclose(ours.array, theirs.numpy(), rtol=1e-6)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")
@pytest.mark.parametrize("data", DATA, ids=repr)
@pytest.mark.parametrize("dtype", [None, "float32", "complex64"])
def test_tensor(torch, data, dtype):
    if dtype == "float32" and np.iscomplexobj(data):
        dtype = "complex128"
    theirs = torch.tensor(data, dtype=dtype and getattr(torch, dtype))
    assert_same(creation.tensor(data, dtype=dtype), theirs)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "call",
    [
        ("zeros", 2, 3),
        ("zeros", (2, 3)),
        ("zeros", ()),
        ("ones", [2]),
        ("ones", 0),
        ("full", (2,), 1),
        ("full", (2,), 1.0),
        ("full", [2], True),
        ("full", (), 1j),
        ("arange", 5),
        ("arange", 5.0),
        ("arange", 2.5),
        ("arange", 1, 5),
        ("arange", 1, 5, 2),
        ("arange", 1, 6, 2),
        ("arange", 1, 5, 2.0),
        ("arange", 0, 1, 0.3),
        ("arange", 5, 1, -2),
        ("arange", 5, 5),
        ("arange", True),
        ("linspace", 0, 1, 5),
        ("linspace", 3.0, -1.0, 1),
        ("linspace", 0, 1, 0),
        ("logspace", 0, 2, 3),
        ("logspace", 0, 3, 4, 2),
        ("eye", 2),
        ("eye", 2, 3),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [None, "float64", "int32"])
def test_filled(torch, call, dtype):
    name, *args = call
    if args[-1:] in ([1j], [0.3]):
        dtype = None  # a step of 0.3 is none in integers, and 1j is no real number
    theirs = getattr(torch, name)(*args, dtype=dtype and getattr(torch, dtype))
    module = progressions if hasattr(progressions, name) else creation
    assert_same(getattr(module, name)(*args, dtype=dtype), theirs)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["linspace", "logspace"])
@pytest.mark.parametrize("ends", [(0, 1 + 2j), (1j, 1), (-1j, 2 - 1j)], ids=str)
def test_rows_of_complex_numbers(torch, name, ends):
    theirs = getattr(torch, name)(*ends, 4)
    ours = getattr(progressions, name)(*ends, 4)
    assert_same(ours, theirs)
    assert_same(getattr(progressions, name)(*map(creation.tensor, ends), 4), theirs)


def test_bounds_by_name():
    assert progressions.arange(end=3).tolist() == [0, 1, 2]
    assert progressions.arange(start=1, end=4, step=2).tolist() == [1, 3]


def test_as_tensor_casts_and_gradients_flow_back():
    x = creation.tensor([1.0, 2.0], requires_grad=True)
    cast = creation.as_tensor(x, dtype=np.float64)
    assert cast.dtype == np.float64
    (cast * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    array = np.ones(2, np.float32)
    assert creation.as_tensor(array, dtype=np.float64).dtype == np.float64
    assert creation.as_tensor(array, dtype=np.float32).array is array


def test_numbers_without_an_imaginary_part_are_real():
    assert creation.full((2,), 1 + 0j, dtype=np.float32).tolist() == [1, 1]
    assert creation.zeros(2).fill_(2 + 0j).tolist() == [2, 2]


class Counted:
    """Object that counts its elements from 0, without saying that it is a sequence."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, position):
        return self.items[position]


def test_sequences_that_do_not_say_so():
    assert creation.tensor(Counted([1.0, 2.0])).tolist() == [1, 2]
    assert creation.tensor([Counted([1]), Counted([2])]).tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="could not determine the shape of object type 'Counted'"):
        creation.tensor(Counted({"a": 1}))


def test_dimensions_in_an_order_in_memory():
    made = creation.empty_permuted((2, 3, 4), (2, 0, 1), dtype=np.float64)
    assert made.shape == (2, 3, 4)
    assert made.stride() == (3, 1, 6)
    made = creation.zeros(2).new_empty_strided((2, 3), (1, 2), dtype=np.int32)
    assert made.shape == (2, 3)
    assert made.stride() == (1, 2)
    assert made.dtype == np.int32
    with pytest.raises(RuntimeError, match=r"sizes \(2\) must match .* strides \(1\)"):
        creation.zeros(2).new_empty_strided((2, 3), (1,))


@pytest.mark.oracle
@pytest.mark.parametrize("source", ["float32", "int64", "bool", "complex128"])
@pytest.mark.parametrize("dtype", [None, "float64"])
def test_like(torch, source, dtype):
    array = np.ones((2, 3), source)
    theirs = {"dtype": dtype and getattr(torch, dtype)}
    for name, args in [("zeros_like", ()), ("ones_like", ()), ("full_like", (1,))]:
        expected = getattr(torch, name)(torch.from_numpy(array), *args, **theirs)
        assert_same(getattr(creation, name)(wrap(array), *args, dtype=dtype), expected)
    assert creation.empty_like(wrap(array), dtype=dtype).array.dtype == (dtype or source)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "data",
    [
        [[1, 2], [3]],
        [[1], [2, 3]],
        [[[1]], [[1, 2]]],
        "a",
        np.array(["a"]),
        [wrap(np.ones(2)), wrap(np.ones(2))],
    ],
    ids=repr,
)
def test_wrong_data(torch, data):
    theirs = [torch.ones(2)] * 2 if isinstance(data, list) and isinstance(data[0], Tensor) else data
    with pytest.raises((TypeError, ValueError)) as expected:
        torch.tensor(theirs)
    with pytest.raises(expected.type) as found:
        creation.tensor(data)
    assert str(expected.value).split(" (got")[0].split("'str'")[0].removeprefix("new(): ")[:20] in (
        str(found.value)
    )


@pytest.mark.parametrize("data", [None, [None], {1}, {}, pytest.param(object(), id="object")])
def test_what_is_not_made_of_numbers(data):
    with pytest.raises(RuntimeError, match="Could not infer dtype of"):
        creation.tensor(data)


@pytest.mark.parametrize(("data", "error"), [("a", TypeError), (["a"], ValueError)])
def test_what_is_made_of_text(data, error):
    with pytest.raises(error, match="'str': a tensor is made of numbers"):
        creation.tensor(data)


@pytest.mark.parametrize("data", [[[1], 2], [2, [1]], [[1, [2]], [3, 4]]], ids=repr)
def test_sequences_of_different_depths(data):
    with pytest.raises(TypeError, match="different depths"):
        creation.tensor(data)


def test_values_that_do_not_fit():
    with pytest.raises(RuntimeError, match="without overflow"):
        creation.tensor(300, dtype="uint8")
    with pytest.raises(ValueError, match="Overflow when unpacking"):
        creation.tensor(2**70)


def test_tensors_in_lists():
    made = creation.tensor([wrap(np.array(1.0)), 2])
    assert made.array.tolist() == [1, 2]
    assert made.dtype == np.float64


def test_tensor_copies_as_tensor_and_from_numpy_share():
    array = np.ones(3)
    assert not np.shares_memory(creation.tensor(array).array, array)
    assert creation.from_numpy(array).array is array
    assert creation.as_tensor(array).array is array
    assert creation.as_tensor(array, dtype=np.float32).array.dtype == np.float32
    narrow = creation.as_tensor(array, dtype=np.float32)
    for given in (narrow, narrow.array, [1.0, 2.0]):
        assert creation.as_tensor(given, dtype=np.float64).array.dtype == np.float64
    shared = wrap(array)
    assert creation.as_tensor(shared) is shared
    assert creation.as_tensor([1, 2]).dtype == np.int64
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        assert not np.shares_memory(creation.tensor(shared).array, array)


def test_bytes_are_brought_to_native_order():
    assert creation.tensor(np.ones(2, ">f4")).array.dtype == np.dtype("=f4")
    assert creation.tensor(np.ones(2, ">f4")).array.dtype.isnative


@pytest.mark.parametrize("value", [[1], "a", wrap(np.ones(1))], ids=repr)
def test_from_numpy_takes_arrays_only(value):
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got"):
        creation.from_numpy(value)


def test_from_numpy_refuses_strings():
    with pytest.raises(TypeError, match="can't convert"):
        creation.from_numpy(np.array(["a"]))


def test_requires_grad():
    for made in (
        creation.tensor([1.0], requires_grad=True),
        creation.zeros(2, requires_grad=True),
        progressions.arange(3.0, requires_grad=True),
        creation.ones_like(wrap(np.ones(2)), requires_grad=True),
    ):
        assert made.requires_grad
        assert made.is_leaf
    with pytest.raises(RuntimeError, match="floating point and complex dtype"):
        creation.tensor([1], requires_grad=True)


@pytest.fixture
def _double_by_default():
    before = get_default_dtype()
    set_default_dtype(np.float64)
    yield
    set_default_dtype(before)


@pytest.mark.usefixtures("_double_by_default")
def test_default_dtype():
    assert creation.tensor([1.5]).dtype == np.float64
    assert creation.tensor(1j).dtype == np.complex128
    assert creation.zeros(2).dtype == np.float64
    assert progressions.arange(2.0).dtype == np.float64
    assert creation.full((2,), 1.5).dtype == np.float64


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: creation.zeros(), TypeError, "missing 1 required"),
        (lambda: creation.zeros("a"), TypeError, "must be tuple of ints, not str"),
        (lambda: creation.zeros(2.5), TypeError, "must be tuple of ints, not float"),
        (lambda: creation.zeros(-1), RuntimeError, "non-negative"),
        (lambda: creation.zeros(2, sise=3), TypeError, "keyword argument 'sise'"),
        (lambda: creation.zeros(2, size=3), TypeError, "keyword argument 'size'"),
        (lambda: creation.full(2, 3.0), TypeError, "'size'.*must be tuple of ints, not int"),
        (lambda: creation.full((2,), "a"), TypeError, "'fill_value'.*must be Number, not str"),
        (lambda: creation.zeros_like([1]), TypeError, "must be Tensor, not list"),
        (lambda: progressions.arange(1, 5, 0), RuntimeError, "step must be nonzero"),
        (lambda: progressions.arange(5, 1), RuntimeError, "inconsistent with step sign"),
        (lambda: progressions.linspace(0, 1, -1), RuntimeError, "steps must be non-negative"),
        (lambda: creation.eye(-1), RuntimeError, "greater or equal to 0"),
    ],
)
def test_wrong_calls(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_size_by_name():
    assert creation.zeros(size=(2, 3)).shape == (2, 3)
    assert creation.empty(2, wrap(np.array(3))).shape == (2, 3)


def test_empty_permuted() -> None:
    made = gs.empty_permuted((2, 3, 4), (2, 0, 1), dtype=gs.float64)
    assert (made.shape, made.stride(), made.dtype) == ((2, 3, 4), (3, 1, 6), gs.float64)
    assert gs.empty_permuted((), ()).shape == ()
    for layout, match in (
        ((0,), "does not match the length of the physical_layout"),
        ((0, 2), "Dimension out of range"),
        ((0, -1), "Dimension out of range"),
        ((0, 0), "Duplicate dim"),
    ):
        with pytest.raises(RuntimeError, match=match):
            gs.empty_permuted((2, 3), layout)


def test_memory_of_a_file(tmp_path: Path) -> None:
    name = str(tmp_path / "numbers")
    with pytest.raises(RuntimeError, match="unable to open file"):
        gs.from_file(name, size=2)
    shared = gs.from_file(name, True, 2, dtype=gs.int32)
    assert shared.tolist() == [0, 0]
    shared[1] = 7
    private = gs.from_file(name, size=2, dtype=gs.int32, requires_grad=False)
    assert private.tolist() == [0, 7]
    private[0] = 5
    assert Path(name).read_bytes() == np.array([0, 7], np.int32).tobytes()
    assert shared.tolist() == [0, 7]
    with pytest.raises(RuntimeError, match="smaller than the required mapping size"):
        gs.from_file(name, size=3, dtype=gs.int32)
    assert gs.from_file(name, shared=True, size=3, dtype=gs.int32).tolist() == [0, 7, 0]
    assert gs.from_file(name).shape == (0,)
    with pytest.raises(RuntimeError, match="negative"):
        gs.from_file(name, size=-1)


@pytest.mark.parametrize(
    ("bounds", "dtype", "values"),
    [
        ((2.5,), "int64", [0, 1]),
        ((2.5,), "int32", [0, 1, 2]),
        ((0.5, 3), "int64", [0, 1, 2]),
        ((-0.5, 2.5), "int64", [0, 1]),
        ((-0.5, 2.5), "int32", [0, 1, 2]),
        ((5, 0, -1.7), "int64", [5, 4, 3, 2, 1]),
        ((5, 0, -1.7), "int32", [5, 4, 3]),
        ((2.5,), "float16", [0, 1, 2]),
    ],
)
def test_arange_truncates_bounds_as_pytorch_does(bounds, dtype, values) -> None:
    made = gs.arange(*bounds, dtype=getattr(gs, dtype))
    assert (made.tolist(), str(made.dtype)) == (values, dtype)


def test_arange_refuses() -> None:
    for bounds in ((float("nan"),), (float("inf"),)):
        with pytest.raises(RuntimeError, match="unsupported range"):
            gs.arange(*bounds)
    with pytest.raises(RuntimeError, match="cannot be converted to type double"):
        gs.arange(1j)
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        gs.arange(0, 3, 0.5, dtype=gs.int64)
    for dtype in (gs.bool, gs.complex64):
        with pytest.raises(NotImplementedError, match="arange"):
            gs.arange(2, dtype=dtype)


def test_complex_numbers_are_no_elements_of_real_tensors() -> None:
    x, mask, places = gs.zeros(2), gs.tensor([True, False]), gs.tensor([0])
    for store in (
        lambda: x.masked_fill(mask, 1j),
        lambda: x.clone().fill_(1j),
        lambda: gs.full_like(x, 1j),
        lambda: x.new_full((2,), 1j),
        lambda: x.scatter(0, places, 1j),
        lambda: gs.zeros(2, dtype=gs.int64).fill_(1j),
    ):
        with pytest.raises(RuntimeError, match="value cannot be converted to type"):
            store()
    assert gs.full_like(x, 2 + 0j).tolist() == [2, 2]
    assert x.masked_fill(mask, 2 + 0j).tolist() == [2, 0]


def test_exponents_of_whole_numbers_are_whole() -> None:
    """PyTorch's values: 1.7 counts as 1, but not where it is the only one."""
    assert gs.logspace(0, 1.7, 2, dtype=gs.int64).tolist() == [1, 10]
    assert gs.logspace(1.7, 3, 1, dtype=gs.int64).tolist() == [50]
