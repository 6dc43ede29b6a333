"""Derivatives until nothing is left, and operators that write: the same in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def until_zero(function, times):
    """Every derivative up to a high one, whether it requires grad, and the next."""

    def behaviour(lib):
        x = leaf(lib, 2.0, -0.5)
        found, y = [], function(x)
        for _ in range(times):
            (y,) = lib.autograd.grad(y.sum(), x, create_graph=True)
            found.append((y.detach(), y.requires_grad))
        return found, attempt(lambda: lib.autograd.grad(y.sum(), x, allow_unused=True))

    return behaviour


def bits_written(lib):
    x = lib.tensor([5, 6])
    same = x
    x &= 3
    x |= lib.tensor([8, 8])
    x ^= 1
    return same, same._version, x is same


def bits_by_methods(lib):
    x = lib.tensor([True, False])
    x.bitwise_and_(lib.tensor([True, True])).bitwise_or_(lib.tensor([False, True]))
    return x.bitwise_xor_(lib.tensor([True, False])), x._version


def gradient_zeroed_in_place(lib):
    x = leaf(lib, 1.0)
    optimizer = lib.optim.SGD([x], lr=0.1)
    (x * 2).backward()
    before = x.grad
    optimizer.zero_grad(set_to_none=False)
    return x.grad is before, before


BEHAVIOURS = {
    "a square": until_zero(lambda x: x**2, 3),
    "a cube": until_zero(lambda x: x**3, 4),
    "a fourth power": until_zero(lambda x: x**4, 5),
    "square": until_zero(lambda x: x.square(), 3),
    "bits written": bits_written,
    "bits by methods": bits_by_methods,
    "bits of floats": lambda lib: leaf(lib, 1.0).bitwise_not(),
    "bits of fewer dtypes": lambda lib: lib.tensor([True]).bitwise_and_(lib.tensor([3])),
    "a gradient zeroed in place": gradient_zeroed_in_place,
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)
