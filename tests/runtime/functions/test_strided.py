"""Memory at any strides: bounds, gradients of overlaps, batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gradspec as gs
from gradspec.func import jvp, vmap


def test_overlaps_add_up() -> None:
    x = gs.arange(4, dtype=gs.float64).requires_grad_()
    windows = x.as_strided((3, 2), (1, 1))
    assert windows.tolist() == [[0, 1], [1, 2], [2, 3]]
    (windows * gs.tensor([[1.0, 10.0], [100.0, 1000.0], [1.0, 2.0]])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 110, 1001, 2]


def test_shared_elements_share_a_gradient() -> None:
    x = gs.tensor([[3.0], [5.0]], requires_grad=True)
    x.expand(2, 3).as_strided((2,), (1,)).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [[1.0], [1.0]], rtol=1e-6)


def test_a_view_of_the_same_memory() -> None:
    x = gs.zeros(4)
    x.as_strided((2,), (2,), 1).fill_(7)
    assert x.tolist() == [0, 7, 0, 7]
    assert x[1:].as_strided((2,), (2,)).storage_offset() == 1


@pytest.mark.parametrize(
    ("size", "stride", "offset"), [((3,), (2,), 0), ((1,), (1,), -1), ((1,), (1,), 4)]
)
def test_no_foreign_memory(size: tuple[int], stride: tuple[int], offset: int) -> None:
    with pytest.raises(RuntimeError, match="out of bounds"):
        gs.zeros(4).as_strided(size, stride, offset)


DETACHED: dict[str, Callable[[gs.Tensor], gs.Tensor]] = {
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "dtype": lambda x: x.view(gs.int64),
    "detached twice": lambda x: x.detach().detach(),
    "data of data": lambda x: x.data.data,
    "detached again": lambda x: x.detach()[:].detach(),
}


@pytest.mark.parametrize("name", DETACHED)
def test_a_detached_view_knows_its_place_in_the_storage(name: str) -> None:
    part = DETACHED[name](gs.arange(5)[1:])
    assert part.storage_offset() == 1
    assert part[2:].storage_offset() == 3
    assert part.as_strided((2,), (2,)).tolist() == [1, 3]
    assert part.as_strided((2,), (1,), 0).tolist() == [0, 1]
    again = gs.empty(0, dtype=gs.int64)
    again.set_(part.untyped_storage(), part.storage_offset(), part.shape, part.stride())
    assert again.tolist() == [1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="out of bounds"):
        part.as_strided((2,), (1,), 4)


def test_a_base_with_other_memory_begins_where_that_does() -> None:
    x = gs.arange(5)
    part = x[2:].detach()
    x.set_(gs.arange(3))
    assert (x.storage_offset(), x[1:].storage_offset(), part.storage_offset()) == (0, 1, 2)


def test_scatter_keeps_the_rest() -> None:
    x = gs.zeros(2, 3, dtype=gs.float64, requires_grad=True)
    src = gs.tensor([1.0, 2.0], dtype=gs.float64, requires_grad=True)
    found = x.as_strided_scatter(src, (2,), (3,), 1)
    assert found.tolist() == [[0, 1, 0], [0, 2, 0]]
    (found * gs.arange(6).view(2, 3)).sum().backward()
    assert x.grad is not None
    assert src.grad is not None
    assert x.grad.tolist() == [[0, 0, 2], [3, 0, 5]]
    assert src.grad.tolist() == [1, 4]
    with pytest.raises(RuntimeError, match="single memory location"):
        x.as_strided_scatter(src, (2,), (0,))


def test_tangents_and_batches() -> None:
    x = gs.arange(6, dtype=gs.float64).view(2, 3)
    value, tangent = jvp(lambda v: v.as_strided((2, 2), (1, 1)), (x[1],), (x[0],))
    assert value.tolist() == [[3, 4], [4, 5]]
    assert tangent.tolist() == [[0, 1], [1, 2]]
    assert vmap(lambda v: v.as_strided((2,), (2,)))(x).tolist() == [[0, 2], [3, 5]]
    assert vmap(lambda v: v.as_strided((2,), (1,), 1))(x).tolist() == [[1, 2], [4, 5]]
