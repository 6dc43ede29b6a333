"""Tensors on memory of files, capsules, arrays and other tensors."""

import numpy as np
import pytest

import gradspec as gs


def test_a_shared_file_is_written_to(tmp_path):
    path = tmp_path / "numbers"
    np.arange(4, dtype=np.float32).tofile(path)
    x = gs.from_file(str(path), shared=True, size=3)
    assert x.tolist() == [0, 1, 2]
    assert x.untyped_storage().filename == str(path)
    x[0] = 7
    del x
    assert np.fromfile(path, np.float32).tolist() == [7, 1, 2, 3]
    assert gs.from_file(str(path), True, 5).tolist() == [7, 1, 2, 3, 0]
    assert path.stat().st_size == 20


def test_a_file_that_is_not_shared_stays_as_it_is(tmp_path):
    path = tmp_path / "numbers"
    np.arange(4, dtype=np.int64).tofile(path)
    x = gs.from_file(str(path), size=4, dtype=gs.int64)
    x.add_(1)
    assert x.tolist() == [1, 2, 3, 4]
    assert np.fromfile(path, np.int64).tolist() == [0, 1, 2, 3]
    assert x.untyped_storage().filename is None
    with pytest.raises(RuntimeError, match="smaller than the required mapping size"):
        gs.from_file(str(path), size=5, dtype=gs.int64)


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_a_capsule_is_taken_over():
    x = gs.tensor([1.0, 2.0])
    y = gs.from_dlpack(gs.to_dlpack(x))
    x[0] = 5
    assert y.tolist() == [5, 2]
    assert gs.asarray(np.arange(3).__dlpack__()).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="not int"):
        gs.from_dlpack(3)


def test_asarray_keeps_the_history():
    x = gs.ones(2, requires_grad=True)
    y = x * 2
    assert gs.asarray(y, requires_grad=True) is y
    copied = gs.asarray(x, copy=True, requires_grad=True)
    copied.sum().backward()
    assert x.grad.tolist() == [1, 1]
    assert not gs.asarray(y, requires_grad=False).requires_grad


def test_asarray_of_a_leaf_changes_the_leaf():
    x = gs.ones(2, requires_grad=True)
    assert gs.asarray(x, requires_grad=False) is x
    assert not x.requires_grad
    assert gs.asarray(x, requires_grad=True) is x
    assert x.requires_grad
