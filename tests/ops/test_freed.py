"""Every op's graph is freed by reference counts alone, however its saved values are kept."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Any

import pytest

import gradspec as gs
from gradspec.autograd.forward_ad import dual_level, make_dual
from gradspec.autograd.graph import (
    allow_mutation_on_saved_tensors,
    save_on_cpu,
    saved_tensors_hooks,
)

from .cases import CASES, Case, at, call_gradspec, convert, leaf, outputs, variables

Keeping = Callable[[], AbstractContextManager[Any]]
Ending = Callable[[list[Any], list[Any]], object]


def as_they_are() -> AbstractContextManager[None]:
    return saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor)


def in_tuples() -> AbstractContextManager[None]:
    return saved_tensors_hooks(lambda tensor: (tensor,), lambda packed: packed[0])


def in_nested_blocks() -> AbstractContextManager[Any]:
    stack = ExitStack()
    for block in (save_on_cpu, as_they_are, allow_mutation_on_saved_tensors):
        stack.enter_context(block())
    return stack


KEEPING: list[Keeping] = [nullcontext, save_on_cpu, as_they_are, in_tuples, in_nested_blocks]


def drop(results: list[Any], leaves: list[Any]) -> None:
    """Nothing is done with the graph."""


def hook(results: list[Any], leaves: list[Any]) -> None:
    """Hooks of every kind, and a pass that keeps the graph."""
    for result in results:
        result.register_hook(lambda grad: grad)
        result.retain_grad()
        result.grad_fn.register_hook(lambda grads, _: grads)
        result.grad_fn.register_prehook(lambda grads: grads)
    differentiate(results, leaves, retain_graph=True)


def read_saved(results: list[Any], leaves: list[Any]) -> None:
    """All that the nodes saved is looked at, and given hooks of its own."""
    for result in results:
        node = result.grad_fn
        for name in [name for name in dir(node) if name.startswith("_raw_saved_")]:
            getattr(node, name.removeprefix("_raw"), None)
            raw = getattr(node, name)
            for saved in raw if isinstance(raw, tuple) else (raw,):
                try:
                    saved.register_hooks(lambda tensor: tensor, lambda tensor: tensor)
                except RuntimeError:  # nothing was saved, or there are hooks already
                    continue


def record_gradients(results: list[Any], leaves: list[Any]) -> None:
    """The graph of the gradients."""
    differentiate(results, leaves, create_graph=True)


def differentiate(results: list[Any], leaves: list[Any], **options: bool) -> None:
    ones = [gs.ones_like(result) for result in results]
    gs.autograd.grad(results, leaves, ones, allow_unused=True, **options)


ENDINGS: list[Ending] = [drop, hook, read_saved, record_gradients]


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # so that a collection looks at what a test makes, here and later
    gc.disable()
    yield
    gc.enable()


def garbage(make_graph: Callable[[], object]) -> list[str]:
    """The types of what only the collector finds when a graph was made and dropped."""
    make_graph()  # what is imported or remembered at the first call is no matter
    gc.collect()
    make_graph()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [type(found).__name__ for found in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def a_case_of_each_op() -> list[Case]:
    cases: dict[str, Case] = {}
    for case in CASES:
        if variables(case.op, case.arguments()):
            cases.setdefault(case.op.name, case)
    return list(cases.values())


A_CASE_OF_EACH_OP = a_case_of_each_op()


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.__name__)
@pytest.mark.parametrize("keeping", KEEPING, ids=lambda keeping: keeping.__name__)
@pytest.mark.usefixtures("no_collector")
def test_graphs_of_all_ops(keeping: Keeping, ending: Ending) -> None:
    def make_graph(case: Case) -> None:
        arguments = convert(case.op, case.arguments(), leaf)
        leaves = at(arguments, variables(case.op, case.arguments()))
        with keeping():
            found = outputs(case.op, call_gradspec(case.op, arguments))
            ending([result for result in found if result.grad_fn is not None], leaves)

    found = {case.label: garbage(partial(make_graph, case)) for case in A_CASE_OF_EACH_OP}
    assert {label: kinds for label, kinds in found.items() if kinds} == {}


class SavesItsResult(gs.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = x.exp()
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.saved_tensors[1]


class SavesOneOfTwo(gs.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        first, second = x.exp(), x.sin()
        ctx.save_for_backward(first)
        return first, second

    @staticmethod
    def backward(ctx: Any, grad: Any, other: Any) -> Any:
        return grad * ctx.saved_tensors[0] + other


class SavesWhatItChanged(gs.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.saved_tensors[0]


def in_place(x: Any) -> Any:
    y = x * 1
    y[0].exp_()
    return y.exp_().add_(x).detach_() + x.exp()


def forward_over_reverse(x: Any) -> Any:
    with dual_level():
        dual = make_dual(x, gs.ones_like(x))
        result = dual.exp() * dual.tanh()
        (grad,) = gs.autograd.grad(result.sum(), dual, create_graph=True)
        return grad.sum()


FUNCTIONS: list[Callable[[Any], Any]] = [
    SavesItsResult.apply,
    lambda x: sum(SavesOneOfTwo.apply(x)),
    lambda x: SavesWhatItChanged.apply(x * 1),
    in_place,
    forward_over_reverse,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.__name__)
@pytest.mark.parametrize("keeping", KEEPING, ids=lambda keeping: keeping.__name__)
@pytest.mark.usefixtures("no_collector")
def test_other_graphs(keeping: Keeping, ending: Ending, function: Callable[[Any], Any]) -> None:
    def make_graph() -> None:
        x = gs.tensor([0.5, 2.0], requires_grad=True)
        with keeping():
            ending([function(x)], [x])

    assert garbage(make_graph) == []


@pytest.mark.usefixtures("no_collector")
def test_a_graph_that_is_not_freed_is_noticed() -> None:
    def make_graph() -> None:
        x = gs.ones(2, requires_grad=True)
        y = x * 2
        y.register_hook(lambda grad: grad * y)

    assert "MulBackward0" in garbage(make_graph)
