"""Custom functions: what they may do, what they are told, what is refused, as in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def make(lib, forward, backward=None, once=False, **others):
    """A function class of these static methods."""
    methods = {"forward": staticmethod(forward)} | {k: staticmethod(v) for k, v in others.items()}
    if backward is not None:
        if once:
            backward = lib.autograd.function.once_differentiable(backward)
        methods["backward"] = staticmethod(backward)
    return type("Mine", (lib.autograd.Function,), methods)


def double(lib, backward):
    """A function whose result is twice its input, with this backward."""
    return make(lib, lambda ctx, x: x * 2, backward)


def gradient(lib, backward, *inputs):
    x = leaf(lib, 1.0, 2.0)
    double(lib, backward).apply(x).sum().backward()
    return x.grad


def basics(lib):
    seen = []

    def forward(ctx, x, n):
        seen.append((x.requires_grad, lib.is_grad_enabled(), ctx.needs_input_grad))
        ctx.save_for_backward(x)
        ctx.n = n
        return x * n

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        seen.append((x, g, lib.is_grad_enabled(), ctx.needs_input_grad))
        return g * ctx.n, None

    x = leaf(lib, 1.0, 2.0)
    y = make(lib, forward, backward).apply(x, 3)
    y.sum().backward()
    return y, seen, x.grad


def under_create_graph(lib):
    seen = []

    def backward(ctx, g):
        seen.append((lib.is_grad_enabled(), g.requires_grad))
        return g * g

    x = leaf(lib, 2.0)
    y = double(lib, backward).apply(x)
    (g,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
    return seen, g, lib.autograd.grad(g.sum(), x)


def several(lib, materialize, marked=False):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        a, b = x * 2, x * 3
        if marked:
            ctx.mark_non_differentiable(b)
        return a, b

    def backward(ctx, g, h):
        seen.append((g, h))
        return g * 2 if h is None else g * 2 + h * 3

    x = leaf(lib, 1.0, 2.0)
    a, b = make(lib, forward, backward).apply(x)
    a.sum().backward()
    return seen, a, b, x.grad


def dirty(lib, returned=True, on_leaf=False, on_view=False):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x if returned else x * 1

    x = leaf(lib, 1.0, 2.0)
    y = x if on_leaf else x * 1
    target = y[:1] if on_view else y
    out = make(lib, forward, lambda ctx, g: g * 2).apply(target)
    found = out is target, y.grad_fn, y._version
    (y * 3).sum().backward()
    return found, x.grad


def input_returned(lib):
    x = leaf(lib, 1.0, 2.0)
    y = make(lib, lambda ctx, x: x, lambda ctx, g: g * 7).apply(x)
    y.sum().backward()
    return y is x, y, x.grad


def view_returned(lib):
    x = leaf(lib, 1.0, 2.0)
    y = make(lib, lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2) * 7).apply(x)
    y.sum().backward()
    return y, x.grad


def view_returned_and_written(lib):
    x = leaf(lib, 1.0, 2.0) * 1
    y = make(lib, lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2) * 7).apply(x)
    return attempt(lambda: y.mul_(2))


def integer_output(lib):
    def forward(ctx, x):
        return x * 2, (x * 2).long()

    x = leaf(lib, 1.0, 2.0)
    a, b = make(lib, forward, lambda ctx, g, h: g * 2).apply(x)
    a.sum().backward()
    return a, b, x.grad


def integer_input(lib):
    seen = []

    def forward(ctx, x, i):
        seen.append(ctx.needs_input_grad)
        return x * i

    x = leaf(lib, 1.0, 2.0)
    y = make(lib, forward, lambda ctx, g: (g, None)).apply(x, lib.ones(2, dtype=lib.int64))
    y.sum().backward()
    return seen, x.grad


def tuple_of_tensors(lib):
    """Tensors in a list are not seen."""
    x = leaf(lib, 1.0)
    return make(lib, lambda ctx, xs: xs[0] * 2, lambda ctx, g: None).apply([x])


def output_that_is_no_tensor(lib):
    x = leaf(lib, 1.0)
    y, word = make(lib, lambda ctx, x: (x * 2, "word"), lambda ctx, g, w: g * 2).apply(x)
    y.sum().backward()
    return y, word, x.grad


def list_output(lib):
    return make(lib, lambda ctx, x: [x * 2], lambda ctx, g: g).apply(leaf(lib, 1.0))


def with_setup_context(lib, **more):
    seen = []

    def setup_context(ctx, inputs, output):
        seen.append((len(inputs), type(output).__name__, ctx.needs_input_grad))
        ctx.save_for_backward(inputs[0], output)

    def backward(ctx, g):
        x, out = ctx.saved_tensors
        seen.append((x, out))
        return g * 2, None

    function = make(lib, lambda x, n=2: x * n, backward, setup_context=setup_context)
    x = leaf(lib, 1.0)
    function.apply(x, *more).sum().backward()
    return seen, x.grad


def twice(lib, once):
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = leaf(lib, 3.0)
    y = make(lib, forward, backward, once=once).apply(x)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return g.requires_grad, attempt(lambda: lib.autograd.grad(g.sum(), x))


def saved_output_and_intermediate(lib):
    def forward(ctx, x):
        y, z = x.exp(), x * 5
        ctx.save_for_backward(x, y, None, z)
        return y

    def backward(ctx, g):
        _, y, nothing, z = ctx.saved_tensors
        return g * y + (z if nothing is None else 0)

    x = leaf(lib, 0.5)
    y = make(lib, forward, backward).apply(x)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return g, lib.autograd.grad(g.sum(), x)


def saved_then_written(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    x = leaf(lib, 1.0) * 1
    y = make(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    x.mul_(2)
    return attempt(lambda: y.sum().backward())


def saved_twice_read(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    x = leaf(lib, 1.0)
    y = make(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    saved = y.grad_fn.saved_tensors
    y.sum().backward()
    return saved, attempt(lambda: y.grad_fn.saved_tensors)


def forward_mode(lib, jvp):
    fw = lib.autograd.forward_ad

    def forward(ctx, x, y):
        ctx.save_for_forward(x, y)
        return x * y

    function = make(lib, forward, lambda ctx, g: (g, g), jvp=jvp)
    with fw.dual_level():
        x = fw.make_dual(leaf(lib, 2.0), leaf(lib, 1.0).detach())
        out = fw.unpack_dual(function.apply(x, leaf(lib, 5.0).detach()))
        return out.primal.detach(), None if out.tangent is None else out.tangent.detach()


def product_rule(ctx, x_t, y_t):
    x, y = ctx.saved_tensors
    return x_t * y + (0 if y_t is None else y_t * x)


def attributes_of_the_node(lib):
    def forward(ctx, x):
        ctx.word = "kept"
        return x * 2

    node = make(lib, forward, lambda ctx, g: g).apply(leaf(lib, 1.0)).grad_fn
    return node.word, node.needs_input_grad, attempt(lambda: node.nothing)


def by_keyword(lib, args, kwargs):
    """Arguments `a` and `b`, with a number `n` in between, of which some are named."""
    values = {"a": leaf(lib, 1.0, 2.0), "n": 2, "b": leaf(lib, 3.0, 4.0)}
    function = make(lib, lambda ctx, a, n=2, b=None: a * n * b, lambda ctx, g: (g, None, g * 5))
    positional = [values[name] for name in args]
    function.apply(*positional, **{name: values.get(name) for name in kwargs}).sum().backward()
    return values["a"].grad, values["b"].grad


def only_by_keyword(lib):
    def forward(ctx, a, *, n=2):
        return a * n

    function = make(lib, forward, lambda ctx, g: g)
    return function.apply(leaf(lib, 1.0), n=3)


def complex_gradient(lib):
    return gradient(lib, lambda ctx, g: g * 1j)


def not_recorded(lib, *, mark):
    """Inputs that a function returns where it makes no node."""

    def forward(ctx, x):
        if mark:
            ctx.mark_dirty(x.add_(1))
        return x

    function = make(lib, forward, lambda ctx, g: g)
    constant, result = lib.ones(2), leaf(lib, 1.0, 2.0) * 1
    given = [constant, result, constant[:1], result[:1]]
    with lib.no_grad():
        returned = [function.apply(tensor) for tensor in given]
    returned.append(function.apply(constant))
    same = [a is b for a, b in zip(returned, [*given, constant], strict=True)]
    return returned, same, [t._version for t in returned], [t._is_view() for t in returned]


BEHAVIOURS = {
    "named, all": lambda lib: by_keyword(lib, "", "bna"),
    "named, some": lambda lib: by_keyword(lib, "a", "nb"),
    "named, the last": lambda lib: by_keyword(lib, "an", "b"),
    "named, one left out": lambda lib: by_keyword(lib, "a", "b"),
    "named, unknown": lambda lib: by_keyword(lib, "anb", "z"),
    "named, twice": lambda lib: by_keyword(lib, "anb", "b"),
    "only by keyword": only_by_keyword,
    "a complex gradient of real numbers": complex_gradient,
    "basics": basics,
    "under create_graph": under_create_graph,
    "unused output, zeros": lambda lib: several(lib, True),
    "unused output, None": lambda lib: several(lib, False),
    "marked output, zeros": lambda lib: several(lib, True, marked=True),
    "marked output, None": lambda lib: several(lib, False, marked=True),
    "dirty": dirty,
    "dirty and not returned": lambda lib: dirty(lib, returned=False),
    "dirty leaf": lambda lib: dirty(lib, on_leaf=True),
    "dirty view": lambda lib: dirty(lib, on_view=True),
    "input returned": input_returned,
    "view returned": view_returned,
    "view returned and written": view_returned_and_written,
    "integer output": integer_output,
    "integer input": integer_input,
    "tensors in a list": tuple_of_tensors,
    "no tensor among the outputs": output_that_is_no_tensor,
    "a list as output": list_output,
    "setup_context": with_setup_context,
    "differentiated twice": lambda lib: twice(lib, once=False),
    "once differentiable": lambda lib: twice(lib, once=True),
    "saved output": saved_output_and_intermediate,
    "saved, then written": saved_then_written,
    "saved, then freed": saved_twice_read,
    "too few gradients": lambda lib: gradient(lib, lambda ctx, g: ()),
    "too many gradients": lambda lib: gradient(lib, lambda ctx, g: (g, g)),
    "too many, but None": lambda lib: gradient(lib, lambda ctx, g: (g, None, None)),
    "no gradient": lambda lib: gradient(lib, lambda ctx, g: None),
    "a number as gradient": lambda lib: gradient(lib, lambda ctx, g: 3.0),
    "a list of gradients": lambda lib: gradient(lib, lambda ctx, g: [g]),
    "gradient to be reduced": lambda lib: gradient(lib, lambda ctx, g: g.expand(3, 2)),
    "gradient of a wrong shape": lambda lib: gradient(lib, lambda ctx, g: g[:1].expand(3)),
    "gradient that broadcasts up": lambda lib: gradient(lib, lambda ctx, g: g[:1]),
    "gradient of another dtype": lambda lib: gradient(lib, lambda ctx, g: g.float()),
    "gradient of an integer dtype": lambda lib: gradient(lib, lambda ctx, g: g.long()),
    "backward that fails": lambda lib: gradient(lib, lambda ctx, g: {}["nothing"]),
    "no backward": lambda lib: gradient(lib, None),
    "no forward": lambda lib: type("Mine", (lib.autograd.Function,), {}).apply(leaf(lib, 1.0)),
    "an instance": lambda lib: double(lib, lambda ctx, g: g)()(leaf(lib, 1.0)),
    "save no tensor": lambda lib: make(
        lib, lambda ctx, x: ctx.save_for_backward(3) or x * 1, lambda ctx, g: g
    ).apply(leaf(lib, 1.0)),
    "without grad": lambda lib: double(lib, lambda ctx, g: g).apply(lib.ones(2)),
    "jvp": lambda lib: forward_mode(lib, product_rule),
    "no jvp": lambda lib: forward_mode(lib, lambda ctx, a, b: {}["nothing"]),
    "jvp of a wrong shape": lambda lib: forward_mode(lib, lambda ctx, a, b: a.expand(3)),
    "jvp with too many": lambda lib: forward_mode(lib, lambda ctx, a, b: (a, a)),
    "attributes": attributes_of_the_node,
    "an input returned": lambda lib: not_recorded(lib, mark=False),
    "an input written to and returned": lambda lib: not_recorded(lib, mark=True),
    "an input returned as a constant": lambda lib: make(
        lib, lambda ctx, x: ctx.mark_non_differentiable(x) or x, lambda ctx, g: g
    ).apply(leaf(lib, 1.0)),
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)
