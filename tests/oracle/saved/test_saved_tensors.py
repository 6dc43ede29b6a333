"""`SavedTensor`, what it shows, and what of it lives on."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def same(value: Any) -> Any:
    return value


def looked_at(library: Any) -> Any:
    x = leaf(library, 2.0)
    with library.autograd.graph.saved_tensors_hooks(same, same):
        y = x**2
    z = y.exp()
    w = z**2
    packed, result, plain = (
        y.grad_fn._raw_saved_self,
        z.grad_fn._raw_saved_result,
        w.grad_fn._raw_saved_self,
    )
    return [
        *(packed.data is x, packed.unpack_hook is same),
        *(result.data is z, result.unpack_hook is None, result.data.detach()),
        *(plain.data is z, plain.unpack_hook is None),
    ]


def numbers_of_hooks(library: Any) -> Any:
    y = leaf(library, 2.0) ** 2
    raw = y.grad_fn._raw_saved_self
    facts = [attempt(lambda: raw.register_hooks(same)), attempt(lambda: raw.register_hooks(1, 1))]
    raw.register_hooks(lambda tensor: tensor * 2, lambda tensor: tensor / 2)
    return [*facts, raw.data.detach(), attempt(lambda: raw.register_hooks(same, same))]


def of_custom_functions(library: Any) -> Any:
    class Square(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x, None)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * grad

    y = Square.apply(leaf(library, 2.0))
    saved = y.grad_fn._raw_saved_tensors
    kinds = [isinstance(each, library.autograd.SavedTensor) for each in saved]
    saved[0].register_hooks(same, same)
    facts = [*kinds, saved[0].data.detach(), saved[0].unpack_hook is same]
    y.sum().backward()
    return [*facts, attempt(lambda: y.grad_fn._raw_saved_tensors)]


def without_history(library: Any) -> Any:
    """A tensor without history comes back from the hooks as what they answer."""

    class Kept(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(y)
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            found.append(ctx.saved_tensors[0] is y)
            return grad, None

    found: list[bool] = []
    y = library.ones(1, dtype=library.float64)
    with library.autograd.graph.saved_tensors_hooks(same, same):
        z = Kept.apply(leaf(library, 1.0), y)
    z.backward()
    return found


def shapes_of_nodes(library: Any) -> Any:
    x = library.ones(2, 3, dtype=library.float64, requires_grad=True)
    results = (x.mean(), x[:, library.tensor([0, 1])], x.view(6), x.select(0, 1), x.narrow(0, 0, 1))
    return [list(result.grad_fn._saved_self_sym_sizes) for result in results]


@pytest.mark.parametrize(
    "behaviour",
    [looked_at, numbers_of_hooks, of_custom_functions, without_history, shapes_of_nodes],
)
def test_same(torch, behaviour):
    assert_same(behaviour, torch)


def test_none_can_be_made(torch):
    for library in (torch, gs):
        with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object"):
            library.autograd.SavedTensor()


@pytest.mark.parametrize("retain", [False, True])
def test_what_hooks_have_packed_goes_with_the_graph(torch, retain):
    def behaviour(library: Any) -> Any:
        class Box:
            def __init__(self, tensor: Any) -> None:
                self.tensor = tensor

        boxes: list[weakref.ref[Box]] = []

        def pack(tensor: Any) -> Box:
            box = Box(tensor)
            boxes.append(weakref.ref(box))
            return box

        with library.autograd.graph.saved_tensors_hooks(pack, lambda box: box.tensor):
            y = (leaf(library, 1.0, 2.0) ** 2).exp()
        gc.disable()
        try:
            y.sum().backward(retain_graph=retain)
            return [box() is None for box in boxes]
        finally:
            gc.enable()

    assert_same(behaviour, torch)


def test_a_saved_value_of_another_shape(torch):
    def behaviour(library: Any) -> Any:
        x = leaf(library, 1.0, 2.0)
        y = (x * x).sum()
        x.data = library.zeros(3, dtype=library.float64)
        return attempt(y.backward)

    assert_same(behaviour, torch)
