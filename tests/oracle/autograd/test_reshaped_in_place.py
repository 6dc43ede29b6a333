"""Tensors that become others in place: `resize_`, `set_`, `transpose_`, also in inference mode."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def versions_of_resized(library: Any) -> Any:
    x, like = library.ones(1), library.ones(3)
    facts = []
    for resize in (
        lambda: x.resize_((1, 2)),
        lambda: x.resize_as_(like),
        lambda: x.resize_((3,)),
        lambda: x.resize_as_(like),
    ):
        resize()
        facts += [x._version, list(x.shape)]
    return facts


def resized_saved_value(library: Any) -> Any:
    x, y = leaf(library, 1.0), library.ones(1, dtype=library.float64)
    z = (x * y).sum()
    y.resize_(2)
    return attempt(z.backward)


def resized_in_inference_mode(library: Any) -> Any:
    facts = []
    for requires_grad in (True, False):
        with library.inference_mode():
            x = library.ones(1, 2, 3, requires_grad=requires_grad)
            x.resize_(1, 2)
            x.resize_as_(library.ones(2))
            facts += [x.is_inference(), x.requires_grad, list(x.shape)]
    return facts


def of_other_memory(library: Any) -> Any:
    x = leaf(library, 1.0, 2.0)
    edge = library.autograd.graph.get_gradient_edge(x)
    y = (x * 1).sum()
    with library.no_grad():
        x.set_(library.ones(2, dtype=library.float64))
    facts = [attempt(lambda: library.autograd.grad(y, x, retain_graph=True))]
    facts.append(library.autograd.grad(y, edge)[0])
    (x * x).sum().backward()
    return [*facts, x.grad]


def turned_in_inference_mode(library: Any) -> Any:
    facts = []
    for requires_grad in (True, False):
        x = library.ones(1, 2, 3, requires_grad=requires_grad) * 1
        with library.inference_mode():
            for _ in range(2):
                x.transpose_(0, 1)
                facts += [x.is_inference(), x.requires_grad, list(x.shape)]
            view = x.view(-1)
            facts += [view.is_inference(), view.requires_grad]
        x.add_(2)
        facts += [x.is_inference(), x.requires_grad]
    return facts


@pytest.mark.parametrize(
    "behaviour",
    [
        *(versions_of_resized, resized_saved_value, resized_in_inference_mode),
        *(of_other_memory, turned_in_inference_mode),
    ],
)
def test_same(torch, behaviour):
    assert_same(behaviour, torch)


@pytest.mark.parametrize("name", ["add_", "transpose_", "resize_", "copy_", "__setitem__"])
def test_inference_tensors_are_refused_outside(torch, name):
    args = {"add_": (2,), "transpose_": (0, 1), "resize_": (1, 2), "__setitem__": (0, 1.0)}
    for library in (torch, gs):
        with library.inference_mode():
            x = library.ones(1, 2, 3)
        given = args.get(name, (library.ones(3),))
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
            getattr(x, name)(*given)


def test_gradients_of_results_that_inference_mode_has_turned():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 2
    with gs.inference_mode():
        y.transpose_(0, 1)
    y.backward(gs.arange(6.0).reshape(3, 2))
    assert x.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
def test_results_with_tangents_are_not_written_to(torch):
    for library in (torch, gs):
        forward_ad = library.autograd.forward_ad
        with forward_ad.dual_level():
            x, y = library.ones(2), library.ones(2)
            dual = forward_ad.make_dual(library.ones(2), library.ones(2))
            for left, out in ((x, dual), (dual, y)):
                with pytest.raises(RuntimeError, match="out= function"):
                    library.add(left, x, out=out)
    assert gs.add(dual, x, out=y).tolist() == [2, 2]  # whose level is closed; nothing was written


@pytest.mark.parametrize("stride", [(3, 1), (1, 2), (5, 2), (0, 1)])
def test_memory_of_given_strides(torch, stride):
    def behaviour(library: Any) -> Any:
        x = library.empty_strided((2, 3), stride)
        empty = library.empty_strided((0, 3), stride, dtype=library.float64)
        return list(x.stride()), list(x.shape), list(empty.shape), str(empty.dtype)[-7:]

    assert_same(behaviour, torch)
    refused = [((2,), (1, 2)), ((2, 2), (1, -1)), ((-1,), (1,))]
    for size, steps in refused:
        for library in (torch, gs):
            with pytest.raises(RuntimeError):
                library.empty_strided(size, steps)
