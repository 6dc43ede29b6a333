"""Complex tensors: PyTorch's convention for gradients, and refusals instead of wrong numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import gradcheck, gradgradcheck

Z = np.array([1 + 2j, -0.5 + 0.25j])


def leaf(array: Any) -> gs.Tensor:
    return gs.tensor(array, requires_grad=True)


def test_the_gradient_is_that_by_the_parts() -> None:
    """L = |z|^2 = a^2 + b^2, so dL/da + i dL/db = 2a + 2bi."""
    z = leaf(Z)
    (z * z.conj()).real.sum().backward()
    assert z.grad is not None
    np.testing.assert_allclose(z.grad.array, 2 * Z)


def test_a_holomorphic_function_gives_the_conjugate_of_its_derivative() -> None:
    z = leaf(Z)
    (z * z).backward(gs.tensor(np.ones(2) + 0j))
    assert z.grad is not None
    np.testing.assert_allclose(z.grad.array, 2 * Z.conj())


def test_a_real_operand_of_a_complex_product_has_a_real_gradient() -> None:
    x = leaf(np.array([2.0, 3.0]))
    (x * gs.tensor(Z)).imag.sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == np.float64
    np.testing.assert_allclose(x.grad.array, Z.imag)


def test_parts_are_views_and_real_tensors_are_their_own() -> None:
    z = gs.tensor(Z)
    assert np.shares_memory(z.real.array, z.array)
    assert np.shares_memory(z.imag.array, z.array)
    x = gs.tensor([1.0])
    assert x.conj() is x
    assert x.real is x
    with pytest.raises(RuntimeError, match="imag"):
        _ = x.imag


@pytest.mark.parametrize(
    "function",
    [
        lambda z: gs.logaddexp(z, z),
        lambda z: gs.maximum(z, z),
        lambda z: gs.relu(z),
        lambda z: gs.softmax(z, 0),
    ],
)
def test_an_op_for_real_numbers_refuses_complex_ones(function: Any) -> None:
    with pytest.raises(RuntimeError, match="complex"):
        function(leaf(Z))


def test_a_real_tensor_among_complex_ones_is_refused_too() -> None:
    with pytest.raises(RuntimeError, match="complex"):
        gs.logaddexp(leaf(np.array([1.0, 2.0])), gs.tensor(Z))


def test_a_complex_factor_needs_complex_tensors() -> None:
    with pytest.raises(RuntimeError, match="alpha must not be a complex number"):
        gs.add(leaf(np.array([1.0])), gs.tensor(np.array([1.0])), alpha=2j)


@pytest.mark.parametrize(
    "function",
    [
        lambda z: z.abs() * z.angle(),
        lambda z: gs.sgn(z) / (2 + z.tanh()),
        lambda z: (z.reshape(2, 1) @ z.conj().reshape(1, 2)).exp().sum(0),
        lambda z: gs.view_as_real(z.sqrt()).prod(),
    ],
)
def test_compositions_against_differences(function: Any) -> None:
    assert gradcheck(function, (leaf(Z),), check_forward_ad=True)
    assert gradgradcheck(function, (leaf(Z),))


@pytest.mark.parametrize(
    "op",
    [
        lambda z: z < z,
        lambda z: z.max(),
        lambda z: z.max(0),
        lambda z: gs.maximum(z, z),
        lambda z: z.clamp(0, 1),
        lambda z: z.sort(),
        lambda z: z.sign(),
        lambda z: z.relu(),
        lambda z: gs.nn.functional.mse_loss(z, z),
        lambda z: gs.special.erf(z),
    ],
)
def test_what_is_not_defined_for_complex_numbers_is_refused(op):
    with pytest.raises(RuntimeError, match="not defined for complex numbers"):
        op(gs.tensor([1 + 2j, 2 - 1j]))


def test_a_refusal_names_the_op_and_the_dtype():
    z = gs.tensor([1 + 2j, 2 - 1j])
    with pytest.raises(NotImplementedError, match="\"erf\" not implemented for 'ComplexFloat'"):
        gs.erf(z)
    with pytest.raises(RuntimeError, match="sort does not support complex inputs"):
        gs.sort(z)
