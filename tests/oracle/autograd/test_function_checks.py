"""Custom functions: what they may return, mark and save, and the contract of `jvp`."""

import warnings

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, attempt, leaf, observe


def function(lib, forward, backward=None, jvp=None, **attributes):
    methods = {"forward": forward, "backward": backward, "jvp": jvp}
    given = {name: staticmethod(method) for name, method in methods.items() if method is not None}
    return type("Op", (lib.autograd.Function,), {**given, **attributes})


def two_names(lib):
    op = function(
        lib, lambda ctx, x: x * 2, lambda ctx, g: g * 2, vjp=staticmethod(lambda ctx, g: g * 2)
    )
    return op.apply(leaf(lib, 1.0)).backward()


def same_output_twice(lib, recorded=True):
    def forward(ctx, x):
        out = x * 2
        return out, x * 3, out

    arrived = []

    def backward(ctx, *grads):
        arrived.extend(grads)
        return grads[0] * 2 + grads[1] * 3 + grads[2] * 5

    x = leaf(lib, 1.0, 2.0) if recorded else lib.ones(2)
    a, b, c = function(lib, forward, backward).apply(x)
    if not recorded:
        return a is c
    gradient = lib.autograd.grad((a + b + c).sum(), x)
    return a is c, a.output_nr, b.output_nr, gradient, arrived


def unused_without_gradient(lib, materialize):
    arrived = []

    def forward(ctx, x):
        ctx._materialize_non_diff_grads = materialize
        constant = x + 1
        ctx.mark_non_differentiable(constant)
        return x * 2, constant

    def backward(ctx, g, of_constant):
        arrived.append(of_constant)
        return g * 2

    function(lib, forward, backward).apply(leaf(lib, 1.0))[0].backward()
    return arrived


def marks_a_stranger(lib, recorded=True, view=False):
    def forward(ctx, x):
        out = (x * 3).view(-1) if view else x * 3
        ctx.mark_dirty(out)
        return out

    x = leaf(lib, 1.0) if recorded else lib.ones(1)
    y = function(lib, forward, lambda ctx, g: g * 3).apply(x)
    return y, y._version


def saves_a_number(lib, recorded):
    def forward(ctx, x):
        ctx.save_for_backward(3.0)
        return x * 2

    return function(lib, forward, lambda ctx, g: g).apply(
        leaf(lib, 1.0) if recorded else lib.ones(1)
    )


def read_twice(lib, times):
    def backward(ctx, g):
        for _ in range(times):
            (x,) = ctx.saved_tensors
        return g * x

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    op = function(lib, forward, backward, clear_saved_tensors_on_access=True)
    x = leaf(lib, 2.0)
    op.apply(x).backward()
    return x.grad


def saved_in_jvp(lib, for_forward):
    counts = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        if for_forward:
            ctx.save_for_forward(x, x)
        return x * 1

    def count(ctx, t):
        counts.append(len(ctx.saved_tensors))
        return t

    forward_ad = lib.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(leaf(lib, 1.0), lib.ones(1, dtype=lib.float64))
        function(lib, forward, count, count).apply(dual).backward()
    return counts


def modified(lib, jvp, dual="x"):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(2).add_(y)

    forward_ad = lib.autograd.forward_ad
    values = {"x": lib.ones(2), "y": lib.ones(2)}
    with forward_ad.dual_level():
        tangent = lib.ones(2)
        values[dual] = forward_ad.make_dual(values[dual], tangent)
        out = function(lib, forward, None, jvp).apply(values["x"], values["y"])
        return out is values["x"], out, forward_ad.unpack_dual(out).tangent, tangent


def viewing(lib, forward, jvp, of_view=False):
    forward_ad = lib.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(lib.ones(3), lib.ones(3))
        if of_view:
            dual = dual[:]
        out = function(lib, forward, None, jvp).apply(dual)
        tangent = forward_ad.unpack_dual(out).tangent
        return tangent, tangent._is_view()


def answering(lib, tangent, output=lambda x: x * 1.0, constant=False):
    def forward(ctx, x):
        out = output(x)
        if constant:
            ctx.mark_non_differentiable(out)
        return out

    forward_ad = lib.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(lib.ones(3), lib.ones(3))
        out = function(lib, forward, None, lambda ctx, t: tangent(t)).apply(dual)
        return forward_ad.unpack_dual(out).tangent


def pure_view(lib, count=1, pure=True, in_place=True):
    ran = []

    def forward(ctx, x):
        ctx._is_pure_view = pure
        return x[:1] if count == 1 else (x[:1], x * 2)

    def backward(ctx, *grads):
        ran.append(len(grads))
        return lib.cat([grads[0], lib.zeros(1, dtype=lib.float64)])

    x = leaf(lib, 1.0, 2.0)
    base = x * 1
    out = function(lib, forward, backward).apply(base)
    view = out if count == 1 else out[0]
    if in_place:
        view *= 3
    view.sum().backward()
    return x.grad, ran, base


def old_names(lib):
    arrived = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx, g):
        arrived.extend(ctx.saved_variables)
        return g * 2

    op = function(lib, forward, backward)
    y = op.apply(leaf(lib, 1.0))
    y.backward()
    return arrived, y.grad_fn.__class__ is op._backward_cls


