"""`grad_fn.name()` and the inputs it leads to, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ops.cases import CASES, Case, convert, is_differentiable, outputs, variables

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:size_average"),
    pytest.mark.filterwarnings("ignore:reduction"),
    pytest.mark.filterwarnings("ignore:torch"),
]

ONLY_HERE = {
    "view-1": "PyTorch's view has no copy",
    "mm-2": "PyTorch's product has no strides",
    "detach_copy-0": "a node that refuses in PyTorch",
    **dict.fromkeys(
        ("slice_inverse-0", "slice_inverse-1"),
        "PyTorch reads the memory around `self`, which must be a slice of `src`",
    ),
}

DIFFERENT = {
    "matmul-3": "PyTorch squeezes in place",
    "matmul-7": "one batched product instead of expand, bmm and view",
    "div.Tensor_none-0": "the node of the plain quotient",
    "floor_divide-0": "PyTorch has no derivative: here it is that of `div`, zero",
    "cross_entropy-1": "a mean is one node, not a sum and a division",
    "cross_entropy-2": "a mean is one node, not a sum and a division",
    "special_ndtr-0": "one node that is exact in the lower tail, not (1 + erf) / 2",
    "special_ndtr-1": "one node that is exact in the lower tail, not (1 + erf) / 2",
    "special_zeta.self_scalar-0": "composites of the function of two tensors",
    "special_zeta.other_scalar-0": "composites of the function of two tensors",
    **dict.fromkeys(
        (f"multilabel_margin_loss-{number}" for number in range(3)),
        "ops of the table, not one node",
    ),
    "heaviside-0": "PyTorch has no derivative: here it is that by the values",
    "heaviside-1": "PyTorch has no derivative: here it is that by the values",
    "heaviside-2": "PyTorch has no derivative: here it is that by the values",
    **ONLY_HERE,
    **dict.fromkeys(
        (
            *(
                f"{name}-{number}"
                for name in ("avg_pool1d", "adaptive_avg_pool1d")
                for number in range(3)
            ),
            *(f"max_pool1d_with_indices-{number}" for number in range(4)),
            "max_pool1d-0",
        ),
        "one node instead of two dimensions and a squeeze",
    ),
}
"""Calls that make other nodes than PyTorch's, and why."""


WITHOUT_NODE = ("bessel", "airy", "polynomial")
"""Parts of names of special functions of which PyTorch has no derivative."""


def _name(tensor: Any) -> str | None:
    return None if tensor.grad_fn is None else tensor.grad_fn.name()


@pytest.mark.filterwarnings("ignore:adjoint:UserWarning")
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.label not in DIFFERENT], ids=lambda case: case.label
)
def test_name(case: Case) -> None:
    from . import comparison

    def names(library: comparison.Library) -> list[str | None]:
        converted = convert(case.op, case.arguments(), library.leaf)
        result = library.call(case.op, converted)
        return [_name(item) for item in outputs(case.op, result)]

    theirs = names(comparison.TORCH)
    if case.op.python_module == "special" and any(part in case.op.name for part in WITHOUT_NODE):
        assert theirs == [None]
        return
    assert names(comparison.GRADSPEC) == theirs


OPERATORS: dict[str, Callable[[Any], Any]] = {
    "x + 2": lambda x: x + 2,
    "2 + x": lambda x: 2 + x,
    "x - 2": lambda x: x - 2,
    "2 - x": lambda x: 2 - x,
    "x * 2": lambda x: x * 2,
    "x / 2": lambda x: x / 2,
    "2 / x": lambda x: 2 / x,
    "x ** 2": lambda x: x**2,
    "2 ** x": lambda x: 2**x,
    "x ** x": lambda x: x**x,
    "x % 2": lambda x: x % 2,
    "-x": lambda x: -x,
    "abs(x)": abs,
    "x @ x": lambda x: x @ x,
    "x > 1": lambda x: x > 1,
    "x[0]": lambda x: x[0],
    "x[:, 1:]": lambda x: x[:, 1:],
    "x[[0, 1]]": lambda x: x[[0, 1]],
    "x[x > 0]": lambda x: x[x > 0],
    "x[None]": lambda x: x[None],
    "x.sum(0)": lambda x: x.sum(0),
    "x.mean((0, 1))": lambda x: x.mean((0, 1)),
    "x.max(1).values": lambda x: x.max(1).values,
    "x.max()": lambda x: x.max(),
    "x.var()": lambda x: x.var(),
    "x.view(4)": lambda x: x.view(4),
    "x.flatten()": lambda x: x.flatten(),
    "x.permute(1, 0)": lambda x: x.permute(1, 0),
    "x.expand(3, 2, 2)": lambda x: x.expand(3, 2, 2),
}


@pytest.mark.parametrize("text", OPERATORS)
def test_operators_and_methods(text: str) -> None:
    from . import comparison

    array = np.array([[0.5, 1.5], [2.5, 3.5]])
    mine, theirs = (
        OPERATORS[text](library.leaf(array, True))
        for library in (comparison.GRADSPEC, comparison.TORCH)
    )
    assert _name(mine) == _name(theirs)
    comparison.assert_same(mine, theirs, text)


@pytest.mark.parametrize(
    "case",
    [
        c
        for c in CASES
        if is_differentiable(c.op)
        and c.op.composite is None
        and c.label not in ONLY_HERE
        and not any(part in c.op.name for part in WITHOUT_NODE)
    ],
    ids=lambda case: case.label,
)
def test_next_functions(case: Case) -> None:
    """One edge an input; a leaf that needs a gradient stands behind its edge."""
    from . import comparison

    def edges(library: comparison.Library) -> list[bool]:
        converted = convert(case.op, case.arguments(), library.leaf)
        (first, *_) = outputs(case.op, library.call(case.op, converted))
        return [node is not None for node, _ in first.grad_fn.next_functions]

    mine = edges(comparison.GRADSPEC)
    assert sum(mine) == len(variables(case.op, case.arguments()))
    assert sum(mine) == sum(edges(comparison.TORCH))
