"""Custom functions that modify their inputs in place."""

import pytest

import gradspec as gs


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(values), dtype=gs.float64, requires_grad=True)


class Double(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Exp(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x.exp_())
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


class DoubleFirst(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x, x * y

    @staticmethod
    def backward(ctx, grad, other):
        return grad * 2, other


class Forgets(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2


def test_the_input_is_the_output():
    x = leaf(1, 2)
    y = x * 3
    z = Double.apply(y)
    assert z is y
    assert y.grad_fn.name() == "DoubleBackward"
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_through_a_view_the_base_changes():
    x = leaf(1, 2)
    y = x * 3
    view = y[:1]
    assert Double.apply(view) is view
    assert type(y.grad_fn).__name__ == "CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [6, 3]


def test_a_saved_output_has_its_history_and_version():
    x = leaf(0)
    y = x * 1
    Exp.apply(y)
    (first,) = gs.autograd.grad(y, x, create_graph=True)
    (second,) = gs.autograd.grad(first, x)
    assert second.tolist() == [1]
    y = x * 1
    Exp.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by .* output 0 of ExpBackward"):
        y.backward()


def test_one_of_several_outputs():
    x = leaf(1, 2)
    y = x * 1
    first, second = DoubleFirst.apply(y, x)
    assert first is y
    assert (first.output_nr, second.output_nr) == (0, 1)
    (first + second).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_without_gradients_it_only_writes():
    x = gs.ones(2)
    assert Double.apply(x) is x
    assert x.tolist() == [2, 2]
    assert x.grad_fn is None


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.view(2)])
def test_leaves_are_refused(view):
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        Double.apply(view(leaf(1, 2)))


def test_what_is_dirty_must_be_returned():
    with pytest.raises(RuntimeError, match="not returned as output"):
        Forgets.apply(leaf(1) * 1)


def test_a_mark_is_not_that_of_a_tensor_made_later():
    class Marks(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(gs.ones(2))
            return x * 2  # often where the marked tensor was in memory

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    assert all(Marks.apply(leaf(1.0, 2.0)).requires_grad for _ in range(20))


class Unreturned(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2


def test_a_dirty_input_is_returned_also_where_nothing_is_recorded():
    for given in (gs.ones(2), leaf(1.0, 2.0).clone()):
        with pytest.raises(RuntimeError, match="Some elements marked as dirty"):
            Unreturned.apply(given)