def duals(lib):
    forward_ad = lib.autograd.forward_ad
    with forward_ad.dual_level():
        x, tangent = lib.ones(2), lib.ones(2)
        dual = forward_ad.make_dual(x, tangent)
        primal = forward_ad.unpack_dual(dual).primal
        same = [
            primal is forward_ad.unpack_dual(dual).primal,
            forward_ad.unpack_dual(dual).tangent is tangent,
            forward_ad.unpack_dual(x).primal is x,
            primal._is_view(),
        ]
        primal *= 2
        twice = attempt(lambda: forward_ad.make_dual(lib.ones(2), dual))
        return same, x, forward_ad.unpack_dual(dual).tangent, twice


BEHAVIOURS = {
    "backward and vjp": two_names,
    "an output twice": same_output_twice,
    "an output twice, not recorded": lambda lib: same_output_twice(lib, recorded=False),
    "no zeros for constants": lambda lib: unused_without_gradient(lib, False),
    "zeros for constants": lambda lib: unused_without_gradient(lib, True),
    "stranger marked": marks_a_stranger,
    "stranger marked, not recorded": lambda lib: marks_a_stranger(lib, recorded=False),
    "strange view marked": lambda lib: marks_a_stranger(lib, view=True),
    "a number saved": lambda lib: saves_a_number(lib, True),
    "a number saved, not recorded": lambda lib: saves_a_number(lib, False),
    "saved, read once": lambda lib: read_twice(lib, 1),
    "saved, read twice": lambda lib: read_twice(lib, 2),
    "saved for backward, in jvp": lambda lib: saved_in_jvp(lib, False),
    "saved for forward, in jvp": lambda lib: saved_in_jvp(lib, True),
    "jvp in place": lambda lib: modified(lib, lambda ctx, a, b: a.mul_(2).add_(b)),
    "jvp in place, other": lambda lib: modified(lib, lambda ctx, a, b: a.mul_(2).add_(b), "y"),
    "jvp not in place": lambda lib: modified(lib, lambda ctx, a, b: a * 2 + b),
    "jvp not in place, other": lambda lib: modified(lib, lambda ctx, a, b: a * 2 + b, "y"),
    "jvp not written": lambda lib: modified(lib, lambda ctx, a, b: a),
    "view": lambda lib: viewing(lib, lambda ctx, x: x[:2], lambda ctx, t: t[:2]),
    "view of a view": lambda lib: viewing(lib, lambda ctx, x: x[:2], lambda ctx, t: t[:2], True),
    "view, jvp none": lambda lib: viewing(lib, lambda ctx, x: x[:2], lambda ctx, t: t[:2] * 1),
    "view, jvp of another": lambda lib: viewing(
        lib, lambda ctx, x: x[:2], lambda ctx, t: (t[:2] * 1).view(2)
    ),
    "view of a view, jvp of another": lambda lib: viewing(
        lib, lambda ctx, x: x[:2], lambda ctx, t: (t[:2] * 1).view(2), True
    ),
    "input, jvp a view": lambda lib: viewing(lib, lambda ctx, x: x, lambda ctx, t: t.view(3)),
    "input, jvp the same": lambda lib: viewing(lib, lambda ctx, x: x, lambda ctx, t: t),
    "input, jvp no view": lambda lib: viewing(lib, lambda ctx, x: x, lambda ctx, t: t * 2),
    "view of what was computed": lambda lib: viewing(
        lib, lambda ctx, x: (x * 2).view(3), lambda ctx, t: t * 2
    ),
    "tangent": lambda lib: answering(lib, lambda t: t * 2),
    "tangent of a constant": lambda lib: answering(lib, lambda t: t * 2, constant=True),
    "tangent of integers": lambda lib: answering(lib, lambda t: t * 2, lambda x: x.long()),
    "no tangent of integers": lambda lib: answering(lib, lambda t: None, lambda x: x.long()),
    "tangent that is a number": lambda lib: answering(lib, lambda t: 2.0),
    "pure view": pure_view,
    "pure view, not written": lambda lib: pure_view(lib, in_place=False),
    "pure view, two outputs": lambda lib: pure_view(lib, 2),
    "view, written": lambda lib: pure_view(lib, pure=False),
    "two outputs, a view written": lambda lib: pure_view(lib, 2, pure=False),
    "two outputs, a view": lambda lib: pure_view(lib, 2, pure=False, in_place=False),
    "old names": old_names,
    "duals": duals,
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    import torch.autograd.forward_ad  # a submodule that PyTorch does not import by itself

    assert_same(BEHAVIOURS[name], torch)


KEYWORDS = {
    "backward and vjp": "Implementing both 'backward' and 'vjp'",
    "strange view marked": "received a tensor that was not an input",
    "saved, read twice": "can only be accessed once",
    "jvp not in place": "must modify the corresponding gradient inplace",
    "jvp not written": "is not modifying the forward mode gradients inplace",
    "view, jvp none": "the jvp is not returning a view",
    "view, jvp of another": "not returning a view of the given grad input",
    "view of a view, jvp of another": "not returning a view of the same base",
    "tangent of a constant": "You should return None at that position instead",
    "pure view, two outputs": "can only have one input Tensor and one output Tensor",
    "view, written": "This view was created inside a custom Function",
    "two outputs, a view written": "output of a function that returns multiple views",
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_errors_have_the_key_words(name):
    with pytest.raises(RuntimeError, match=KEYWORDS[name]):
        BEHAVIOURS[name](gs)


def test_marking_a_stranger_warns():
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        marks_a_stranger(gs)


def test_functions_are_not_instantiated():
    op = function(gs, lambda ctx, x: x)
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        made = op()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        made(gs.ones(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert observe(lambda lib: op.apply(lib.ones(1)), gs)["values"] == ["1"]


def test_the_old_name_of_saved_tensors_warns():
    with pytest.warns(DeprecationWarning, match="saved_variables"):
        old_names(gs)
