"""Permissions of a custom function in its passes: as in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


def function(lib, forward, backward, **others):
    """A custom function of these parts."""
    parts = {name: staticmethod(part) for name, part in others.items()}
    parts |= {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (lib.autograd.Function,), parts)


def needs_input_grad(lib):
    seen = []

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad, None, grad * 3

    made = function(lib, lambda ctx, x, number, y: x * number + y * 3, backward)
    x, y = leaf(lib, 1.0), lib.ones(1, dtype=lib.float64)
    made.apply(x, 2, y).sum().backward()
    made.apply(y, 2, x).sum().backward()
    return seen, x.grad


def needs_input_grad_in_forward(lib):
    seen = []

    def forward(ctx, x, y):
        seen.append(ctx.needs_input_grad)
        return x * y

    made = function(lib, forward, lambda ctx, grad: (grad, grad))
    made.apply(leaf(lib, 1.0), lib.ones(1))
    with lib.no_grad():
        made.apply(leaf(lib, 1.0), lib.ones(1))
    return seen


def too_few_gradients(lib):
    made = function(lib, lambda ctx, x, y: x * y, lambda ctx, grad: grad)
    return attempt(lambda: made.apply(leaf(lib, 1.0), leaf(lib, 1.0)).sum().backward())


def too_many_gradients(lib):
    nones = function(lib, lambda ctx, x: x * 1, lambda ctx, grad: (grad, None, None))
    many = function(lib, lambda ctx, x: x * 1, lambda ctx, grad: (grad, grad))
    x = leaf(lib, 1.0)
    nones.apply(x).sum().backward()
    return x.grad, attempt(lambda: many.apply(x).sum().backward())


def gradient_of_another_shape(lib):
    made = function(lib, lambda ctx, x: x * 1, lambda ctx, grad: grad.sum())
    wrong = function(lib, lambda ctx, x: x * 1, lambda ctx, grad: lib.ones(5))
    x = leaf(lib, 1.0, 2.0)
    return attempt(lambda: made.apply(x).sum().backward()), attempt(
        lambda: wrong.apply(x).sum().backward()
    )


def gradient_that_broadcasts(lib):
    made = function(lib, lambda ctx, x: x.sum(0), lambda ctx, grad: grad.expand(3, 2))
    wide = function(lib, lambda ctx, x: x * 1, lambda ctx, grad: grad.expand(4, 2))
    x = lib.ones(3, 2, dtype=lib.float64, requires_grad=True)
    made.apply(x).sum().backward()
    y = leaf(lib, 1.0, 2.0)
    wide.apply(y).sum().backward()
    return x.grad, y.grad


def gradient_of_another_dtype(lib):
    made = function(lib, lambda ctx, x: x * 1, lambda ctx, grad: grad.float())
    x = leaf(lib, 1.0, 2.0)
    made.apply(x).sum().backward()
    return x.grad


def gradient_for_what_is_no_tensor(lib):
    made = function(lib, lambda ctx, x, n: x * n, lambda ctx, grad: (grad, grad))
    return attempt(lambda: made.apply(leaf(lib, 1.0), 2).sum().backward())


def gradient_that_is_no_tensor(lib):
    made = function(lib, lambda ctx, x: x * 1, lambda ctx, grad: 3.0)
    return attempt(lambda: made.apply(leaf(lib, 1.0)).sum().backward())


def gradient_that_is_absent(lib):
    made = function(lib, lambda ctx, x: x * 1, lambda ctx, grad: None)
    x = leaf(lib, 1.0)
    made.apply(x).sum().backward()
    return (
        x.grad,
        lib.autograd.grad(made.apply(x).sum(), x, allow_unused=True),
        attempt(lambda: lib.autograd.grad(made.apply(x).sum(), x)),
    )


def result_that_is_an_input(lib):
    made = function(lib, lambda ctx, x: x, lambda ctx, grad: grad * 2)
    x = leaf(lib, 1.0)
    y = made.apply(x)
    y.sum().backward()
    return y is x, x.grad, y


def result_that_is_no_tensor(lib):
    made = function(lib, lambda ctx, x: (x * 2, "text", 3, None), lambda ctx, g, *_: g)
    result = made.apply(leaf(lib, 1.0))
    return (
        result,
        type(result).__name__,
        attempt(lambda: function(lib, lambda ctx, x: 3, lambda ctx, g: g).apply(leaf(lib, 1.0))),
    )


def result_that_is_a_list(lib):
    made = function(lib, lambda ctx, x: [x * 2, x * 3], lambda ctx, a, b: a + b)
    return attempt(lambda: type(made.apply(leaf(lib, 1.0))).__name__)


def nested_inputs(lib):
    made = function(lib, lambda ctx, xs: xs[0] * xs[1], lambda ctx, g: None)
    y = made.apply([leaf(lib, 1.0), leaf(lib, 2.0)])
    return y.requires_grad, y


def keywords(lib):
    made = function(lib, lambda ctx, x, n=2: x * n, lambda ctx, g: (g, None))
    return attempt(lambda: made.apply(leaf(lib, 1.0), n=3)), made.apply(leaf(lib, 1.0))


def under_no_grad(lib):
    made = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g)
    with lib.no_grad():
        return made.apply(leaf(lib, 1.0))


def grad_mode_in_the_passes(lib):
    seen = []

    def forward(ctx, x):
        seen.append(lib.is_grad_enabled())
        return x * 2

    def backward(ctx, grad):
        seen.append(lib.is_grad_enabled())
        return grad * 2

    made = function(lib, forward, backward)
    x = leaf(lib, 1.0)
    made.apply(x).sum().backward()
    made.apply(x).sum().backward(create_graph=True)
    return seen


def recorded_inside_of_forward(lib):
    def forward(ctx, x):
        with lib.enable_grad():
            inner = x.detach().requires_grad_()
            ctx.result = inner * inner
            ctx.inner = inner
        return ctx.result.detach()

    def backward(ctx, grad):
        ctx.result.backward(grad)
        return ctx.inner.grad

    x = leaf(lib, 3.0)
    function(lib, forward, backward).apply(x).sum().backward()
    return x.grad


def saved_twice(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2, x)
        return x * 1

    x = leaf(lib, 3.0)
    y = function(lib, forward, lambda ctx, g: ctx.saved_tensors[0] * g).apply(x)
    y.sum().backward()
    return x.grad


def saved_what_is_no_tensor(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * 1

    def numbers(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 1

    def backward(ctx, g):
        return g if ctx.saved_tensors[1] is None else g * 0

    x = leaf(lib, 3.0)
    function(lib, forward, backward).apply(x).sum().backward()
    return x.grad, attempt(lambda: function(lib, numbers, backward).apply(x))


def saved_and_written(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    made = function(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0])
    y = leaf(lib, 3.0) * 1
    z = made.apply(y)
    y.add_(1)
    return attempt(lambda: z.sum().backward())


def saved_after_freeing(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    y = function(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(leaf(lib, 3.0)).sum()
    node = y.grad_fn.next_functions[0][0]
    y.backward()
    return attempt(lambda: y.backward()), attempt(lambda: node.saved_tensors)


def attributes(lib):
    def forward(ctx, x):
        ctx.own = [1]
        ctx.own.append(2)
        return x * 1

    def backward(ctx, g):
        ctx.own.append(3)
        return g * len(ctx.own)

    x = leaf(lib, 3.0)
    y = function(lib, forward, backward).apply(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return x.grad, y.grad_fn.own


def marked_as_non_differentiable(lib):
    def forward(ctx, x):
        a, b = x * 2, x > 1
        c = x * 3
        ctx.mark_non_differentiable(b, c)
        return a, b, c

    def backward(ctx, *grads):
        return grads[0] + sum(grads[1:])

    x = leaf(lib, 1.0, 2.0)
    a, b, c = function(lib, forward, backward).apply(x)
    a.sum().backward()
    return x.grad, b.requires_grad, c.requires_grad, c.grad_fn


def not_materialized(lib):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, a, b):
        seen.append((a is None, b is None))
        return a * 2 if b is None else b * 3

    x = leaf(lib, 1.0)
    function(lib, forward, backward).apply(x)[0].sum().backward()
    function(lib, forward, backward).apply(x)[1].sum().backward()
    return seen, x.grad


def materialized(lib):
    seen = []

    def backward(ctx, a, b):
        seen.append((a.tolist(), b.tolist()))
        return a * 2 + b * 3

    x = leaf(lib, 1.0, 2.0)
    made = function(lib, lambda ctx, x: (x * 2, x.sum()), backward)
    made.apply(x)[1].backward()
    return seen, x.grad


def written_input(lib):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    x = leaf(lib, 1.0, 2.0)
    made = function(lib, forward, lambda ctx, g: g * 2)
    y = x * 1
    z = made.apply(y)
    z.sum().backward()
    return z is y, y._version, x.grad, attempt(lambda: made.apply(x))


def written_view(lib):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    made = function(lib, forward, lambda ctx, g: g * 2)
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    made.apply(y[:1])
    (y * y).sum().backward()
    return x.grad


def written_but_not_returned(lib):
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        return x * 3

    made = function(lib, forward, lambda ctx, g: g)
    return attempt(lambda: made.apply(leaf(lib, 1.0) * 1))


def once_differentiable(lib):
    once = lib.autograd.function.once_differentiable
    made = function(lib, lambda ctx, x: x * 2, once(lambda ctx, g: g * 2))
    x = leaf(lib, 1.0)
    (slope,) = lib.autograd.grad(made.apply(x).sum(), x, create_graph=True)
    return slope.requires_grad, attempt(lambda: (slope * x).sum().backward())


def second_derivatives(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    def backward(ctx, g):
        return 3 * ctx.saved_tensors[0] ** 2 * g

    made = function(lib, forward, backward)
    x = leaf(lib, 2.0)
    (first,) = lib.autograd.grad(made.apply(x).sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), x, create_graph=True)
    return first, second, lib.autograd.grad(second.sum(), x)


def setup_context(lib):
    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.n = inputs[1]

    def backward(ctx, g):
        x, out = ctx.saved_tensors
        return g * out * ctx.n / x, None

    made = function(lib, lambda x, n: x**n, backward, setup_context=setup)
    x = leaf(lib, 2.0)
    made.apply(x, 3).sum().backward()
    return x.grad


def without_backward(lib):
    class Made(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    y = Made.apply(leaf(lib, 1.0))
    return y, attempt(lambda: y.sum().backward())


def without_forward(lib):
    class Made(lib.autograd.Function):
        pass

    return attempt(lambda: Made.apply(leaf(lib, 1.0)))


def instantiated(lib):
    made = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g)
    return attempt(lambda: made()(leaf(lib, 1.0)))


def forward_that_fails(lib):
    def forward(ctx, x):
        raise KeyError

    return attempt(lambda: function(lib, forward, lambda ctx, g: g).apply(leaf(lib, 1.0)))


def backward_that_fails(lib):
    def backward(ctx, g):
        raise KeyError

    x = leaf(lib, 1.0)
    made = function(lib, lambda ctx, x: x * 2, backward)
    outcome = attempt(lambda: made.apply(x).sum().backward())
    (x * 2).sum().backward()
    return outcome, x.grad


def metadata_and_name(lib):
    made = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g)
    node = made.apply(leaf(lib, 1.0)).grad_fn
    node.metadata["a"] = 1
    return node.metadata, node.name(), len(node.next_functions), type(node).__name__


def integers_and_booleans(lib):
    made = function(lib, lambda ctx, x: (x * 2, (x * 2).long()), lambda ctx, a, b: a)
    a, b = made.apply(leaf(lib, 1.0))
    return a, b


def same_result_twice(lib):
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = leaf(lib, 1.0)
    a, b = function(lib, forward, lambda ctx, g, h: g + h).apply(x)
    (a + b).sum().backward()
    return a is b, x.grad


def forward_mode(lib):
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * x

    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return 2 * x * tangent

    made = function(lib, forward, lambda ctx, g: g, jvp=jvp)
    fw = lib.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(lib.tensor([3.0]), lib.tensor([1.0]))
        found = fw.unpack_dual(made.apply(dual)).tangent
        plain = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g)
        return found, attempt(lambda: plain.apply(dual))


def interface(lib):
    made = function(lib, lambda ctx, x: x * 2, lambda ctx, g: g)
    x = leaf(lib, 1.0)
    context = {}

    def forward(ctx, x):
        context["needs"] = ctx.needs_input_grad
        context["dirty"] = attempt(lambda: ctx.saved_tensors)
        return x * 1

    function(lib, forward, lambda ctx, g: g).apply(x)
    return (
        context["needs"],
        made.apply(x).grad_fn is not None,
        issubclass(made, lib.autograd.Function),
    )


BEHAVIOURS = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name != "function"
]


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda b: b.__name__)
def test_custom_function(torch, behaviour):
    assert_same(behaviour, torch)
