"""`allow_mutation_on_saved_tensors` copies what PyTorch copies, and when: before a write."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle

Behaviour = Callable[[Any, Any], Any]


def written_result(library: Any, counts: Callable[[], None]) -> Any:
    x = leaf(library, 1.0, 2.0)
    y = x * 1
    z = (y**2).sum()
    counts()
    y.sin_()
    counts()
    z.backward()
    return x.grad


def written_view(library: Any, counts: Callable[[], None]) -> Any:
    x = leaf(library, 1.0, 2.0)
    y = x * 1
    part, z = y[:1], (y**2).sum()
    part *= 10
    counts()
    z.backward()
    return x.grad


def written_base(library: Any, counts: Callable[[], None]) -> Any:
    x = leaf(library, 1.0, 2.0)
    y = x * 1
    z = (y[:] ** 2).sum()
    y *= 2
    counts()
    z.backward()
    return x.grad


def written_elements(library: Any, counts: Callable[[], None]) -> Any:
    x = leaf(library, 1.0, 2.0)
    y = x * 1
    z = (y**2).sum()
    y[0] = 5.0
    y[library.tensor([1])] = 6.0
    counts()
    z.backward()
    return x.grad


def written_by_out(library: Any, counts: Callable[[], None]) -> Any:
    x, y = leaf(library, 1.0, 2.0), library.ones(2, dtype=library.float64)
    z = (x * y).sum()
    library.sin(library.ones(2, dtype=library.float64), out=y)
    counts()
    z.backward()
    return x.grad


def written_exponential(library: Any, counts: Callable[[], None]) -> Any:
    x = leaf(library, 1.0, 2.0)
    y = x.exp()
    z = (y * 1).sum()
    y.zero_()
    counts()
    z.backward()
    return x.grad


def saved_twice(library: Any, counts: Callable[[], None]) -> Any:
    y = leaf(library, 1.0, 2.0) * 1
    first, second = y**2, y**2
    y.sin_()
    counts()
    del first, second
    counts()
    return None


def saved_at_two_versions(library: Any, counts: Callable[[], None]) -> Any:
    y = leaf(library, 1.0, 2.0) * 1
    first = y**2
    y.sin_()
    second = y**2
    y.sin_()
    counts()
    del first
    counts()
    del second
    counts()
    return None


def after_the_pass(library: Any, counts: Callable[[], None]) -> Any:
    y = leaf(library, 1.0, 2.0) * 1
    z = (y**2).sum()
    z.backward()
    y.sin_()
    counts()
    return z.detach()


def written_by_an_optimizer(library: Any, counts: Callable[[], None]) -> Any:
    x = leaf(library, 1.0, 2.0)
    z = (x**3).sum()
    z.backward(retain_graph=True)
    library.optim.SGD([x], lr=0.5).step()
    counts()
    x.grad = None
    z.backward()
    return x.grad, x.detach()


def written_by_lbfgs(library: Any, counts: Callable[[], None]) -> Any:
    x = leaf(library, 1.0, 2.0)
    z = (x**3).sum()
    optimizer = library.optim.LBFGS([x], max_iter=2, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (x**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    x.grad = None
    z.backward()
    return x.grad


def differentiated_twice(library: Any, counts: Callable[[], None]) -> Any:
    x = leaf(library, 1.0, 2.0)
    y = x * 1
    z = (y**3).sum()
    y.sin_()
    (slope,) = library.autograd.grad(z, x, create_graph=True)
    (found,) = library.autograd.grad(slope.sum(), x)
    return slope.detach(), found


@pytest.mark.parametrize(
    "behaviour",
    [
        *(written_result, written_view, written_base, written_elements, written_by_out),
        *(written_exponential, saved_twice, saved_at_two_versions, after_the_pass),
        *(differentiated_twice, written_by_an_optimizer, written_by_lbfgs),
    ],
)
def test_what_is_copied(torch, behaviour: Behaviour):
    def observed(library: Any) -> Any:
        found: list[int] = []
        gc.disable()
        try:
            with library.autograd.graph.allow_mutation_on_saved_tensors() as block:
                answer = behaviour(library, lambda: found.append(len(block.cloned)))
        finally:
            gc.enable()
        return found, answer, len(block.cloned)

    assert_same(observed, torch)


def test_blocks_end(torch):
    def observed(library: Any) -> Any:
        block = library.autograd.graph.allow_mutation_on_saved_tensors

        def nested() -> None:
            with block(), block():
                pass

        with block():
            z = (leaf(library, 1.0) ** 2).sum()
        facts = [attempt(z.backward)]
        with block():
            facts.append(attempt(z.backward))
        return [*facts, attempt(nested)]

    assert_same(observed, torch)


def test_what_is_not_overwritten_is_not_copied():
    x = gs.ones(3, requires_grad=True) * 2
    with gs.autograd.graph.allow_mutation_on_saved_tensors():
        y = x**2
        assert y.grad_fn._saved_self.array is x.array


def test_compiled_writes():
    add = gs.compile(lambda x: x.add_(1.0))
    y = gs.ones(3)
    add(y)
    x = gs.ones(3, requires_grad=True)
    with gs.autograd.graph.allow_mutation_on_saved_tensors():
        z = (x * y).sum()
        add(y)
        z.backward()
    assert y.tolist() == [3, 3, 3]
    assert x.grad.tolist() == [2, 2, 2]
