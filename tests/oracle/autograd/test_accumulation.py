"""Accumulation of a pass into `grad`: as in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


def added_in_place(lib):
    x = leaf(lib, 1.0, 2.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    return x.grad is first, first


def not_added_in_place_under_create_graph(lib):
    x = leaf(lib, 1.0, 2.0)
    (x * 2).sum().backward(create_graph=True)
    first = x.grad
    (x**2).sum().backward(create_graph=True)
    return x.grad is first, first, x.grad


def set_to_none(lib):
    x = leaf(lib, 1.0)
    (x * 2).backward(lib.ones(1, dtype=lib.float64))
    x.grad = None
    (x * 5).sum().backward()
    return x.grad


def added_to_what_was_assigned(lib):
    x = leaf(lib, 1.0, 2.0)
    x.grad = given = lib.ones(2, dtype=lib.float64)
    (x * 2).sum().backward()
    return x.grad is given, given


def wrong_gradients_are_refused(lib):
    x = leaf(lib, 1.0, 2.0)
    return [
        attempt(lambda g=g: setattr(x, "grad", g))
        for g in (lib.ones(3, dtype=lib.float64), lib.ones(2), 1.0, [1.0, 2.0], x.detach().int(), x)
    ]


def deleted(lib):
    x = leaf(lib, 1.0)
    (x * 2).sum().backward()
    del x.grad
    return x.grad


def of_an_inner_result(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    (y**2).sum().backward()
    return y.grad, x.grad, y.retains_grad, x.retains_grad


def retained_twice(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    (y * 3).sum().backward(retain_graph=True)
    (y * 3).sum().backward()
    return y.grad


def retained_after_a_hook_that_changes(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.retain_grad()
    y.register_hook(lambda g: g * 100)
    y.sum().backward()
    return y.grad, x.grad


def retained_of_a_leaf(lib):
    x = leaf(lib, 1.0)
    x.retain_grad()
    x.sum().backward()
    return x.grad, x.retains_grad, attempt(lambda: lib.ones(1).retain_grad())


def retained_through_a_write(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    return y.grad, x.grad


def shared_by_two_leaves(lib):
    x, y = leaf(lib, 1.0), leaf(lib, 2.0)
    (x + y).sum().backward()
    x.grad.mul_(5)
    return x.grad, y.grad


def shared_with_the_cotangent(lib):
    x = leaf(lib, 1.0, 2.0)
    given = lib.ones(2, dtype=lib.float64)
    (x + 0).backward(given)
    x.grad.zero_()
    return given


def of_an_expanded_leaf(lib):
    x = lib.ones(3, dtype=lib.float64).expand(2, 3).requires_grad_()
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return x.grad


def of_a_leaf_in_columns(lib):
    x = lib.ones(2, 3, dtype=lib.float64).t().requires_grad_()
    (x * lib.ones(3, 2, dtype=lib.float64)).sum().backward()
    return x.grad, list(x.grad.stride())


def that_requires_grad(lib):
    x = leaf(lib, 2.0)
    (x**3).sum().backward(create_graph=True)
    requires = x.grad.requires_grad
    (x.grad * 1).sum().backward()
    return requires, x.grad


def of_float32_from_float64(lib):
    x = lib.ones(2, requires_grad=True)
    (x.double() * 2).sum().backward()
    return x.grad


def of_a_leaf_that_no_longer_requires_grad(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    return x.grad


def after_the_leaf_was_detached(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    y.detach_()
    return y.requires_grad, y.is_leaf, attempt(lambda: y.sum().backward())


def in_a_pass_that_fails(lib):
    x, y = leaf(lib, 1.0), leaf(lib, 2.0)
    z = y * 2

    def fails(grad):
        raise ValueError

    z.register_hook(fails)
    outcome = attempt(lambda: (x * 3 + z).sum().backward())
    return outcome, y.grad


def for_zero_elements(lib):
    x = lib.ones(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    return x.grad


def under_no_grad(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    with lib.no_grad():
        y.backward(lib.ones(1, dtype=lib.float64))
    return x.grad


def version_of_the_gradient(lib):
    x = leaf(lib, 1.0)
    (x * 2).sum().backward()
    before = x.grad._version
    (x * 2).sum().backward()
    return before, x.grad._version


def post_accumulate_hooks(lib):
    x = leaf(lib, 1.0)
    log = []
    handle = x.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.tolist()))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    return log, x.grad


def post_accumulate_hook_that_drops_the_gradient(lib):
    x = leaf(lib, 1.0)
    x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
    (x * 2).sum().backward()
    return x.grad, attempt(lambda: (x * 2).register_post_accumulate_grad_hook(print))


def hook_that_answers_another_shape(lib):
    x = leaf(lib, 1.0, 2.0)
    x.register_hook(lambda g: lib.ones(3, dtype=lib.float64))
    return attempt(lambda: (x * 2).sum().backward())


def hook_that_answers_another_type(lib):
    x = leaf(lib, 1.0, 2.0)
    x.register_hook(lambda g: 3.0)
    return attempt(lambda: (x * 2).sum().backward())


def one_leaf_used_twice(lib):
    x = leaf(lib, 3.0)
    log = []
    x.register_hook(lambda g: log.append(g.tolist()))
    (x * x + x).sum().backward()
    return log, x.grad


BEHAVIOURS = [
    value
    for value in list(globals().values())
    if callable(value) and getattr(value, "__module__", "") == __name__
]


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda b: b.__name__)
def test_gradient(torch, behaviour):
    assert_same(behaviour, torch)
