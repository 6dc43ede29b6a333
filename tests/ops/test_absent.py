"""An absent tangent or gradient is not multiplied: `inf * 0` would hide what exists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as nn_functional
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec.core.tensor import Tensor, wrap
from gradspec.dispatch.registry import BY_NAME, import_all

from .cases import (
    CASES,
    Case,
    at,
    call_gradspec,
    convert,
    is_differentiable,
    leaf,
    outputs,
    variables,
)

inf = float("inf")

SEVERAL = [
    case
    for case in CASES
    if is_differentiable(case.op) and len(variables(case.op, case.arguments())) > 1
]


def _tangents(case: Case, only: int | None) -> list[Any]:
    """The tangents of the outputs of a call, of one argument's or of all."""
    arguments = convert(case.op, case.arguments(), lambda array, _: wrap(array))
    places = variables(case.op, case.arguments())
    with dual_level():
        for number, (name, position) in enumerate(places):
            if only in (None, number):
                (primal,) = at(arguments, [(name, position)])
                weights = np.cos(1.0 + np.arange(primal.numel())).reshape(primal.shape)
                dual = make_dual(primal, wrap(weights.astype(primal.array.dtype)))
                if position is None:
                    arguments[name] = dual
                else:
                    arguments[name][position] = dual
        found = outputs(case.op, call_gradspec(case.op, arguments))
        tangents = [unpack_dual(output).tangent for output in found]
        for output, tangent in zip(found, tangents, strict=True):
            if tangent is not None:
                assert (tangent.shape, tangent.dtype) == (output.shape, output.dtype)
    return [None if tangent is None else tangent.numpy(force=True) for tangent in tangents]


@pytest.mark.parametrize("case", SEVERAL, ids=lambda case: case.label)
def test_the_tangents_of_single_arguments_add_up_to_that_of_all(case: Case) -> None:
    count = len(variables(case.op, case.arguments()))
    alone = [_tangents(case, number) for number in range(count)]
    for number, together in enumerate(_tangents(case, None)):
        parts = [tangents[number] for tangents in alone if tangents[number] is not None]
        if together is None:
            assert not parts
        else:
            np.testing.assert_allclose(sum(parts), together, rtol=1e-11, atol=1e-12)


def test_no_rule_is_handed_all_tangents_as_one() -> None:
    """A rule names what it reads; nothing can be filled with zeros behind its back."""
    import_all()
    for op in BY_NAME.values():
        if op.jvp is not None and not op.name.startswith("test_"):
            names = op.jvp.__code__.co_varnames[: op.jvp.__code__.co_argcount]
            params = {"self" if p.name == "input" else p.name for p in op.params}
            known = {*params, *(f"{name}_t" for name in params), "result"}
            assert set(names) <= known, op.name


def number(value: float) -> Tensor:
    return wrap(np.float64(value) * np.ones(()))


def _of(function: Callable[..., Tensor], *values: Any, by: int) -> float | list[float] | None:
    """The tangent of a result, where one argument has the tangent 1."""
    given = [number(v) if isinstance(v, float) else v for v in values]
    with dual_level():
        given[by] = make_dual(given[by], gs.ones_like(given[by]))
        tangent = unpack_dual(function(*given)).tangent
    return None if tangent is None else tangent.tolist()


ONE_SIDED: dict[str, tuple[Callable[..., Tensor], tuple[Any, ...], int, Any]] = {
    "inf * x": (gs.mul, (inf, 0.0), 1, inf),
    "x * 0 at inf": (gs.mul, (inf, 0.0), 0, 0.0),
    "inf / x": (gs.div, (inf, 2.0), 1, -inf),
    "x / 2 at inf": (gs.div, (inf, 2.0), 0, 0.5),
    "x / 0": (gs.div, (1.0, 0.0), 0, inf),
    "0 ** x": (gs.pow, (0.0, 0.3), 1, 0.0),
    "x ** 2 at -inf": (gs.pow, (-inf, 2.0), 0, -inf),
    "x * log(2) at inf": (gs.xlogy, (inf, 2.0), 0, np.log(2.0)),
    "inf * log(x)": (gs.xlogy, (inf, 2.0), 1, inf),
    "hypot(inf, x)": (gs.hypot, (inf, 3.0), 1, 0.0),
    "inf + x * 0": (gs.addcmul, (inf, 2.0, 0.0), 1, 0.0),
    "x + inf * 0": (gs.addcmul, (1.0, inf, 0.0), 0, 1.0),
    "x + 1 / 0": (gs.addcdiv, (1.0, 1.0, 0.0), 0, 1.0),
    "from x to inf": (gs.lerp, (0.0, inf, 0.25), 0, 0.75),
    "x modulo inf": (gs.fmod, (1.0, inf), 0, 1.0),
    "x @ 2 at inf": (gs.matmul, (gs.tensor([[inf]]), gs.tensor([[2.0]])), 0, [[2.0]]),
    "a bias": (
        nn_functional.linear,
        (gs.tensor([[inf]]), gs.tensor([[1.0]]), gs.tensor([2.0])),
        2,
        [[1.0]],
    ),
    "a shift": (
        lambda x, weight, bias: nn_functional.layer_norm(x, [2], weight, bias),
        (gs.tensor([[1.0, 3.0]]), gs.tensor([inf, 1.0]), gs.tensor([0.0, 0.0])),
        2,
        [[1.0, 1.0]],
    ),
    "of a list": (lambda a, b: gs.cat([a, b]), (gs.tensor([inf]), gs.tensor([1.0])), 1, [0.0, 1.0]),
    "broadcast": (gs.add, (gs.ones(2, 2), gs.tensor([inf, 1.0])), 1, [[1.0, 1.0]] * 2),
    "of the sign alone": (gs.copysign, (1.0, inf), 1, None),
    "to the next number": (gs.nextafter, (1.0, 2.0), 1, None),
    "running sums, from -inf on": (
        lambda x: gs.logcumsumexp(x, 0),
        (gs.tensor([-inf, 0.0, -inf], dtype=gs.float64),),
        0,
        [0.0, 1.0, 1.0],
    ),
}
"""A function, its arguments, which of them has the tangent, and that of the result."""


