"""Questions about tensors that are answered by a bool or a number."""

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, attempt


@pytest.mark.oracle
def test_the_answers_are_those_of_pytorch(torch):
    def behaviour(lib):
        a, b = lib.tensor([1.0, 2.0]), lib.tensor([1, 2])
        return [
            *(lib.is_tensor(a), lib.is_tensor(1.0), lib.numel(a)),
            *(lib.is_complex(a), lib.is_complex(a + 1j), lib.is_floating_point(a)),
            *(lib.equal(a, b), lib.equal(a, lib.ones(3)), a.equal(a), a.equal(a + 1)),
            *(lib.allclose(a, a + 1e-7), a.allclose(a + 1), lib.allclose(b, b)),
            *(lib.allclose(a * float("nan"), a), lib.allclose(a / 0, a / 0)),
            attempt(lambda: lib.allclose(a, a.double())),
            attempt(lambda: lib.allclose(a, lib.ones(3))),
        ]

    assert_same(behaviour, torch)


def test_copying_a_number():
    x = gs.zeros(2)
    assert x.copy_(1.5).tolist() == [1.5, 1.5]
    assert gs.zeros(2, dtype=gs.int64).copy_(True).tolist() == [1, 1]


@pytest.mark.parametrize("make", [lambda: gs.ones(2, 2), lambda: gs.ones(3, 2, 2)[0]])
def test_every_attribute_that_is_listed_is_there(make):
    tensor = make()
    # Real numbers have no imaginary part, and what has a shape is not given one; both say so.
    listed = set(dir(tensor)) - {"imag", "materialize"}
    assert [name for name in listed if not hasattr(tensor, name)] == []
    assert {"shape", "grad", "sum", "array"} <= listed
