"""Writes to the parts of complex tensors, and to pairs seen as complex: the same in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def numbers(lib, grad=True):
    return lib.tensor([[1 + 2j, 3 - 1j], [2j, -1 + 1j]]).requires_grad_(grad)


def gradient_after(lib, write):
    """The history and gradient of a tensor whose part `write` has modified."""
    z = numbers(lib)
    w = z * 1
    part = write(w)
    w.abs().sum().backward()
    return w, part.detach(), z.grad, w._version, part._version


def pairs_times_two(lib):
    return gradient_after(lib, lambda w: lib.view_as_real(w).mul_(2))


def real_part_times_three(lib):
    return gradient_after(lib, lambda w: w.real.mul_(3))


def imaginary_part_plus_three(lib):
    return gradient_after(lib, lambda w: w.imag.add_(3))


def real_part_zeroed(lib):
    return gradient_after(lib, lambda w: w.real.zero_())


def element_of_real_part_assigned(lib):
    def write(w):
        w.real[0, 1] = 7.0
        return w.real

    return gradient_after(lib, write)


def part_of_a_transposed_view(lib):
    return gradient_after(lib, lambda w: w.t()[1].imag.mul_(4))


def parts_copied_from_a_leaf(lib):
    z = lib.zeros(2, dtype=lib.complex128)
    x = leaf(lib, 1.0, 2.0)
    z.real.copy_(x)
    z.imag.copy_(x * 2)
    z.abs().sum().backward()
    return z, x.grad


def pairs_as_complex_times_i(lib):
    x = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = x * 1
    z = lib.view_as_complex(w)
    z.mul_(2j)
    (w * w).sum().backward()
    return w, z.detach(), x.grad


def real_part_after_a_write_to_the_whole(lib):
    z = numbers(lib)
    w = z * 1
    part = w.real
    w.mul_(2j)
    part.sum().backward()
    return part, z.grad


def second_gradient_through_a_real_part(lib):
    z = numbers(lib)
    w = z * z
    w.real.mul_(3)
    (first,) = lib.autograd.grad((w * w).abs().sum(), z, create_graph=True)
    return first.detach(), lib.autograd.grad(first.abs().sum(), z)


def second_gradient_through_pairs_as_complex(lib):
    x = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = x * x
    lib.view_as_complex(w).mul_(2j)
    (first,) = lib.autograd.grad((w * w).sum(), x, create_graph=True)
    return first.detach(), lib.autograd.grad(first.sum(), x)


def parts_of_a_leaf(lib):
    z = numbers(lib)
    return attempt(lambda: z.real.mul_(2)), attempt(lambda: lib.view_as_real(z).mul_(2))


BEHAVIOURS = [
    pairs_times_two,
    real_part_times_three,
    imaginary_part_plus_three,
    real_part_zeroed,
    element_of_real_part_assigned,
    part_of_a_transposed_view,
    parts_copied_from_a_leaf,
    pairs_as_complex_times_i,
    real_part_after_a_write_to_the_whole,
    second_gradient_through_a_real_part,
    second_gradient_through_pairs_as_complex,
    parts_of_a_leaf,
]


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda function: function.__name__)
def test_behaviour(torch, behaviour):
    assert_same(behaviour, torch)
