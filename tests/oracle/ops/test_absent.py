"""One argument alone has a tangent, or one output alone a gradient, beside what is not finite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as nn_functional
from gradspec.autograd import forward_ad as ours
from gradspec.core.tensor import wrap
from tests.ops.cases import (
    CASES,
    Arguments,
    Case,
    at,
    call_gradspec,
    is_differentiable,
    outputs,
    variables,
)

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.*torch.jit.script"),
    pytest.mark.filterwarnings("ignore:index_reduce"),
    pytest.mark.filterwarnings("ignore:Using a target size"),
    pytest.mark.filterwarnings("ignore:size_average"),
    pytest.mark.filterwarnings("ignore:reduction"),
]

inf, nan = float("inf"), float("nan")
Place = tuple[str, int | None]

NOT_THE_SAME_AT_INFINITY = {
    "remainder.Tensor": "its slope is rounded from what is left, which is nan",
    "fmod.Tensor": "its slope is rounded from what is left, which is nan",
    "linalg_lu_solve": "substitution meets zeros of the other triangle",
    "lu_solve": "substitution meets zeros of the other triangle",
    "linalg_solve_triangular": "substitution meets zeros of the other triangle",
    "linalg_lstsq": "NumPy raises where a matrix is infinite",
    "ldexp.Tensor": "the values differ, too",
    "grid_sampler_2d": "PyTorch reads outside of the memory",
    "grid_sampler_3d": "PyTorch reads outside of the memory",
}
"""Ops that have no nan of an absent tangent, but others that PyTorch does not have, or fails."""

SEVERAL = [
    case
    for case in CASES
    if is_differentiable(case.op)
    and case.number < 2
    and case.op.name not in NOT_THE_SAME_AT_INFINITY
    and len(variables(case.op, case.arguments())) > 1
]


@dataclass(frozen=True)
class Library:
    """The functions of one of the two libraries that a comparison needs."""

    tensor: Callable[[Any], Any]
    call: Callable[..., Any]
    forward_ad: Any


OURS = Library(lambda array: wrap(np.array(array)), call_gradspec, ours)


def _theirs() -> Library:
    import torch
    from torch.autograd import forward_ad

    from .comparison import call_torch

    return Library(lambda array: torch.tensor(np.array(array)), call_torch, forward_ad)


def _with(arguments: Arguments, place: Place, value: Any) -> Arguments:
    name, position = place
    if position is None:
        return {**arguments, name: value}
    items = list(arguments[name])
    items[position] = value
    return {**arguments, name: items}


def _tangents(library: Library, case: Case, arguments: Arguments, place: Place) -> list[Any]:
    """The tangents of the outputs where the argument at one place alone has one."""

    def converted(value: Any) -> Any:
        if isinstance(value, list):
            return [converted(item) for item in value]
        return library.tensor(value) if isinstance(value, np.ndarray) else value

    given = {name: converted(value) for name, value in arguments.items()}
    (array,) = at(arguments, [place])
    weights = np.cos(1.0 + np.arange(array.size)).reshape(array.shape).astype(array.dtype)
    with library.forward_ad.dual_level():
        (primal,) = at(given, [place])
        dual = library.forward_ad.make_dual(primal, library.tensor(weights))
        found = outputs(case.op, library.call(case.op, _with(given, place, dual)))
        tangents = [library.forward_ad.unpack_dual(output).tangent for output in found]
    return [None if each is None else each.detach().numpy() for each in tangents]


@pytest.mark.parametrize("case", SEVERAL, ids=lambda case: case.label)
def test_it_is_nan_only_where_pytorch_says_so(case: Case) -> None:
    """An argument without a tangent has an infinite element. PyTorch itself has more nan: its
    products of matrices and convolutions do fill in zeros."""
    arguments = case.arguments()
    places = variables(case.op, arguments)
    for infinite in places:
        (array,) = at(arguments, [infinite])
        if not array.size:
            continue
        array = np.array(array)
        array.flat[0] = inf
        given = _with(arguments, infinite, array)
        for place in places:
            if place != infinite:
                _compare(case, given, place)


def _compare(case: Case, given: Arguments, place: Place) -> None:
    try:
        wanted = _tangents(_theirs(), case, given, place)
    except (NotImplementedError, RuntimeError, TypeError):
        return  # PyTorch has no forward mode for it, no answer, or not these arguments
    for mine, other in zip(_tangents(OURS, case, given, place), wanted, strict=True):
        if other is not None:
            assert mine is not None
            known = ~np.isnan(other)
            np.testing.assert_allclose(
                mine[known], other[known], rtol=1e-9, atol=1e-12, err_msg=f"by {place}"
            )


Call = Callable[[Any, Any], Any]
SCALARS: dict[str, Call] = {
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "xlogy": lambda x, y: x.xlogy(y),
    "hypot": lambda x, y: x.hypot(y),
    "atan2": lambda x, y: x.atan2(y),
    "maximum": lambda x, y: x.maximum(y),
    "fmax": lambda x, y: x.fmax(y),
    "logaddexp": lambda x, y: x.logaddexp(y),
    "addcmul": lambda x, y: x.addcmul(y, y),
    "lerp": lambda x, y: x.lerp(y, 0.25),
    "copysign": lambda x, y: x.copysign(y),
    "clamp": lambda x, y: x.clamp(min=y),
}
SPECIAL = (0.0, -0.0, 1.5, -2.0, inf, -inf, nan, 5e-324, 1e300)


@pytest.mark.parametrize("name", SCALARS)
@pytest.mark.parametrize("by", [0, 1])
def test_at_special_points(name: str, by: int) -> None:
    pairs = np.array([(x, y) for x in SPECIAL for y in SPECIAL])
    found = []
    for library in (OURS, _theirs()):
        given = [library.tensor(np.ascontiguousarray(column)) for column in pairs.T]
        ones = library.tensor(np.ones(len(pairs)))
        with library.forward_ad.dual_level():
            given[by] = library.forward_ad.make_dual(given[by], ones)
            tangent = library.forward_ad.unpack_dual(SCALARS[name](*given)).tangent
        found.append(None if tangent is None else tangent.numpy())
    mine, other = found
    if other is None:
        assert mine is None
        return
    only_mine = [tuple(pair) for pair in pairs[np.isnan(mine) & ~np.isnan(other)]]
    assert only_mine == []


def _gradients(lib: Any, create_graph: bool) -> list[Any]:
    """The gradient of each output alone of ops that have several."""
    found = []
    for name, values in (
        ("var_mean", [inf, 1.0]),
        ("std_mean", [1.0, -inf]),
        ("aminmax", [1.0, 2.0]),
    ):
        for number in range(2):
            x = lib.tensor(values, dtype=lib.float64, requires_grad=True)
            output = getattr(lib, name)(x)[number]
            (grad,) = lib.autograd.grad(output, x, create_graph=create_graph)
            found.append(grad.tolist())
    return found


@pytest.mark.parametrize("create_graph", [False, True])
def test_outputs_that_nobody_used(create_graph: bool) -> None:
    import torch

    assert repr(_gradients(gs, create_graph)) == repr(_gradients(torch, create_graph))


def _constants(lib: Any, nn: Any) -> dict[str, Any]:
    x = lib.tensor([[0.5, -1.0]])
    target = lib.tensor([1])
    weight = lib.tensor([1.0, 2.0], requires_grad=True)
    other = lib.ones(2)
    return {
        "nll_loss": lambda: nn.nll_loss(x, target, weight=weight),
        "cross_entropy": lambda: nn.cross_entropy(x, target, weight=weight),
        "multi_margin_loss": lambda: nn.multi_margin_loss(x, target, weight=weight),
        "a mean": lambda: nn.batch_norm(x, weight, other),
        "a variance": lambda: nn.batch_norm(x, other, weight),
        "a mean that is updated": lambda: nn.batch_norm(
            lib.tensor([[0.5, 1.0], [2.0, 1.0]]), weight, other.clone(), training=True
        ),
    }


@pytest.mark.parametrize("name", list(_constants(gs, nn_functional)))
def test_constants_of_an_op_that_require_grad(name: str) -> None:
    import torch

    for lib, nn in ((gs, nn_functional), (torch, torch.nn.functional)):
        with pytest.raises(RuntimeError, match="not differentiable with respect to argument"):
            _constants(lib, nn)[name]()
        with lib.no_grad():
            _constants(lib, nn)[name]()
