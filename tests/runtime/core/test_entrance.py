"""Arrays that become tensors: which are accepted, by which function, as what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

SUBCLASSES: dict[str, np.ndarray[Any, Any]] = {
    "matrix": np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix),
    "masked array": np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=np.eye(2)),
    "array of a user": np.array([[1.0, 2.0], [3.0, 4.0]]).view(type("Mine", (np.ndarray,), {})),
}
DOORS: dict[str, Callable[[Any], Any]] = {
    "tensor": gs.tensor,
    "from_numpy": gs.from_numpy,
    "as_tensor": gs.as_tensor,
    "new_tensor": lambda a: gs.ones(1).new_tensor(a),
    "list": lambda a: gs.tensor([a, a])[0],
    "sum": lambda a: gs.zeros(2, 2) + a,
    "sum from the right": lambda a: a + gs.zeros(2, 2),
    "function": lambda a: gs.add(gs.zeros(2, 2), a),
    "stack": lambda a: gs.stack([gs.zeros(2, 2).double(), a])[1],
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", SUBCLASSES)
def test_of_a_subclass_the_plain_array_counts(kind: str, door: str) -> None:
    found = DOORS[door](SUBCLASSES[kind])
    assert type(found.array) is np.ndarray
    assert (found * found).tolist() == [[1, 4], [9, 16]]


REFUSED: dict[str, Any] = {
    "extended": np.ones((2, 2), np.longdouble),
    "extended complex": np.ones((2, 2), np.clongdouble),
    "record": np.zeros((2, 2), "f4,f4"),
    "recarray": np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "objects": np.array([[1.0, 2.0]], dtype=object),
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "spans of time": np.ones(2, "m8[D]"),
    "strings": np.array(["a"]),
    "bytes": np.array([b"a"]),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", REFUSED)
def test_dtypes_that_tensors_do_not_have(kind: str, door: str) -> None:
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type numpy\.|ufunc"):
        DOORS[door](REFUSED[kind])


@pytest.mark.parametrize("kind", REFUSED)
def test_a_tensor_of_the_dtype_is_not_made_either(kind: str) -> None:
    for make in (gs.zeros, gs.ones, gs.empty, gs.eye, gs.ones(1).new_zeros, gs.rand):
        with pytest.raises((TypeError, NotImplementedError)):
            make(2, dtype=REFUSED[kind].dtype)
    with pytest.raises(TypeError):
        gs.ones(2).to(REFUSED[kind].dtype)
    with pytest.raises(TypeError):
        gs.ones(2).sum(dtype=REFUSED[kind].dtype)


def test_bytes_in_foreign_order() -> None:
    foreign = np.array([1.0, 2.0]).astype(np.dtype("f8").newbyteorder())
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        gs.from_numpy(foreign)
    x = gs.tensor([3.0, 4.0], dtype=gs.float64, requires_grad=True)
    for found in (gs.tensor(foreign), gs.as_tensor(foreign), x.detach() * 0 + foreign):
        assert found.dtype == np.float64
        assert found.array.dtype.isnative
        assert found.tolist() == [1, 2]
    (x * foreign).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 2]


def test_elements_that_lie_apart_by_parts_of_an_element() -> None:
    packed = np.zeros(3, dtype=[("a", "i1"), ("b", "f8")])["b"]
    with pytest.raises(ValueError, match="strides not a multiple of the element byte size"):
        gs.from_numpy(packed)
    assert gs.tensor(packed).stride() == (gs.ones(3) + packed).stride() == (1,)


def test_a_field_and_a_reversed_array_are_taken_as_they_lie() -> None:
    field = np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i8"), ("b", "f8")])["b"]
    assert gs.from_numpy(field).stride() == (2,)
    assert gs.from_numpy(field[::-1]).tolist() == [4, 2]


def test_extended_numbers_count_as_python_numbers() -> None:
    assert (gs.ones(2) * np.longdouble(2)).dtype == gs.float32
    assert gs.full((2,), np.longdouble(2)).dtype == gs.float32
    assert (gs.ones(2) + np.clongdouble(1j)).dtype == gs.complex64


@pytest.mark.oracle
@pytest.mark.parametrize("kind", REFUSED)
def test_pytorch_refuses_the_same(torch: Any, kind: str) -> None:
    for make in (torch.tensor, torch.from_numpy, torch.as_tensor):
        with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type numpy\."):
            make(REFUSED[kind])
