"""Objects of modes, levels, edges and saved-tensor hooks: what they do twice, as in PyTorch."""

import gc
import weakref

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf


def switch_used_again(lib):
    switch = lib.set_grad_enabled(False)
    seen = [lib.is_grad_enabled()]
    with switch:
        seen.append(lib.is_grad_enabled())
    seen.append(lib.is_grad_enabled())
    with switch:
        seen.append(lib.is_grad_enabled())
    seen.append(lib.is_grad_enabled())
    with switch, switch:
        seen.append(lib.is_grad_enabled())
    return seen, lib.is_grad_enabled()


def switch_as_decorator(lib):
    switch = lib.set_grad_enabled(False)
    decorated = switch(lambda: lib.is_grad_enabled())
    return lib.is_grad_enabled(), decorated(), decorated(), lib.is_grad_enabled()


def mode_used_again(lib):
    mode, seen = lib.no_grad(), []
    for _ in range(2):
        with mode:
            seen.append(lib.is_grad_enabled())
        seen.append(lib.is_grad_enabled())
    return seen


def level_used_again(lib):
    forward_ad = lib.autograd.forward_ad
    level, x = forward_ad.dual_level(), lib.ones(2)
    tangents = []
    for _ in range(2):
        with level as depth:
            dual = forward_ad.make_dual(x, x) * 3
            tangents += [depth, forward_ad._current_level, forward_ad.unpack_dual(dual).tangent]
    return tangents, forward_ad._current_level


def level_as_decorator(lib):
    forward_ad = lib.autograd.forward_ad

    @forward_ad.dual_level()
    def derivative(x):
        return forward_ad.unpack_dual(forward_ad.make_dual(x, x) ** 2).tangent

    return derivative(lib.ones(1) * 3), derivative(lib.ones(1) * 4)


def saved_hooks_used_again(lib):
    x = leaf(lib, 3.0)
    hooks = lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 10)
    seen = []
    for _ in range(2):
        with hooks:
            y = x * x
        seen.append(lib.autograd.grad(y, x))
        seen.append(lib.autograd.grad(x * x, x))
    return seen


def saved_hooks_of_a_subclass(lib):
    class Doubling(lib.autograd.graph.saved_tensors_hooks):
        def __init__(self):
            super().__init__(lambda t: t, lambda t: t * 2)

    x = leaf(lib, 3.0)
    with Doubling():
        y = x.sin() * x
    return lib.autograd.grad(y, x), attempt(lambda: Doubling()(lambda: None))


def saved_hooks_that_leave_in_unpack(lib):
    hooks = lib.autograd.graph.saved_tensors_hooks

    def unpack(value):
        outer.__exit__(None, None, None)
        return value

    outer, inner = hooks(lambda t: t * 2, unpack), hooks(lambda t: t, lambda t: t)
    x = leaf(lib, 1.0)
    with inner:
        outer.__enter__()
        x.sin().backward()
        y = x * x  # the hooks are those of before the pass
        outer.__exit__()
    z = x * x
    return lib.autograd.grad(y, x), lib.autograd.grad(z, x), x.grad


def edge_of(lib, tensor):
    return lib.autograd.graph.get_gradient_edge(tensor)


def root_edge(lib, make, *cotangent):
    x = leaf(lib, 1.0, 2.0)
    return lib.autograd.grad(edge_of(lib, make(x)), x, *cotangent)


def unused_edge(lib, **options):
    x, y = leaf(lib, 1.0) * 1, leaf(lib, 2.0) * 1
    return lib.autograd.grad((x * 2).sum(), (x, edge_of(lib, y)), **options)


