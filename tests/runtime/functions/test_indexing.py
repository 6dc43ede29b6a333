"""Indexing means what it means in PyTorch, for reading, for gradients and for writing."""

import numpy as np
import pytest

from gradspec.core.modes import no_grad
from gradspec.core.tensor import wrap
from gradspec.functions.indexing import getitem, plan_index, setitem

VALUES = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

INDICES = [
    slice(None),
    ...,
    None,
    (),
    0,
    -1,
    slice(0, 1),
    slice(10, None),
    slice(-10, 1),
    slice(2, 1),
    slice(None, None, 2),
    (slice(None), 0),
    (slice(None), slice(0, 9)),
    (..., 0),
    (0, ..., None),
    (slice(0, 1), None, ..., 2),
    (slice(None), None, 0),
    (0, 1),
    (1, 2, 3),
    True,
    False,
    [0, 1],
    [],
    [True, False],
    range(2),
    np.array([1, 0, 1]),
    np.int64(1),
    (slice(None), [0, 2]),
    (0, [0, 1]),
    (0, slice(None), [0, 1]),
    ([0, 1], slice(None), [0, 1]),
    (slice(None), [0, 1], [0, 1]),
    ([[0], [1]], [[0, 2]]),
    ([0, 1], None),
    (None, [0, 1]),
    ([0, 1], True),
    (..., [3, 3]),
    (slice(None), [True, False, True]),
    VALUES > 7,
    VALUES[:, :, 0] > 7,
    (slice(None), VALUES[0] > 7),
]

WRONG = [
    5,
    -3,
    (0, 0, 0, 0),
    (slice(0, 0), 5),
    [5],
    np.ones(5, bool),
    VALUES[0] > 7,
    ([0, 1], [0, 1, 2]),
    1.5,
    np.array([0.5]),
    slice(None, None, -1),
    slice(None, None, 0),
    slice(0, 1.5),
]


def for_torch(torch, index):
    """The index with tensors for arrays: PyTorch takes no bool arrays."""
    if isinstance(index, tuple):
        return tuple(for_torch(torch, item) for item in index)
    return torch.from_numpy(index) if isinstance(index, np.ndarray) else index


@pytest.mark.oracle
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_values_are_torchs(torch, index):
    theirs = torch.from_numpy(VALUES)[for_torch(torch, index)]
    ours = getitem(wrap(VALUES), index)
    assert ours.array.shape == tuple(theirs.shape)
    np.testing.assert_array_equal(ours.array, theirs.numpy())


@pytest.mark.oracle
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_gradients_and_nodes_are_torchs(torch, index):
    theirs = torch.from_numpy(VALUES.copy()).requires_grad_()
    part = theirs[for_torch(torch, index)]
    cotangent = np.arange(1, part.numel() + 1, dtype=np.float32).reshape(tuple(part.shape))
    part.backward(torch.from_numpy(cotangent))
    ours = wrap(VALUES.copy()).requires_grad_()
    our_part = getitem(ours, index)
    our_part.backward(wrap(cotangent))
    assert ours.grad is not None
    np.testing.assert_array_equal(ours.grad.array, theirs.grad.numpy())
    assert names(our_part.grad_fn) == names(part.grad_fn)


def names(node) -> list[str]:
    """The nodes from a result back to its leaf."""
    found = []
    while node.next_functions:
        found.append(node.name())
        node = node.next_functions[0][0]
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("index", WRONG, ids=repr)
def test_errors_are_of_torchs_type(torch, index):
    with pytest.raises(Exception, match=r".") as expected:
        torch.from_numpy(VALUES)[for_torch(torch, index)]
    with pytest.raises(expected.type):
        getitem(wrap(VALUES), index)


@pytest.mark.oracle
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_writing_is_torchs(torch, index):
    theirs, ours = torch.from_numpy(VALUES.copy()), wrap(VALUES.copy())
    written = -np.arange(theirs[for_torch(torch, index)].numel(), dtype=np.float32)
    written = written.reshape(tuple(theirs[for_torch(torch, index)].shape))
    theirs[for_torch(torch, index)] = torch.from_numpy(written)
    setitem(ours, index, wrap(written))
    np.testing.assert_array_equal(ours.array, theirs.numpy())


def test_a_basic_index_is_a_view():
    base = wrap(VALUES.copy())
    view = getitem(base, (0, slice(1, 3), None))
    assert np.shares_memory(view.array, base.array)
    setitem(view, (0, 0, 0), 100.0)
    assert base.array[0, 1, 0] == 100
    assert base._version == view._version == 1


