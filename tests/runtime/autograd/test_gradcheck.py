"""The numerical check accepts right gradients and refuses wrong ones."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, gradcheck, gradgradcheck
from gradspec.autograd.gradcheck import GradcheckError
from gradspec.core.tensor import wrap


@pytest.fixture
def x():
    return wrap(np.array([[0.5, -1.5, 2.0]])).requires_grad_()


@pytest.fixture
def z():
    return wrap(np.array([0.5 + 1j, -1.5 - 2j])).requires_grad_()


def wrong(factor: float):
    """A square whose gradient is off by a factor."""

    class Wrong(Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return g * a * (2 * factor)

    return Wrong.apply


def test_right_gradients(x):
    assert gradcheck(lambda a: a * a, x)
    assert gradcheck(lambda a: (a.sin(), (a * a).sum()), x, check_forward_ad=True)
    assert gradgradcheck(lambda a: a * a * a, x)


def test_several_inputs_some_of_them_constant(x):
    y = wrap(np.array([[1.0], [2.0]])).requires_grad_()
    constant = wrap(np.array([1.0, 2.0, 3.0]))
    assert gradcheck(lambda a, b, c, n: a * b * c * n, (x, y, constant, 2), check_forward_ad=True)
    assert gradgradcheck(lambda a, b, c: a * b * c, (x, y, constant))


class ComplexSquare(Function):
    """The gradient of a holomorphic function: the conjugate of its derivative."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        ctx.save_for_forward(a)
        return a * a

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return wrap(g.array * 2 * a.array.conj())

    @staticmethod
    def jvp(ctx, tangent):
        (a,) = ctx.saved_tensors
        return a * tangent * 2


class NotConjugated(ComplexSquare):
    """A common mistake."""

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return wrap(g.array * 2 * a.array)


def test_complex(z):
    assert gradcheck(ComplexSquare.apply, z, check_forward_ad=True)
    assert not gradcheck(NotConjugated.apply, z, raise_exception=False)


def test_real_output_of_a_complex_input(z):
    class SquaredNorm(Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return wrap((a.array * a.array.conj()).real)

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return wrap(g.array * 2 * a.array)

    assert gradcheck(SquaredNorm.apply, z)


def test_output_that_does_not_depend_on_an_input(x):
    y = wrap(np.ones(2)).requires_grad_()
    assert gradcheck(lambda a, b: (a * a, b * b), (x, y))
    assert gradcheck(lambda a, b: b.detach() * 2 + a.sum(), (x, wrap(np.ones(2))))


@pytest.mark.parametrize("factor", [1.01, -1.0, 0.0])
def test_wrong_gradients(x, factor):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to"):
        gradcheck(wrong(factor), x)
    assert not gradcheck(wrong(factor), x, raise_exception=False)


def test_wrong_second_derivative(x):
    class WrongTwice(Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a * a

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return g * 3 * a * a.detach()

    assert gradcheck(WrongTwice.apply, x)
    assert not gradgradcheck(WrongTwice.apply, x, raise_exception=False)


def test_wrong_tangent(x):
    class WrongForward(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 3

    assert gradcheck(WrongForward.apply, x)
    with pytest.raises(GradcheckError, match="computed with forward mode"):
        gradcheck(WrongForward.apply, x, check_forward_ad=True)


def test_given_cotangents(x):
    assert gradgradcheck(lambda a: a * a, x, wrap(np.array([[1.0, 2.0, 3.0]])))


def test_inputs_are_left_alone(x):
    before = x.tolist()
    gradcheck(lambda a: a * a, x)
    assert x.tolist() == before
    assert x.grad is None


def test_what_is_checked():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda a: a, wrap(np.ones(2)))
    single = wrap(np.ones(2, np.float32)).requires_grad_()
    with pytest.warns(UserWarning, match="not a double precision"):
        gradcheck(lambda a: a * 2, single, eps=1e-2, atol=1e-2)


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_empty_inputs(shape: tuple[int, ...]) -> None:
    """Empty inputs leave nothing to compare: the check passes, in both modes and orders."""
    x = gs.zeros(shape, dtype=gs.float64).requires_grad_()
    y = gs.ones(2, dtype=gs.float64).requires_grad_()

    def function(x: gs.Tensor, y: gs.Tensor) -> gs.Tensor:
        return x.sum() + y * y

    assert gradcheck(function, (x, y), check_forward_ad=True)
    assert gradgradcheck(function, (x, y))


@pytest.mark.parametrize("returned", [5, None, (5,)], ids=repr)
def test_what_is_no_tensor_is_not_passed_over(returned):
    x = gs.ones(2, dtype=gs.float64, requires_grad=True)
    with pytest.raises(TypeError, match="has to return tensors"):
        gs.autograd.gradcheck(lambda _: returned, x)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_functions_without_elements(fast_mode):
    empty = gs.rand(0, 1, dtype=gs.complex128, requires_grad=True)
    assert gradcheck(gs.diagonal, (empty,), check_forward_ad=True, fast_mode=fast_mode)
