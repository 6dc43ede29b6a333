"""A leaf keeps an array as its gradient only if it holds the only reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gradspec as gs
from gradspec import Tensor
from gradspec.autograd import Function


def leaf(*shape: int) -> Tensor:
    return gs.arange(float(np.prod(shape))).reshape(shape).requires_grad_()


def grad_of(x: Tensor) -> np.ndarray:
    assert x.grad is not None
    return x.grad.numpy()


class Remembering(Function):
    """Hands out an array that it keeps."""

    kept: Tensor

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        Remembering.kept = grad * 2
        return Remembering.kept


def test_a_cotangent_stays_the_callers() -> None:
    x, cotangent = leaf(3), gs.ones(3)
    x.backward(cotangent)
    assert not np.shares_memory(grad_of(x), cotangent.numpy())


@pytest.mark.parametrize(
    "join",
    [lambda a, b: a + b, lambda a, b: (a + b) * 3, lambda a, b: gs.cat([a, b])[1:5] * 2],
)
def test_leaves_share_nothing(join: Callable[[Tensor, Tensor], Tensor]) -> None:
    a, b = leaf(3), leaf(3)
    join(a, b).sum().backward()
    assert not np.shares_memory(grad_of(a), grad_of(b))


def test_what_a_hook_has_seen_is_copied() -> None:
    x, seen = leaf(3), []
    y = x * 1
    y.register_hook(seen.append)
    (y + 0).sum().backward()
    grad_of(x)[:] = 7
    assert seen[0].tolist() == [1, 1, 1]


def test_what_a_function_keeps_is_copied() -> None:
    x = leaf(3)
    Remembering.apply(x).sum().backward()
    grad_of(x)[:] = 7
    assert Remembering.kept.tolist() == [2, 2, 2]


def test_a_saved_array_is_copied() -> None:
    x, weight = leaf(3), gs.tensor([1.0, 2.0, 3.0])
    y = (x * weight).sum()
    y.backward(retain_graph=True)
    grad_of(x)[:] = 7
    x.grad = None
    y.backward()
    assert grad_of(x).tolist() == weight.tolist() == [1, 2, 3]


def test_a_second_pass_adds_to_what_was_kept() -> None:
    x = leaf(2)
    for times in (1, 2, 3):
        (x * 5).sum().backward()
        assert grad_of(x).tolist() == [5 * times] * 2


def test_a_gradient_can_be_written_to() -> None:
    x = leaf(2, 1)
    x.expand(2, 3).sum().backward()
    grad_of(x)[:] = 1
    z = leaf(1)
    z.expand(4).sum().backward()
    grad_of(z)[:] = 1


def test_a_gradient_lies_in_memory_as_its_leaf_does() -> None:
    weight = leaf(4, 3)
    gs.nn.functional.linear(gs.ones(2, 3), weight).sum().backward()
    assert grad_of(weight).strides == weight.array.strides


@pytest.mark.parametrize("compute", [lambda x: x * 2, lambda x: gs.ones(2, 3) @ x.t()])
def test_what_nobody_else_has_is_not_copied(
    compute: Callable[[Tensor], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gradient of a factor, and of a weight: a transposed view of a product."""
    x = leaf(4, 3)
    y = compute(x).sum()
    copy = np.array

    def refused(array, *args, **kwargs):
        assert np.shape(array) != (4, 3), "a gradient was copied"
        return copy(array, *args, **kwargs)

    monkeypatch.setattr(np, "array", refused)
    y.backward()
    monkeypatch.undo()
    assert grad_of(x).shape == (4, 3)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("compute", [lambda x: x.t() * leaf(4, 3).detach(), lambda x: x * 2])
def test_a_copied_gradient_lies_as_its_leaf_does(
    compute: Callable[[Tensor], Tensor], transposed: bool
) -> None:
    x = leaf(4, 3).detach().t() if transposed else leaf(3, 4).detach()
    x.requires_grad_()
    compute(x).sum().backward()
    assert x.grad is not None
    assert x.grad.stride() == x.stride()


def test_strides_count_elements() -> None:
    x = gs.zeros(2, 3, 4)
    assert x.stride() == (12, 4, 1)
    assert x.transpose(0, 2).stride() == (1, 4, 12)
    assert x.stride(-2) == 4
    with pytest.raises(IndexError, match=r"range of \[-3, 2\], but got 3"):
        x.stride(3)
