"""Custom functions: the contract of `forward`, `backward` and the context."""

import gc
import weakref
from functools import partial

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import Function, grad
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec.core.modes import no_grad
from gradspec.core.tensor import wrap
from gradspec.functions.indexing import setitem
from gradspec.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts


class Square(Function):
    """The example of PyTorch's manual."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class Exp(Function):
    """Saves its output."""

    @staticmethod
    def forward(ctx, x):
        result = wrap(np.exp(x.array))
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, g):
        (result,) = ctx.saved_tensors
        return g * result


class Scaled(Function):
    """A number among the arguments, and `setup_context` instead of a `ctx` in `forward`."""

    @staticmethod
    def forward(x, factor=3.0):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class SumAndProduct(Function):
    """Two outputs, one of them saved."""

    @staticmethod
    def forward(ctx, a, b):
        product = a * b
        ctx.save_for_backward(a, b, product)
        return a + b, product

    @staticmethod
    def backward(ctx, g_sum, g_product):
        a, b, _ = ctx.saved_tensors
        ctx.seen = (g_sum, g_product)
        return g_sum + g_product * b, g_sum + g_product * a


@pytest.fixture
def x():
    return wrap(np.array([2.0, 3.0])).requires_grad_()


def test_gradient(x):
    y = Square.apply(x)
    y.sum().backward()
    assert y.tolist() == [4.0, 9.0]
    assert x.grad.tolist() == [4.0, 6.0]


def test_node_has_the_name_of_the_function(x):
    y = Square.apply(x)
    assert y.grad_fn.name() == "SquareBackward"
    assert repr(y) == "tensor([4., 9.], dtype=gradspec.float64, grad_fn=<SquareBackward>)"
    assert y.grad_fn.next_functions == ((x.grad_node, 0),)


def test_attributes_of_the_context_are_seen_on_the_node(x):
    y = Scaled.apply(x, 5.0)
    assert y.grad_fn.factor == 5.0
    assert Square.apply(x).grad_fn.saved_tensors[0] is x
    with pytest.raises(AttributeError, match="nothing"):
        y.grad_fn.nothing  # noqa: B018


def test_defaults_count_as_arguments_with_setup_context(x):
    Scaled.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_double_backward(x):
    (first,) = grad(Square.apply(Square.apply(x)).sum(), x, create_graph=True)
    assert first.tolist() == [4 * 2.0**3, 4 * 3.0**3]
    (second,) = grad(first.sum(), x)
    assert second.tolist() == [12 * 2.0**2, 12 * 3.0**2]


def test_double_backward_through_a_saved_output(x):
    (first,) = grad(Exp.apply(x).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x, create_graph=True)
    (third,) = grad(second.sum(), x)
    np.testing.assert_allclose(third.array, np.exp([2.0, 3.0]))


def test_double_backward_through_several_outputs(x):
    b = wrap(np.array([5.0, 7.0])).requires_grad_()
    total, product = SumAndProduct.apply(x, b)
    grads = grad((total * product).sum(), [x, b], create_graph=True)
    # d/da of (a + b)·a·b is 2ab + b², whose derivative by b is 2a + 2b.
    assert grads[0].tolist() == [2 * 2 * 5 + 25, 2 * 3 * 7 + 49]
    (mixed,) = grad(grads[0].sum(), b)
    assert mixed.tolist() == [2 * 2 + 2 * 5, 2 * 3 + 2 * 7]


def test_unused_output_gets_zeros(x):
    total, product = SumAndProduct.apply(x, x)
    product.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]
    assert product.output_nr == 1
    assert total.grad_fn is product.grad_fn
    assert product.grad_fn.seen[0].tolist() == [0.0, 0.0]


def test_unused_output_gets_none_if_asked_for(x):
    class Twice(Function):
        @staticmethod
        def forward(ctx, a):
            ctx.set_materialize_grads(False)
            return a * 1, a * 2

        @staticmethod
        def backward(ctx, first, second):
            assert first is None
            return second * 2

    Twice.apply(x)[1].sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_outputs_that_are_not_differentiable(x):
    class Several(Function):
        @staticmethod
        def forward(ctx, a):
            marked = a * 1
            ctx.mark_non_differentiable(marked)
            return a * 2, marked, wrap(a.array > 2), 5, None

        @staticmethod
        def backward(ctx, g, *others):
            assert [other if other is None else other.tolist() for other in others] == [
                [0.0, 0.0],
                [0.0, 0.0],
                None,
                None,
            ]
            return g * 2

    doubled, marked, positive, number, nothing = Several.apply(x)
    assert doubled.requires_grad
    assert not marked.requires_grad
    assert not positive.requires_grad
    assert (number, nothing) == (5, None)
    doubled.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_input_returned_as_it_is(x):
    class Pass(Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensors[0] is x
            return g * 10

    y = Pass.apply(x)
    assert y is not x
    assert np.shares_memory(y.array, x.array)
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_needs_input_grad(x):
    class Product(Function):
        @staticmethod
        def forward(ctx, a, b, c):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, _ = ctx.saved_tensors
            assert ctx.needs_input_grad == (False, True, False)
            return None, g * a, None

    Product.apply(wrap(np.array([5.0, 7.0])), x, "text").sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_gradient_is_summed_to_the_shape_and_dtype_of_the_input():
    class Stretched(Function):
        @staticmethod
        def forward(ctx, a):
            return wrap(np.broadcast_to(a.array, (3, 2)).astype(np.float64))

        @staticmethod
        def backward(ctx, g):
            return g

    a = wrap(np.ones(2, np.float32)).requires_grad_()
    Stretched.apply(a).sum().backward()
    assert a.grad.tolist() == [3.0, 3.0]
    assert a.grad.dtype == np.float32
    (found,) = grad(Stretched.apply(a).sum(), a, create_graph=True)
    assert found.tolist() == [3.0, 3.0]


def test_nothing_is_recorded_without_need(x):
    assert Square.apply(wrap(np.ones(2))).grad_fn is None
    with no_grad():
        assert Square.apply(x).grad_fn is None


def test_graph_is_freed(x):
    y = Square.apply(x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


@pytest.mark.parametrize("function", [Square, Exp])
def test_saved_tensor_modified_in_place(x, function):
    y = function.apply(x)
    saved = x if function is Square else y
    with no_grad():
        setitem(saved, 0, 7.0)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*saved_tensors\[0\]"):
        y.sum().backward()


@pytest.mark.parametrize("function", [Square, Exp, lambda a: SumAndProduct.apply(a, a)[1]])
def test_no_reference_cycle(x, function):
    gc.disable()
    try:
        y = getattr(function, "apply", function)(x)
        gone = weakref.ref(y.grad_fn)
        y.sum().backward(retain_graph=True)
        del y
        assert gone() is None
    finally:
        gc.enable()


def returning(*values):
    """A function of a tensor and a number whose backward returns these values."""

    class Made(Function):
        @staticmethod
        def forward(ctx, a, _number):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return tuple(g if isinstance(value, str) else value for value in values)

    return Made


def test_surplus_none_is_allowed(x):
    returning("g", None, None).apply(x, 2).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("g",), r"incorrect number of gradients \(expected 2, got 1\)"),
        (("g", None, "g"), r"incorrect number of gradients \(expected 2, got 3\)"),
        (("g", "g"), "different than None at position 2, but the corresponding forward input"),
        ((1.5, None), r"expected Variable or None \(got float\)"),
        ((wrap(np.ones(5)), None), r"invalid gradient at index 0 - got \[5\] but expected shape"),
    ],
)
def test_wrong_gradients(x, values, words):
    with pytest.raises(RuntimeError, match=words):
        returning(*values).apply(x, 2).sum().backward()


def test_what_must_be_implemented(x):
    class Nothing(Function):
        pass

    class ForwardOnly(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

    with pytest.raises(NotImplementedError, match="must implement the forward function"):
        Nothing.apply(x)
    with pytest.raises(NotImplementedError, match="either the backward or vjp method"):
        ForwardOnly.apply(x).sum().backward()
    with dual_level(), pytest.raises(NotImplementedError, match="must implement the jvp"):
        ForwardOnly.apply(make_dual(x, x.detach()))


def test_vjp_is_another_name_for_backward(x):
    class Tripled(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 3

        @staticmethod
        def vjp(ctx, g):
            return g * 3

    Tripled.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_only_tensors_are_saved(x):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a, None, 3)
            return a

    with pytest.raises(TypeError, match="can only save variables, but argument 2 is of type int"):
        Wrong.apply(x)


def test_forward_mode(x):
    class Cubed(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_forward(a)
            return a * a * a, b

        @staticmethod
        def jvp(ctx, a_t, b_t):
            (a,) = ctx.saved_tensors
            assert b_t.tolist() == [0.0, 0.0]
            return 3 * a * a * a_t, None

    with dual_level():
        dual = make_dual(x.detach(), wrap(np.array([1.0, 10.0])))
        cubed, other = Cubed.apply(dual, wrap(np.ones(2)))
        assert unpack_dual(cubed).primal.tolist() == [8.0, 27.0]
        assert unpack_dual(cubed).tangent.tolist() == [12.0, 270.0]
        assert unpack_dual(other).tangent is None


class Handed(Function):
    """Returns what it is given."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


@pytest.mark.parametrize("requires_grad", [True, False])
def test_an_input_handed_on_keeps_the_class_of_a_subclass(requires_grad):
    class Mine(gs.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise AssertionError(f"{func} was called")

    x = gs.ones(2, requires_grad=requires_grad).as_subclass(Mine)
    y = Handed.apply(x)
    assert type(y) is Mine
    assert y is not x


def test_an_input_handed_on_in_a_selective_checkpoint():
    context = partial(create_selective_checkpoint_contexts, lambda *args, **kwargs: False)
    x = gs.ones(3, requires_grad=True)
    y = checkpoint(lambda a: Handed.apply(a) * a, x, use_reentrant=False, context_fn=context)
    y.sum().backward()
    assert x.grad.tolist() == [4.0] * 3
    z = checkpoint(
        lambda a: Handed.apply(a) * 2, gs.ones(3), use_reentrant=False, context_fn=context
    )
    assert z.tolist() == [2.0] * 3
