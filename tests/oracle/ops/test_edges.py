"""Calls at the edge of what an op takes: the same values, dtypes and nodes as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def _singular(lib: Any, **options: Any) -> Any:
    triangle = lib.tensor([[1.0, 2.0], [0.0, 0.0]])
    if not options["upper"]:
        triangle = triangle.t().contiguous()
    triangle.requires_grad_()
    right = lib.ones(2, 2).requires_grad_()
    solution = lib.linalg.solve_triangular(triangle, right, **options)
    solution.sum().backward()
    return solution, right.grad


def _names(lib: Any, equation: str, *shapes: tuple[int, ...]) -> Any:
    return lib.einsum(equation, *(lib.ones(shape).requires_grad_() for shape in shapes))


def _padded(lib: Any, mode: str, *shape: int) -> Any:
    widths = [1, 1] * (len(shape) - 2)
    return lib.nn.functional.pad(lib.ones(shape).requires_grad_(), widths, mode=mode)


def _modified(lib: Any, function: Callable[[Any], Any]) -> Any:
    """The backward pass after the input of an op was modified."""
    x = leaf(lib, 1.0, 2.0, 3.0) * 1
    out = function(x)
    x.mul_(2)
    return attempt(lambda: out.abs().sum().backward())


def _tangent(lib: Any, function: Callable[[Any, Any], Any]) -> Any:
    """Return the tangent for a float32 vector and a float64 scalar that both have tangents."""
    modes = lib.autograd.forward_ad
    with modes.dual_level():
        x = modes.make_dual(lib.tensor([0.5, 1.5]), lib.tensor([1.0, 2.0]))
        y = modes.make_dual(lib.tensor(2.0, dtype=lib.float64), lib.tensor(3.0, dtype=lib.float64))
        return [part.detach() for part in modes.unpack_dual(function(x, y))]


def _empty_index(lib: Any, name: str, *args: Any, **options: Any) -> Any:
    """An index without elements writes nothing, whatever its shape and dtype."""
    x = lib.arange(6.0).view(2, 3)
    indices = [lib.tensor([]), lib.zeros(0, 3, dtype=lib.int64), lib.zeros(4, 0, 2).long()]
    return [getattr(x, name)(0, index, *args, **options) for index in indices]


CALLS: dict[str, Callable[[Any], Any]] = {
    "an empty index of scatter": lambda lib: _empty_index(lib, "scatter", lib.ones(2, 2)),
    "an empty index of a number": lambda lib: _empty_index(lib, "scatter", 5.0),
    "an empty index of scatter_add": lambda lib: _empty_index(lib, "scatter_add", lib.ones(2)),
    **{
        f"an empty index of {reduce}": lambda lib, reduce=reduce: _empty_index(
            lib, "scatter_reduce", lib.ones(2, 3), reduce=reduce, include_self=False
        )
        for reduce in ("sum", "prod", "mean", "amax", "amin")
    },
    "an empty index beyond the dimensions": lambda lib: lib.ones(2).scatter(1, lib.tensor([]), 1),
    "empty tensors joined along any dimension": lambda lib: [
        lib.cat([lib.empty(0), lib.empty(0, dtype=dtype)], dim)
        for dim in (0, 1, -3)
        for dtype in (lib.float32, lib.int64, lib.float64)
    ],
    "rolled along None": lambda lib: lib.arange(6).view(2, 3).roll(1, dims=None),
    "nothing rolled along no dimension": lambda lib: lib.roll(lib.ones(0, 3), 1, 5),
    "integers to negative powers": lambda lib: (
        lib.tensor([1, 2, 3, -1, -1, 0, 0, 2]) ** lib.tensor([-1, -1, -2, -3, -2, -1, -2, 3])
    ),
    "an integer to negative powers": lambda lib: (
        2 ** lib.tensor([-1, 3]),
        (-1) ** lib.tensor([-1, -2, 2]),
    ),
    "a negative power in place": lambda lib: lib.tensor([1, 2]).pow_(lib.tensor([-1, -1])),
    "singular upper": lambda lib: _singular(lib, upper=True),
    "singular lower": lambda lib: _singular(lib, upper=False),
    "singular on the right": lambda lib: _singular(lib, upper=True, left=False),
    "attention without features": lambda lib: lib.nn.functional.scaled_dot_product_attention(
        lib.ones(1, 2, 0), lib.ones(1, 3, 0), lib.ones(1, 3, 2)
    ),
    "plus": lambda lib: [+leaf(lib, 1.0), lib.positive(lib.tensor([1])), leaf(lib, 2.0).positive()],
    "plus bools": lambda lib: +lib.tensor([True]),
    "xlogy": lambda lib: lib.xlogy(leaf(lib, 0.0, 2.0), leaf(lib, 0.0, 3.0)),
    "xlogy of a number": lambda lib: lib.xlogy(2, leaf(lib, 1.0, 3.0)),
    "xlogy of zero": lambda lib: lib.xlogy(0, leaf(lib, -1.0, 0.0, 3.0, float("nan"))),
    "xlogy by a number": lambda lib: leaf(lib, 0.0, 2.0).xlogy(3),
    "xlogy by a negative number": lambda lib: lib.special.xlogy(leaf(lib, 0.0, 2.0), -3.0),
    "xlogy by zero": lambda lib: lib.special.xlogy(leaf(lib, 0.0, 2.0), 0),
    "xlogy of integers": lambda lib: lib.xlogy(lib.tensor([0, 2]), 3),
    "special.round": lambda lib: lib.special.round(leaf(lib, 0.25)),
    "special.round to a digit": lambda lib: lib.special.round(leaf(lib, 0.26), decimals=1),
    "rounded quotient": lambda lib: lib.div(leaf(lib, 5.0), 2, rounding_mode="floor"),
    "einsum of an outer product": lambda lib: _names(lib, "i,j->ij", (3,), (2,)),
    "einsum of a transposed outer product": lambda lib: _names(lib, "i,j->ji", (3,), (2,)),
    "einsum of elements": lambda lib: _names(lib, "ij,ij->ji", (2, 3), (2, 3)),
    "einsum of rows": lambda lib: _names(lib, "ij,j->ij", (2, 3), (3,)),
    "einsum of a batch": lambda lib: _names(lib, "bi,bj->bij", (2, 3), (2, 4)),
    "einsum of three": lambda lib: _names(lib, "i,j,k->kji", (2,), (3,), (4,)),
    "einsum of a diagonal": lambda lib: _names(lib, "ii->i", (3, 3)),
    "einsum of one": lambda lib: _names(lib, "ijk->kj", (2, 3, 4)),
    "einsum of all": lambda lib: _names(lib, "ij->", (2, 3)),
    "multi_dot": lambda lib: lib.linalg.multi_dot([leaf(lib, 2.0), lib.ones(1, 3).double()]),
    "multi_dot of matrices": lambda lib: lib.linalg.multi_dot(
        [leaf(lib, 2.0, 3.0).view(1, 2), lib.ones(2, 3).double(), lib.ones(3, 2).double()]
    ),
    "cross entropy of probabilities": lambda lib: [
        lib.nn.functional.cross_entropy(
            leaf(lib, 2.0, 3.0).view(1, 2), lib.ones(1, 2).double(), reduction=reduction
        )
        for reduction in ("none", "sum")
    ],
    "a modified tensor that gather read": lambda lib: _modified(
        lib, lambda x: x.gather(0, lib.tensor([0, 0]))
    ),
    "a modified tensor that rfft read": lambda lib: _modified(lib, lib.fft.rfft),
    "a modified tensor that fft read": lambda lib: _modified(lib, lib.fft.fft),
    "tangent of xlogy": lambda lib: _tangent(lib, lib.xlogy),
    "tangent of a power": lambda lib: _tangent(lib, lambda x, y: y**x),
    **{
        f"{mode} in {dims}": lambda lib, mode=mode, shape=shape: _padded(lib, mode, *shape)
        for mode in ("reflect", "replicate")
        for dims, shape in (("1d", (1, 1, 3)), ("2d", (1, 1, 3, 3)), ("3d", (1, 1, 3, 3, 3)))
    },
}


@pytest.mark.parametrize("text", CALLS)
def test_same(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)
