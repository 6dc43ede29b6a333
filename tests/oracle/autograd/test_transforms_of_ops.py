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


def weighed(g: Any, y: Any) -> Any:
    """A number, in which each element counts differently."""
    weights = np.cos(1.0 + np.arange(max(y.numel(), 1)))[: y.numel()]
    return (y * g.tensor(weights).reshape(y.shape)).sum()


TRANSFORMS: dict[str, Callable[[Any, Function], Function]] = {
    "grad": lambda g, f: g.func.grad(lambda x: weighed(g, f(x))),
    "vjp": lambda g, f: lambda x: g.func.vjp(f, x)[1](g.cos(f(x).detach()))[0],
    "jvp": lambda g, f: lambda x: g.func.jvp(f, (x,), (g.ones_like(x),))[1],
    "jacrev": lambda g, f: g.func.jacrev(f),
    "jacfwd": lambda g, f: g.func.jacfwd(f),
    "hessian": lambda g, f: g.func.hessian(lambda x: weighed(g, f(x))),
    "vmap": lambda g, f: lambda x: g.func.vmap(f)(g.stack([x, x * 0.99])),
}


WRONG_IN_PYTORCH = {
    *("linalg_det", "linalg_solve_ex"),  # derivatives of `jacfwd` differ from those of `jacrev`
    *("linalg_svd", "cholesky_inverse"),  # of one matrix in a batch; of a triangle
    "scatter_reduce.two",  # `jacfwd` of a product
}
"""Ops of which slopes by differences are ours, and not PyTorch's, in some pair of transforms."""

WITHOUT_DERIVATIVE = ("bessel", "airy", "polynomial")
"""Parts of names of special functions that PyTorch takes for constants."""


def is_drawn(case: Case) -> bool:
    """Return whether PyTorch has derivatives of an op to compare with."""
    name = case.op.name
    if name in WRONG_IN_PYTORCH or any(part in name for part in WITHOUT_DERIVATIVE):
        return False
    return bool(variables(case.op, case.arguments()))


DRAWN = [case for case in CASES if is_drawn(case)]


def as_function(g: Any, call: Any, leaf: Any, case: Case) -> tuple[Function, Any]:
    """The op as a function of its first variable, and that variable."""
    arguments = case.arguments()
    (name, place), *_ = variables(case.op, arguments)
    converted = convert(case.op, arguments, lambda array, _: leaf(array))
    value = converted[name] if place is None else converted[name][place]

    def function(x: Any) -> Any:
        given = dict(converted)
        if place is None:
            given[name] = x
        else:
            given[name] = [*given[name][:place], x, *given[name][place + 1 :]]
        return outputs(case.op, call(case.op, given))[0] * 1.0

    return function, value


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    case=st.sampled_from(DRAWN),
    names=st.tuples(st.sampled_from(sorted(TRANSFORMS)), st.sampled_from(sorted(TRANSFORMS))),
)
def test_two_deep(torch: Any, case: Case, names: tuple[str, str]) -> None:
    import torch.func

    from tests.oracle.ops.comparison import call_torch

    found = []
    for g, call in ((torch, call_torch), (gs, call_gradspec)):
        function, value = as_function(g, call, lambda array, g=g: g.tensor(np.array(array)), case)
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
    assume(np.isfinite(theirs).all())  # third derivatives of `eigvalsh` are NaN there, and not here
    assert mine.shape == theirs.shape
    np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-8)


def test_what_a_rule_refuses_is_done_one_by_one() -> None:
    def largest(x: Any) -> Any:
        return gs.max(x, 0)[0] * 3

    assert gs.func.grad(gs.func.jacrev(largest))(gs.tensor(1.5)).item() == 0
    assert gs.func.vmap(gs.func.grad(largest))(gs.tensor([1.0, 2.0])).tolist() == [3.0, 3.0]
    factors, pivots = gs.tensor([[[2.0]], [[4.0]]]), gs.tensor([[1], [1]])
    found = gs.func.jacrev(lambda b: gs.linalg.lu_solve(factors, pivots, b))(gs.tensor([[1.0]]))
    assert found.flatten().tolist() == [0.5, 0.25]
