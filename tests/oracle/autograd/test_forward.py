"""Forward mode, alone and over reverse mode: the same in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def vector(lib, *values):
    return lib.tensor(list(values), dtype=lib.float64)


def with_dual(function):
    """A behaviour that runs `function(lib, fw, dual)` inside a level."""

    def behaviour(lib):
        fw = lib.autograd.forward_ad
        with fw.dual_level():
            return function(lib, fw, fw.make_dual(vector(lib, 1.0, 2.0), vector(lib, 3.0, 5.0)))

    return behaviour


def parts(fw, tensor):
    primal, tangent = fw.unpack_dual(tensor)
    return primal, tangent


def outside(lib):
    fw = lib.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(vector(lib, 1.0), vector(lib, 2.0))
        inside = fw.unpack_dual(x * 3).tangent
    return inside, attempt(lambda: fw.unpack_dual(x).tangent)


def next_level(lib):
    fw = lib.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(vector(lib, 1.0), vector(lib, 2.0))
    with fw.dual_level():
        return parts(fw, x * 3)


def made(lib, primal, tangent):
    fw = lib.autograd.forward_ad
    with fw.dual_level():
        return parts(fw, fw.make_dual(primal, tangent))


def with_reverse(lib, hooked, operation):
    """The tangent of a gradient, of an op whose saved values go through hooks or not."""
    fw = lib.autograd.forward_ad
    x = leaf(lib, 0.5, 2.0)
    seen = []
    with fw.dual_level():
        dual = fw.make_dual(x, vector(lib, 1.0, -1.0))
        if hooked:
            hooks = lib.autograd.graph.saved_tensors_hooks
            with hooks(lambda t: seen.append(t.shape) or t.clone(), lambda t: t):
                y = operation(lib, dual)
        else:
            y = operation(lib, dual)
        (g,) = lib.autograd.grad(y.sum(), x)
        return [p if p is None else p.detach() for p in parts(fw, g)], bool(seen)


class Cube:
    """Makes a function that saves its input and its output."""

    @staticmethod
    def apply(lib, x):
        def forward(ctx, x):
            y = x * x * x
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x)
            return y

        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * (3 * x * x + 0 * y)

        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 3 * x * x * t

        methods = {"forward": forward, "backward": backward, "jvp": jvp}
        methods = {name: staticmethod(method) for name, method in methods.items()}
        return type("Cubed", (lib.autograd.Function,), methods).apply(x)


OPERATIONS = {
    "square": lambda lib, x: x * x,
    "saved output": lambda lib, x: x.exp(),
    "saved result of another": lambda lib, x: (x * 2).sin(),
    "saved list": lambda lib, x: lib.stack([x, x * x]).prod(0),
    "saved output of several uses": lambda lib, x: x.tanh() * x.sigmoid(),
    "in place": lambda lib, x: (x * 1).mul_(x),
    "in place on a view": lambda lib, x: (lambda y: (y[:1].mul_(x[1:]), y)[1])(x * 1),
    "division": lambda lib, x: x / (x + 1),
    "power": lambda lib, x: x**3,
    "custom function": lambda lib, x: Cube.apply(lib, x),
}


def level_without_a_block(lib):
    modes = lib.autograd.forward_ad
    early = attempt(modes.exit_dual_level)
    depth = modes.enter_dual_level()
    x = modes.make_dual(vector(lib, 1.0, 2.0), vector(lib, 3.0, 4.0))
    inside = parts(modes, x * x)
    modes.exit_dual_level()
    return early, depth, inside, modes.unpack_dual(x).tangent


BEHAVIOURS = {
    "a level without a block": level_without_a_block,
    "no level": lambda lib: lib.autograd.forward_ad.make_dual(lib.ones(2), lib.ones(2)),
    "another shape": lambda lib: made(lib, lib.ones(2), lib.ones(3)),
    "another shape that broadcasts": lambda lib: made(lib, lib.ones(2), lib.ones(1)),
    "integers": lambda lib: made(lib, lib.ones(2, dtype=lib.int64), lib.ones(2)),
    "an integer tangent": lambda lib: made(lib, lib.ones(2), lib.ones(2, dtype=lib.int64)),
    "twice": with_dual(lambda lib, fw, x: fw.make_dual(x, lib.ones(2).double())),
    "outside": outside,
    "another level": next_level,
    "unpacked outside": lambda lib: parts(lib.autograd.forward_ad, lib.ones(2)),
    "of a constant": with_dual(lambda lib, fw, x: parts(fw, lib.ones(2))),
    "detach": with_dual(lambda lib, fw, x: parts(fw, x.detach())),
    "data": with_dual(lambda lib, fw, x: parts(fw, x.data)),
    "no_grad": with_dual(lambda lib, fw, x: no_grad_product(lib, fw, x)),
    "a view": with_dual(lambda lib, fw, x: parts(fw, x[1])),
    "written": with_dual(lambda lib, fw, x: parts(fw, (x * 1).mul_(x))),
    "a constant written": with_dual(lambda lib, fw, x: parts(fw, lib.ones(2).double().copy_(x))),
    "zeroed": with_dual(lambda lib, fw, x: parts(fw, (x * 1).zero_())),
    "integers from it": with_dual(lambda lib, fw, x: parts(fw, x.long())),
    "a comparison": with_dual(lambda lib, fw, x: parts(fw, x > 1)),
    "another dtype": with_dual(lambda lib, fw, x: parts(fw, x.float())),
    "a sum with a constant": with_dual(lambda lib, fw, x: parts(fw, x + vector(lib, 7.0, 8.0))),
    "several outputs": with_dual(lambda lib, fw, x: [parts(fw, t) for t in x.unbind()]),
    "maximum": with_dual(lambda lib, fw, x: [parts(fw, t) for t in x.max(0)][:1]),
    "a clone": with_dual(lambda lib, fw, x: parts(fw, x.clone())),
}


def no_grad_product(lib, fw, x):
    with lib.no_grad():
        return parts(fw, x * x)


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_gradients_have_tangents_with_and_without_hooks(torch, name, hooked):
    assert_same(lambda lib: with_reverse(lib, hooked, OPERATIONS[name]), torch)


@pytest.mark.parametrize("name", OPERATIONS)
def test_saved_tensor_hooks_do_not_lose_tangents(name):
    import gradspec as gs

    plain, _ = with_reverse(gs, False, OPERATIONS[name])
    hooked, seen = with_reverse(gs, True, OPERATIONS[name])
    assert seen
    assert [t.tolist() for t in hooked] == [t.tolist() for t in plain]
    assert hooked[1].abs().sum().item() > 0