def test_a_gather_is_a_copy():
    base = wrap(VALUES.copy())
    assert not np.shares_memory(getitem(base, [0]).array, base.array)


@pytest.mark.parametrize("index", [wrap(np.array(1)), wrap(np.array([0, 1]))])
def test_tensors_as_indices(index):
    np.testing.assert_array_equal(getitem(wrap(VALUES), index).array, VALUES[index.array])


def test_a_list_of_tensors_is_a_tuple_of_indices():
    with pytest.warns(UserWarning, match="an index for each dimension"):
        found = getitem(wrap(VALUES), [wrap(np.array(1)), wrap(np.array([0, 1]))])
    np.testing.assert_array_equal(found.array, VALUES[1, [0, 1]])


def test_zero_dim():
    scalar = wrap(np.array(2.0))
    assert getitem(scalar, ...).array == 2
    assert getitem(scalar, None).array.shape == (1,)
    assert getitem(scalar, wrap(np.array(True))).array.shape == (1,)
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        getitem(scalar, 0)


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ((0, -4), IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        ("a", TypeError, "invalid data type 'str'"),
        ({1}, IndexError, r"valid indices \(got set\)"),
        (np.array([0.5]), IndexError, "must be long, int, byte or bool tensors"),
        (np.ones((2, 4), bool), IndexError, r"shape of the mask \[2, 4\] at index 1"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
    ],
)
def test_messages(index, error, words):
    with pytest.raises(error, match=words):
        plan_index(index, VALUES.shape)


def test_leading_ones_of_a_value_are_dropped():
    ours = wrap(VALUES.copy())
    setitem(ours, (0, 0), wrap(np.full((1, 1, 4), 7, np.float32)))
    assert ours.array[0, 0].tolist() == [7, 7, 7, 7]


@pytest.mark.filterwarnings("ignore:Casting complex values to real:UserWarning")
def test_values_are_cast_to_the_dtype():
    ours = wrap(np.zeros(3, np.int64))
    setitem(ours, 0, 1.7)
    setitem(ours, 1, wrap(np.array(2.7)))
    setitem(ours, 2, wrap(np.array(3 + 4j)))
    assert ours.array.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ("a", TypeError, "can't assign a str"),
        ([1, 2], TypeError, "can't assign a list"),
        (1j, RuntimeError, "cannot be converted to type float without"),
        (wrap(np.ones(7)), RuntimeError, r"setitem\(\[2, 3, 4\] float32, \[7\] float64\)"),
    ],
)
def test_values_that_cannot_be_written(value, error, words):
    ours = wrap(VALUES.copy())
    with pytest.raises(error, match=words):
        setitem(ours, 0, value)
    np.testing.assert_array_equal(ours.array, VALUES)
    assert ours._version == 0


def test_a_write_into_a_leaf_that_requires_grad_is_refused():
    leaf = wrap(VALUES.copy()).requires_grad_()
    with pytest.raises(RuntimeError, match=r"view of a leaf .* in-place operation"):
        setitem(leaf, 0, 1.0)
    with no_grad():
        setitem(leaf, 0, 1.0)
    assert leaf.array[0].tolist() == np.ones((3, 4)).tolist()


def test_a_strided_tensor_is_not_written_to_itself_by_an_index():
    x = wrap(np.arange(6.0).reshape(2, 3))[..., 0]
    with pytest.raises(RuntimeError, match="single memory location"):
        x[wrap(np.array([0, 1]))] = x


@pytest.mark.parametrize(
    ("index", "shape", "words"),
    [
        (slice(None), (5,), r"expanded size .* \(4\) must match the existing size \(5\) .* 2\."),
        ((slice(0, 1),), (2, 3, 4), r"\(1\) must match the existing size \(2\) .*dimension 0"),
        (0, (2, 3, 4), r"number of sizes provided \(2\) .* dimensions in the tensor \(3\)"),
        ([0, 1], (3,), r"value tensor of shape \[3\] cannot .* result of shape \[2, 3, 4\]"),
        (VALUES > 0, (3,), r"value tensor of shape \[3\] cannot .* result of shape \[23\]"),
    ],
)
def test_the_shape_that_cannot_be_written_is_named(index, shape, words):
    with pytest.raises(RuntimeError, match=words):
        setitem(wrap(VALUES.copy()), index, wrap(np.ones(shape, np.float32)))


def test_a_flag_writes_everything_or_nothing():
    x = wrap(np.zeros(2))
    x[True] = wrap(np.array([3, 4]))  # of another dtype, which a mask refuses
    assert x.tolist() == [3.0, 4.0]
    x[False] = wrap(np.ones(5))
    assert x.tolist() == [3.0, 4.0]