BEHAVIOURS = {
    "set_grad_enabled twice": switch_used_again,
    "set_grad_enabled decorates": switch_as_decorator,
    "no_grad twice": mode_used_again,
    "dual_level twice": level_used_again,
    "dual_level decorates": level_as_decorator,
    "saved_tensors_hooks twice": saved_hooks_used_again,
    "saved_tensors_hooks, subclass": saved_hooks_of_a_subclass,
    "saved_tensors_hooks, left in unpack": saved_hooks_that_leave_in_unpack,
    "edge, several elements": lambda lib: root_edge(lib, lambda x: x * 2),
    "edge, a leaf": lambda lib: root_edge(lib, lambda x: x),
    "edge, one element": lambda lib: root_edge(lib, lambda x: (x * 2).sum()),
    "edge, keeps its shape": lambda lib: root_edge(lib, lambda x: (x * 2)[:1]),
    "edge, cotangent": lambda lib: root_edge(lib, lambda x: x * 2, lib.ones(2)),
    "edge, wrong shape": lambda lib: root_edge(lib, lambda x: x * 2, lib.ones(3)),
    "edge, complex cotangent": lambda lib: root_edge(lib, lambda x: x * 2, lib.ones(2) * 1j),
    "edge, unused": lambda lib: unused_edge(lib, allow_unused=True),
    "edge, unused, zeros": lambda lib: unused_edge(lib, materialize_grads=True),
    "cotangents that are numbers": lambda lib: (leaf(lib, 1.0, 2.0) * 2).backward([1.0, 1.0]),
    "cotangents, a list of lists": lambda lib: lib.autograd.backward(
        [leaf(lib, 1.0, 2.0) * 2], [[1.0, 1.0]]
    ),
    "inputs that are no tensors": lambda lib: lib.autograd.grad(leaf(lib, 1.0) * 2, ["x"]),
    "numpy() without gradients": lambda lib: lib.no_grad()(leaf(lib, 1.0, 2.0).numpy)().tolist(),
    "numpy() with gradients": lambda lib: leaf(lib, 1.0, 2.0).numpy(),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    import torch.autograd.forward_ad  # a submodule that PyTorch does not import by itself

    assert_same(BEHAVIOURS[name], torch)


def test_hooks_entered_in_a_hook_do_not_outlive_the_pass():
    import gradspec as gs

    def run():
        def unpack(value):
            entered().__enter__()
            return value

        hooks = gs.autograd.graph.saved_tensors_hooks(lambda t: t, unpack)
        entered = weakref.ref(hooks)
        x = gs.ones(2, requires_grad=True)
        with hooks:
            x.sin().sum().backward()
        return weakref.ref(unpack)

    gc.disable()
    try:
        assert run()() is None
    finally:
        gc.enable()


def test_decorating_a_class_is_advised_against():
    import gradspec as gs

    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @gs.no_grad()
        class Recorded:
            def __init__(self):
                self.made_with_grad = gs.is_grad_enabled()

            def now(self):
                return gs.is_grad_enabled()

    recorded = Recorded()
    assert (recorded.made_with_grad, recorded.now()) == (False, True)


def test_an_edge_made_by_hand_needs_its_cotangent():
    import gradspec as gs

    x = gs.ones(2, requires_grad=True)
    y = x * 3
    grad_node = gs.autograd.graph.GradientEdge(y.grad_fn, 0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        gs.autograd.grad(grad_node, x)
    (found,) = gs.autograd.grad(grad_node, x, gs.tensor([1.0, 2.0]))
    assert found.tolist() == [3.0, 6.0]


@pytest.mark.parametrize("make", ["x * 2", "x.sum()"])
def test_recorded_backward_warns_of_its_cycle(make):
    import gradspec as gs
    from gradspec.autograd.backward import _warn_of_cycle

    _warn_of_cycle.cache_clear()
    x = gs.ones(1, requires_grad=True)
    y = x * 2 if make == "x * 2" else x.sum()
    with pytest.warns(UserWarning, match=r"Using backward\(\) with create_graph=True"):
        y.backward(create_graph=True)
    x.grad = None


def test_a_recorded_gradient_is_copied_onto_memory_like_that_of_its_leaf():
    import gradspec as gs

    x = gs.ones(3, 2).t().requires_grad_()
    with_history = (x * x).sum()
    with_history.backward(create_graph=True)
    copied = x.grad
    assert copied.grad_fn.name() == "torch::autograd::CopyBackwards"  # PyTorch's, too
    assert copied.stride() == (1, 2)
    assert gs.autograd.grad(copied.sum(), x)[0].tolist() == [[2.0] * 3] * 2
    x.grad = None


@pytest.mark.oracle
def test_switch_of_threads(torch):
    def behaviour(lib):
        switch, seen = lib.autograd.set_multithreading_enabled, []

        def look():
            seen.append(lib.autograd.is_multithreading_enabled())

        with switch(False):
            look()
            switch(True)
            look()
        look()
        switch(False)
        look()
        switch(True)
        decorated = switch(False)(look)
        look()
        decorated()
        look()
        switch(True)
        return seen

    assert_same(behaviour, torch)


@pytest.mark.oracle
def test_versions_are_preserved(torch):
    def behaviour(lib):
        x, y = leaf(lib, 1.0) * 1, leaf(lib, 2.0) * 1
        x.add_(1)
        with lib.autograd._unsafe_preserve_version_counter(x):
            x.mul_(2)
        with lib.autograd._unsafe_preserve_version_counter((x, y)):
            x.mul_(2)
            y.mul_(3)
        return x._version, y._version, x.detach(), y.detach()

    assert_same(behaviour, torch)


@pytest.mark.oracle
def test_what_is_no_tensor_among_tensors(torch):
    calls = (
        lambda lib: lib.meshgrid(lib.ones(2), "a"),
        lambda lib: lib.cartesian_prod(lib.ones(2), 3),
        lambda lib: lib.meshgrid([lib.ones(2), 1.0], indexing="ij"),
    )
    assert_same(lambda lib: [attempt(lambda c=call: c(lib)) for call in calls], torch)
