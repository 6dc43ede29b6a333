"""`flip` and `adjoint` in every form of their arguments: as in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:.*adjoint")]


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x: x.flip(0, 1),
        lambda lib, x: x.flip(-1, 0),
        lambda lib, x: x.flip(2),
        lambda lib, x: x.flip((0, 1)),
        lambda lib, x: x.flip([2]),
        lambda lib, x: x.flip(dims=(0,)),
        lambda lib, x: x.flip(()),
        lambda lib, x: lib.flip(x, (0, 1)),
        lambda lib, x: lib.flip(x, []),
        lambda lib, x: lib.flip(x, dims=[1]),
        lambda lib, x: lib.flip(x, 0, 1),
        lambda lib, x: x.flip(0, 0),
        lambda lib, x: x.flip(5),
        lambda lib, x: x.flip(0, 1.0),
    ],
)
def test_dimensions_of_flip(torch, call):
    assert_same(lambda lib: call(lib, lib.arange(8.0).reshape(2, 2, 2).requires_grad_()), torch)


@pytest.mark.parametrize("value", [1.5, 1 + 2j])
@pytest.mark.parametrize("shape", [(), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize(
    "turned", [lambda lib, x: x.adjoint(), lambda lib, x: lib.adjoint(x), lambda lib, x: x.mH]
)
def test_adjoint(torch, turned, shape, value):
    def behaviour(lib):
        x = lib.full(shape, value, requires_grad=True)
        y = turned(lib, x)
        (gradient,) = lib.autograd.grad(y, x, lib.full(y.shape, 1j if y.is_complex() else 1.0))
        return y.detach(), y is x, gradient

    assert_same(behaviour, torch)
