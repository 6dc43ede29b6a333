"""Transforms of transforms of every op of the table give PyTorch's values, by random draws."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import gradspec as gs
from tests.ops.cases import CASES, Case, call_gradspec, convert, outputs, variables

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning"),
]

Function = Callable[[Any], Any]


def weights_of(y: Any) -> Any:
    """Numbers by which each element counts differently."""
    return np.cos(1.0 + np.arange(max(y.numel(), 1)))[: y.numel()].reshape(tuple(y.shape))


def weighed(g: Any, y: Any) -> Any:
    """A number in which each element counts differently."""
    return (y * g.tensor(weights_of(y))).sum()


TRANSFORMS: dict[str, Callable[[Any, Function], Function]] = {
    "grad": lambda g, f: g.func.grad(lambda x: weighed(g, f(x))),
    "vjp": lambda g, f: lambda x: pulled_back(g, *g.func.vjp(f, x)),
    "jvp": lambda g, f: lambda x: g.func.jvp(f, (x,), (g.ones_like(x),))[1],
    "jacrev": lambda g, f: g.func.jacrev(f),
    "jacfwd": lambda g, f: g.func.jacfwd(f),
    "hessian": lambda g, f: g.func.hessian(lambda x: weighed(g, f(x))),
    "vmap": lambda g, f: lambda x: g.func.vmap(f)(g.stack([x, x * 0.99])),
}


def pulled_back(g: Any, y: Any, pull_back: Any) -> Any:
    return pull_back(g.tensor(weights_of(y)).expand(y.shape))[0]


def slopes(function: Callable[[Any], Any], x: Any) -> Any:
    """The derivatives of a function of arrays by central differences, three steps extrapolated."""
    found = np.zeros(function(x).shape + x.shape)
    for place in np.ndindex(x.shape):
        by_step = []
        for step in (1e-3, 5e-4, 2.5e-4):
            there, back = x.copy(), x.copy()
            there[place] += step
            back[place] -= step
            by_step.append((function(there) - function(back)) / (2 * step))
        first, second, third = by_step
        once, again = (4 * second - first) / 3, (4 * third - second) / 3
        found[(..., *place)] = (16 * again - once) / 15
    return found


def judged(name: str, inner: Function, x: Any) -> Any:
    """Compute the result that an outer transform must give, without that transform."""

    def of_arrays(function: Function) -> Callable[[Any], Any]:
        return lambda array: function(gs.tensor(array)).detach().numpy()

    if name == "vmap":
        return np.stack([of_arrays(inner)(x), of_arrays(inner)(x * 0.99)])
    if name == "hessian":
        return slopes(of_arrays(TRANSFORMS["grad"](gs, inner)), x)
    found = slopes(of_arrays(inner), x)
    if name in ("jacrev", "jacfwd"):
        return found
    if name == "jvp":
        return found.sum(tuple(range(found.ndim - x.ndim, found.ndim)))
    y = inner(gs.tensor(x))
    return np.tensordot(weights_of(y), found, y.ndim)


DRAWN = [(case, each) for case in CASES for each in variables(case.op, case.arguments())]


def as_function(g: Any, call: Any, leaf: Any, case: Case, variable: Any) -> tuple[Function, Any]:
    """The op as a function of one of its variables, and that variable."""
    name, place = variable
    converted = convert(case.op, case.arguments(), lambda array, _: leaf(array))
    value = converted[name] if place is None else converted[name][place]

    def function(x: Any) -> Any:
        given = dict(converted)
        if place is None:
            given[name] = x
        else:
            given[name] = [*given[name][:place], x, *given[name][place + 1 :]]
        return outputs(case.op, call(case.op, given))[0] * 1.0

    return function, value


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    drawn=st.sampled_from(DRAWN),
    names=st.tuples(st.sampled_from(sorted(TRANSFORMS)), st.sampled_from(sorted(TRANSFORMS))),
)
def test_two_deep(torch: Any, drawn: tuple[Case, Any], names: tuple[str, str]) -> None:
    """Values are PyTorch's; where those are others, the inner transform and differences judge.

    They often are: PyTorch's forward mode of decompositions, and `vmap` of writes to what is the
    same for all examples.
    """
    import torch.func

    from tests.oracle.ops.comparison import call_torch

    found = []
    for g, call in ((torch, call_torch), (gs, call_gradspec)):
        function, value = as_function(g, call, lambda array, g=g: g.tensor(np.array(array)), *drawn)
        for name in reversed(names):
            function = TRANSFORMS[name](g, function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found.append(function(value).detach().numpy())
            except (RuntimeError, NotImplementedError, TypeError, IndexError, ValueError):
                assume(g is not torch)  # what PyTorch cannot do
                raise
    theirs, mine = found
    if mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=1e-8, atol=1e-8):
        return
    function, value = as_function(gs, call_gradspec, gs.tensor, *drawn)
    expected = judged(names[0], TRANSFORMS[names[1]](gs, function), value.numpy())
    assert mine.shape == expected.shape
    size = np.abs(expected).max(initial=1e-3)
    np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-5 * size)


@pytest.mark.parametrize("transform", ["jacfwd", "jacrev", "hessian"])
def test_no_elements(torch: Any, transform: str) -> None:
    def shapes(g: Any) -> Any:
        function = getattr(g.func, transform)(lambda x: (x * 2).flatten().cos().sum(0))
        return [tuple(function(g.zeros(shape)).shape) for shape in ((0,), (2, 0))]

    assert shapes(gs) == shapes(torch)
    x, y = gs.zeros(0, 3), gs.ones(2)
    found, aux = gs.func.jacfwd(lambda x, y: (x.sum() + y, {"y": y}), (0, 1), has_aux=True)(x, y)
    assert [tuple(block.shape) for block in found] == [(2, 0, 3), (2, 2)]
    assert aux["y"].tolist() == [1.0, 1.0]


def test_what_a_rule_refuses_is_done_one_by_one() -> None:
    def largest(x: Any) -> Any:
        return gs.max(x, 0)[0] * 3

    assert gs.func.grad(gs.func.jacrev(largest))(gs.tensor(1.5)).item() == 0
    assert gs.func.vmap(gs.func.grad(largest))(gs.tensor([1.0, 2.0])).tolist() == [3.0, 3.0]
    factors, pivots = gs.tensor([[[2.0]], [[4.0]]]), gs.tensor([[1], [1]])
    found = gs.func.jacrev(lambda b: gs.linalg.lu_solve(factors, pivots, b))(gs.tensor([[1.0]]))
    assert found.flatten().tolist() == [0.5, 0.25]
