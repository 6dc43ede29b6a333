"""`autograd.grad` inside of function transforms: what it knows there, one gradient an example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.behaviours import assert_same

pytestmark = pytest.mark.oracle

Function = Callable[[Any], Any]
Inner = Callable[[Any, Any], Any]


def _x(g: Any) -> Any:
    return g.tensor([[0.3, -0.7], [1.1, 0.4], [0.9, 2.0]], dtype=g.float64)


def _leaf(g: Any) -> Any:
    return g.tensor([1.0, 2.0], dtype=g.float64, requires_grad=True)


def _middle(g: Any, x: Any) -> Any:
    y = x.sin()
    return g.autograd.grad((y**3).sum(), y, create_graph=True)[0].sum()


def _detached(g: Any, x: Any) -> Any:
    z = x.detach()
    z.requires_grad = True
    return g.autograd.grad((z**3).sum(), z)[0].sum() + x.sum()


def _of_leaf(g: Any, x: Any) -> Any:
    z = _leaf(g)
    return g.autograd.grad((z**3 * x).sum(), z, create_graph=True)[0].prod()


def _of_leaf_and_others(g: Any, x: Any) -> Any:
    z, y = _leaf(g), x * 2
    by_leaf, by_result = g.autograd.grad((z**2 * y).sum() * x[0], (z, y), create_graph=True)
    return by_leaf.prod() + by_result.sum()


def _of_roots_that_differ(g: Any, x: Any) -> Any:
    z = _leaf(g)
    same = z**2
    roots, cotangents = (same, (z * x).sum()), (x * x, x[0])
    return g.autograd.grad(roots, (z, same), cotangents, create_graph=True)[0].prod()


def _twice(g: Any, x: Any) -> Any:
    (slope,) = g.autograd.grad((x**4).sum(), x, create_graph=True)
    return g.autograd.grad(slope.sum(), x, create_graph=True)[0].sum()


def _kept(g: Any, x: Any) -> Any:
    y = (x**3).sum()
    (kept,) = g.autograd.grad(y, x, retain_graph=True)
    return (g.autograd.grad(y, x, create_graph=True)[0] * kept).sum()


def _freed(g: Any, x: Any) -> Any:
    y = (x**3).sum()
    g.autograd.grad(y, x)
    return g.autograd.grad(y, x)[0].sum()


def _unused(g: Any, x: Any) -> Any:
    return g.autograd.grad((x**4).sum(), _leaf(g))[0].sum()


def _filled(g: Any, x: Any) -> Any:
    inputs = (x, _leaf(g))
    found = g.autograd.grad((x**4).sum(), inputs, create_graph=True, materialize_grads=True)
    return found[0].sum() + found[1].sum()


INNER: dict[str, Inner] = {
    "without a graph": lambda g, x: g.autograd.grad((x**3).sum(), x)[0].sum(),
    "with a graph": lambda g, x: g.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum(),
    "with a cotangent": lambda g, x: g.autograd.grad(x**3, x, x * 2, create_graph=True)[0].sum(),
    "no cotangent": lambda g, x: g.autograd.grad(x**3, x)[0].sum(),
    "middle": _middle,
    "detached": _detached,
    "leaf": _of_leaf,
    "leaf and others": _of_leaf_and_others,
    "roots that differ": _of_roots_that_differ,
    "twice": _twice,
    "kept": _kept,
    "freed": _freed,
    "unused": _unused,
    "filled": _filled,
    "backward": lambda g, x: (x**3).sum().backward(),
}

OUTER: dict[str, Callable[[Any, Function], Any]] = {
    "grad": lambda g, f: g.func.grad(f)(_x(g)[0]),
    "vjp": lambda g, f: g.func.vjp(f, _x(g)[0])[0],
    "jvp": lambda g, f: g.func.jvp(f, (_x(g)[0],), (_x(g)[1],)),
    "vmap": lambda g, f: g.func.vmap(f)(_x(g)),
    "vmap of what requires grad": lambda g, f: g.func.vmap(f)(_x(g).requires_grad_()).detach(),
    "vmap(grad)": lambda g, f: g.func.vmap(g.func.grad(f))(_x(g)),
    "vmap(vmap(grad))": lambda g, f: g.func.vmap(g.func.vmap(g.func.grad(f)))(
        g.stack([_x(g), 2 * _x(g)])
    ),
    "grad(vmap)": lambda g, f: g.func.grad(lambda x: g.func.vmap(f)(x).sum())(_x(g)),
    "grad(grad)": lambda g, f: g.func.grad(lambda x: g.func.grad(f)(x).sum())(_x(g)[0]),
    "jacrev": lambda g, f: g.func.jacrev(f)(_x(g)[0]),
    "jacfwd": lambda g, f: g.func.jacfwd(f)(_x(g)[0]),
    "jvp(grad)": lambda g, f: g.func.jvp(g.func.grad(f), (_x(g)[0],), (_x(g)[1],)),
    "vmap(jvp)": lambda g, f: g.func.vmap(lambda x: g.func.jvp(f, (x,), (x,))[1])(_x(g)),
}


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
def test_compositions(torch: Any, outer: str, inner: str) -> None:
    assert_same(lambda g: OUTER[outer](g, lambda x: INNER[inner](g, x)), torch)


def test_captured_tensors_are_not_used(torch: Any) -> None:
    def unused(g: Any, **options: Any) -> Any:
        w = g.tensor(2.0, requires_grad=True)

        def loss(x: Any) -> Any:
            (found,) = g.autograd.grad((x * w).sum(), w, **options)
            return x.sum() if found is None else found

        return g.func.grad(loss)(g.ones(2))

    assert_same(unused, torch)
    assert_same(lambda g: unused(g, allow_unused=True), torch)

    def outside(g: Any) -> Any:
        w = g.tensor(2.0, requires_grad=True)
        root = w**2
        return g.func.grad(lambda x: g.autograd.grad(root, w)[0] * x.sum())(g.ones(2))

    assert_same(outside, torch)


def test_between_two_calls_of_vmap(torch: Any) -> None:
    def loss(g: Any, by: Callable[[Any, Any], Any]) -> Any:
        def inner(x: Any) -> Any:
            def one(y: Any) -> Any:
                return g.autograd.grad(by(x, y), x, create_graph=True)[0].sum() * y

            return g.func.vmap(one)(g.tensor([1.0, 2.0])).sum()

        return g.func.vmap(g.func.grad(inner))(_x(g))

    assert_same(lambda g: loss(g, lambda x, y: (x**3).sum()), torch)
    assert_same(lambda g: loss(g, lambda x, y: (x**3).sum() * y), torch)


def test_levels_that_inputs_lack(torch: Any) -> None:
    def loss(g: Any) -> Any:
        def f(x: Any, y: Any) -> Any:
            z, u, v = _leaf(g), x * 2, y.sin()
            a, b, c = g.autograd.grad((z**2 * u).sum() * v, (z, u, v), create_graph=True)
            return a.prod() + b.sum() * c

        by_both = g.func.grad(f, argnums=(0, 1))
        by_one = g.func.vmap(by_both, in_dims=(None, 0))
        return g.func.vmap(by_one, in_dims=(0, None))(_x(g), g.tensor([1.0, 2.0]).double())

    assert_same(loss, torch)


@pytest.mark.parametrize("outer", ["grad", "vjp", "jvp", "grad(grad)", "jvp(grad)", "jacfwd"])
def test_leaves_made_inside_end_with_the_transform(torch: Any, outer: str) -> None:
    assert_same(lambda g: OUTER[outer](g, lambda x: (_leaf(g) * x**2).sum()), torch)


def test_a_leaf_outside_stays_connected(torch: Any) -> None:
    def slopes(g: Any) -> Any:
        w = g.tensor(2.0, dtype=g.float64, requires_grad=True)
        slope = g.func.grad(lambda x: (_leaf(g) * x**2 * w).sum())(_x(g)[0])
        value, tangent = g.func.jvp(lambda x: (_leaf(g) * x**2 * w).sum(), (_x(g)[0],), (_x(g)[1],))
        return [g.autograd.grad(out.sum(), w)[0] for out in (slope, value, tangent)]

    assert_same(slopes, torch)


def test_checkpoints_keep_random_numbers_inside_of_vmap(torch: Any) -> None:
    def run(g: Any) -> Any:
        def f(x: Any) -> Any:
            return g.utils.checkpoint.checkpoint(lambda v: v.sin(), x, use_reentrant=False)

        return g.func.vmap(f)(_x(g))

    assert_same(run, torch)