@pytest.mark.parametrize("name", ONE_SIDED)
def test_a_tangent_on_one_side_where_the_other_is_not_finite(name: str) -> None:
    function, values, by, wanted = ONE_SIDED[name]
    found = _of(function, *values, by=by)
    if wanted is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_tangent_of_another_dtype_is_brought_to_that_of_the_result() -> None:
    with dual_level():
        x = make_dual(gs.ones(2), gs.ones(2))
        wide = unpack_dual(x * gs.tensor([inf, 2.0], dtype=gs.float64)).tangent
        turned = unpack_dual(gs.complex(x, gs.tensor([inf, 2.0]))).tangent
    assert (wide.dtype, wide.tolist()) == (gs.float64, [inf, 2.0])
    assert (turned.dtype, turned.tolist()) == (gs.complex64, [1 + 0j, 1 + 0j])


def test_a_tangent_of_what_is_constant_is_not_lost() -> None:
    with dual_level():
        made = make_dual(gs.tensor([0.5, 1.0]), gs.ones(2))
        with pytest.raises(RuntimeError, match="differentiable with respect to argument 'weight'"):
            nn_functional.nll_loss(gs.zeros(1, 2), gs.tensor([0]), weight=made)


def test_writing_a_dual_into_what_is_infinite() -> None:
    x, y = gs.tensor([inf, 2.0]), gs.tensor([0.0, 3.0])
    with dual_level():
        dual = make_dual(y.clone(), gs.ones(2))
        x.mul_(dual)
        assert unpack_dual(x).tangent.tolist() == [inf, 2.0]
        dual.mul_(gs.tensor([inf, 1.0]))
        assert unpack_dual(dual).tangent.tolist() == [inf, 1.0]


def test_levels_within_levels() -> None:
    """`x * y` at an infinite `x`: by y it is x, by both of them 1."""
    x, y = gs.tensor([inf]), gs.tensor([0.0])
    with dual_level():
        outer = make_dual(x, gs.ones(1))
        with dual_level():
            inner = make_dual(y, gs.ones(1))
            by_y = unpack_dual(outer * inner).tangent
        assert unpack_dual(by_y).primal.tolist() == [inf]
        assert unpack_dual(by_y).tangent.tolist() == [1.0]


def test_forward_over_reverse_and_reverse_over_forward() -> None:
    x, y = gs.tensor([inf], requires_grad=True), gs.tensor([3.0])
    with dual_level():
        dual = make_dual(y, gs.ones(1))
        (slope,) = gs.autograd.grad((x * dual).sum(), x)
        assert unpack_dual(slope).primal.tolist() == [3.0]
        assert unpack_dual(slope).tangent.tolist() == [1.0]
        tangent = unpack_dual(x * dual).tangent
        assert tangent.tolist() == [inf]
        assert gs.autograd.grad(tangent.sum(), x)[0].tolist() == [1.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_an_output_that_nobody_used_counts_for_nothing(create_graph: bool) -> None:
    x = leaf(np.array([inf, 1.0]), True)
    (by_mean,) = gs.autograd.grad(gs.var_mean(x)[1], x, create_graph=create_graph)
    assert by_mean.tolist() == [0.5, 0.5]
    (by_mean,) = gs.autograd.grad(gs.std_mean(x)[1], x, create_graph=create_graph)
    assert by_mean.tolist() == [0.5, 0.5]


def test_a_node_that_no_gradient_arrives_at_gives_none() -> None:
    x = gs.ones(3, requires_grad=True)
    node = gs.var_mean(x)[0].grad_fn
    assert node(None, None) is None
    variance, mean = gs.var_mean(x)
    variance.grad_fn.register_prehook(lambda grads: (None, None))
    (variance + mean).backward()
    assert x.grad is None
