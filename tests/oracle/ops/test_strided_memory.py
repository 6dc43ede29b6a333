"""Memory read and written at any strides: the same calls in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.behaviours import assert_same, leaf

pytestmark = pytest.mark.oracle


def _gradient(lib: Any, function: Callable[[Any], Any]) -> Any:
    """Return a function's result on a leaf of 12 numbers, and its first and second gradients."""
    x = leaf(lib, *range(1, 13))
    answer = function(x)
    (first,) = lib.autograd.grad((answer**3).sum(), x, create_graph=True)
    (second,) = lib.autograd.grad((first * first).sum(), x)
    return [*(part.tolist() for part in (answer, first, second)), answer.stride()]


CALLS: dict[str, Callable[[Any], Any]] = {
    "windows": lambda lib: _gradient(lib, lambda x: lib.as_strided(x, (5, 4), (2, 1))),
    "all of one element": lambda lib: _gradient(lib, lambda x: x.as_strided((3, 2), (0, 0), 4)),
    "one element": lambda lib: _gradient(lib, lambda x: x.as_strided((), (), 7)),
    "none": lambda lib: lib.ones(2).as_strided((0, 2), (1, 1)),
    "of a turned matrix": lambda lib: _gradient(
        lib, lambda x: x.view(3, 4).t().as_strided((2, 2), (5, 1), 1)
    ),
    "of every second element": lambda lib: _gradient(lib, lambda x: x[2::2].as_strided((3,), (2,))),
    "of what the view does not show": lambda lib: _gradient(
        lib, lambda x: x[2::2].as_strided((4,), (1,))
    ),
    "of an expansion": lambda lib: _gradient(
        lib, lambda x: x[:3].view(3, 1).expand(3, 2).as_strided((2, 2), (1, 0))
    ),
    "from the beginning of the storage": lambda lib: _gradient(
        lib, lambda x: x[4:].as_strided((2,), (1,), 0)
    ),
    "copy": lambda lib: _gradient(lib, lambda x: lib.as_strided_copy(x, (2, 3), (1, 3), 2)),
    "scattered": lambda lib: _gradient(
        lib, lambda x: lib.zeros(3, 4).double().as_strided_scatter(x[:4].view(2, 2), (2, 2), (4, 1))
    ),
    "in place": lambda lib: _gradient(lib, lambda x: (x * 1).as_strided_((2, 2), (1, 4), 1)),
    "outside": lambda lib: leaf(lib, 1.0, 2.0).as_strided((3,), (1,)),
    "negative": lambda lib: leaf(lib, 1.0, 2.0).as_strided((2,), (-1,), 1),
    "sizes and strides": lambda lib: leaf(lib, 1.0, 2.0).as_strided((2,), (1, 1)),
    "written through": lambda lib: _written(lib),
    "offsets": lambda lib: [
        x.storage_offset() for y in [lib.arange(12).view(3, 4)] for x in (y, y[1], y[:, 2:], y.t())
    ],
    "copies in memory of their own": lambda lib: [
        (each._is_view(), each.stride())
        for x in [lib.ones(3, 4).t()]
        for each in (lib.permute_copy(x, (1, 0)), lib.t_copy(x), *lib.unbind_copy(x, 1))
    ],
    "unsafe parts": lambda lib: [
        [part.tolist() for part in parts]
        for x in [lib.arange(5)]
        for parts in (lib.unsafe_split(x, 2), x.unsafe_chunk(2), x.unsafe_split_with_sizes([1, 4]))
    ],
}


def _written(lib: Any) -> Any:
    x = leaf(lib, *range(1, 7))
    y = x * 1
    y.as_strided((2, 2), (2, 1), 1).mul_(lib.tensor([[2.0, 3.0], [4.0, 5.0]]).double())
    (y * y).sum().backward()
    return y.tolist(), x.grad.tolist()


@pytest.mark.parametrize("text", CALLS)
def test_same(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)
