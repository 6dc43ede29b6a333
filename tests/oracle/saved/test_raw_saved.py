"""`node._raw_saved_self`: hooks on one saved value, and a context that stands for its node."""

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, attempt, leaf


def doubled_on_the_way(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    y = x * x

    def pack(tensor):
        log.append(("pack", tensor.requires_grad, tensor is x))
        return tensor * 2

    def unpack(packed):
        log.append("unpack")
        return packed

    y.grad_fn._raw_saved_self.register_hooks(pack, unpack)
    seen = y.grad_fn._saved_self
    y.sum().backward()
    return seen.tolist(), x.grad, log


def only_one_pair(lib):
    node = leaf(lib, 1.0).exp().grad_fn
    register = node._raw_saved_result.register_hooks
    register(lambda t: t, lambda t: t)
    return attempt(lambda: register(lambda t: t, lambda t: t))


def beside_hooks_of_the_thread(lib):
    x = leaf(lib, 1.0)
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        node = x.exp().grad_fn
    return attempt(lambda: node._raw_saved_result.register_hooks(lambda t: t, lambda t: t))


def nothing_saved(lib):
    node = (leaf(lib, 1.0) * lib.tensor([2.0], dtype=lib.float64)).grad_fn
    return attempt(lambda: node._raw_saved_self.register_hooks(lambda t: t, lambda t: t))


def freed(lib):
    y = leaf(lib, 1.0).exp()
    y.sum().backward()
    return attempt(lambda: y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t))


def modifying_hook(lib):
    node = leaf(lib, 1.0).exp().grad_fn
    return attempt(lambda: node._raw_saved_result.register_hooks(lambda t: t.mul_(2), lambda t: t))


def wrong_answer(lib):
    y = leaf(lib, 1.0).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: 1)
    return attempt(lambda: y.sum().backward())


def not_callable(lib):
    node = leaf(lib, 1.0).exp().grad_fn
    return attempt(lambda: node._raw_saved_result.register_hooks(1, 2))


def of_a_result_twice(lib):
    """The gradient of the gradient goes through what was unpacked."""
    x = leaf(lib, 1.0, 2.0)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.clone(), lambda t: t)
    (first,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return first, lib.autograd.grad(first.sum(), x)


def one_of_a_list(lib):
    x, log = leaf(lib, 1.0, 2.0, 3.0), []
    y = x[lib.tensor([0, 2])]
    (raw,) = y.grad_fn._raw_saved_indices
    raw.register_hooks(lambda t: (log.append("pack"), t + 0)[1], lambda t: t - t + 1)
    y.sum().backward()
    return x.grad, log


def of_a_custom_function(lib):
    log = []

    class Product(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            out = x * y
            ctx.save_for_backward(x, y, out)
            return out

        @staticmethod
        def backward(ctx, grad):
            x, y, out = ctx.saved_tensors
            log.append((ctx.name(), len(ctx.next_functions), dict(ctx.metadata), out.tolist()))
            return grad * y, grad * x

    x, y = leaf(lib, 2.0), leaf(lib, 3.0)
    z = Product.apply(x, y)
    first, _, last = z.grad_fn._raw_saved_tensors
    first.register_hooks(lambda t: t * 10, lambda t: t)
    last.register_hooks(lambda t: t + 1, lambda t: t)
    z.sum().backward()
    return x.grad, y.grad, log, attempt(lambda: z.grad_fn._raw_saved_tensors)


def numbers(lib):
    x = leaf(lib, 1.0)
    first = x * 2
    second = first * 3
    node = second.grad_fn
    later = node._sequence_nr() > first.grad_fn._sequence_nr()
    leaf_nr = first.grad_fn.next_functions[0][0]._sequence_nr()
    node._set_sequence_nr(10**6)
    return later, str(leaf_nr), node._sequence_nr()


def levels_by_hand(lib):
    ad = lib.autograd.forward_ad
    level = ad.enter_dual_level()
    tangent = ad.unpack_dual(ad.make_dual(lib.ones(2), lib.ones(2)) * 3).tangent
    wrong = attempt(lambda: ad.exit_dual_level(level=level + 7))
    ad.exit_dual_level(level=level)
    return level, tangent, wrong, attempt(ad.exit_dual_level)


def modes_by_module(lib):
    with lib.autograd.grad_mode.no_grad():
        without = (leaf(lib, 1.0) * 2).requires_grad
    with lib.autograd.anomaly_mode.detect_anomaly():
        on = lib.is_anomaly_enabled()
    return without, on


BEHAVIOURS = {
    f.__name__: f
    for f in (
        *(doubled_on_the_way, only_one_pair, beside_hooks_of_the_thread, nothing_saved, freed),
        *(modifying_hook, wrong_answer, not_callable, of_a_result_twice),
        *(one_of_a_list, of_a_custom_function, numbers, levels_by_hand, modes_by_module),
    )
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_behaviour_is_that_of_pytorch(name, torch):
    assert_same(BEHAVIOURS[name], torch)


def test_hooks_see_values_and_what_they_answer_counts():
    seen, grad, log = doubled_on_the_way(gs)
    assert seen == [2, 4]
    assert grad.tolist() == [2 + 1, 4 + 2]
    assert log == [("pack", False, False), "unpack", "unpack"]


def test_refusals_say_why():
    x = gs.ones(2, requires_grad=True)
    raw = x.exp().grad_fn._raw_saved_result
    with pytest.raises(TypeError, match="must be callable, not int"):
        raw.register_hooks(1, 2)
    raw.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        raw.register_hooks(lambda t: t, lambda t: t)
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
    assert not hasattr(y.grad_fn, "_raw_saved_other")


def test_what_was_modified_is_not_packed():
    x = gs.ones(2, requires_grad=True) * 1
    y = x.sin()
    x.mul_(2)
    # PyTorch takes the new values, and its gradient is wrong then.
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


def test_a_context_has_no_other_names():
    class Double(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return ctx.factor * grad

    y = Double.apply(gs.ones(2, requires_grad=True))
    with pytest.raises(AttributeError, match="no attribute 'factor'"):
        y.sum().backward()
