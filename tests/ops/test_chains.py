"""Every op whose gradient treats elements by themselves, as one link of a chain of two-element
blocks, beside what it is when each node runs by itself."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.node import Node
from gradspec.dispatch.registry import import_all
from gradspec.fast import parallel_for as threads
from gradspec.graph import chains
from gradspec_codegen.render.to_threads import is_pointwise

from ..thresholds import set_thresholds
from .cases import (
    CASES,
    Arguments,
    Case,
    call_gradspec,
    check_alike,
    convert,
    leaf,
    outputs,
    variables,
)


def of_one_shape(case: Case) -> Arguments:
    """The arguments of an example, whose arrays an op of single elements would broadcast."""
    arguments = case.arguments()
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    if is_pointwise(case.op):
        full = np.broadcast_arrays(*arrays.values())
        arguments |= zip(arrays, map(np.ascontiguousarray, full), strict=True)
    return arguments


def gradients(case: Case) -> list[Any]:
    """The gradient of each argument, with no other, through three more nodes."""
    found = []
    arguments = of_one_shape(case)
    for name, position in variables(case.op, arguments):
        converted = convert(case.op, arguments, lambda array, _: leaf(array, False))
        start = arguments[name] if position is None else arguments[name][position]
        x = leaf(start, True)
        twos = leaf(np.full_like(start, 2), False)
        through = x * twos / twos
        if position is None:
            converted[name] = through
        else:
            converted[name][position] = through
        for result in outputs(case.op, call_gradspec(case.op, converted)):
            if result.requires_grad:
                result.backward(gs.cos(gs.arange(result.numel()).reshape(result.shape) + 1.0))
                break
        found.append(None if x.grad is None else x.grad.numpy())
    return found


def count_as_large(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """From now on gradients of three elements are large; answers the nodes of chains."""
    seen: set[str] = set()
    pass_through = chains._passed_through

    def noted(links: Any, grad: Any) -> Any:
        array = pass_through(links, grad)
        seen.update(link.node.name() for link in links)
        return array

    monkeypatch.setattr(chains, "_passed_through", noted)
    set_thresholds(monkeypatch, CHAIN_BLOCK_BYTES=16, PARALLEL_UFUNC_MIN=3)
    monkeypatch.setattr(threads._workers, "have_met_large", True)
    return seen


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_nobody_can_tell_from_the_gradients(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    proved = gradients(case)
    count_as_large(monkeypatch)
    check_alike(gradients(case), proved)


def test_all_of_them_have_been_in_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = count_as_large(monkeypatch)
    for case in CASES:
        gradients(case)
    import_all()
    modules = [module for name, module in sys.modules.items() if ".generated." in name]
    nodes = {item for module in modules for item in vars(module).values() if _is_node(item)}
    public = {node.__name__ for node in nodes if node.is_pointwise and node.op[0] != "_"}
    assert len(public) > 50
    assert public - seen <= {"ConjBackward0"}  # of complex numbers only


def _is_node(item: object) -> bool:
    return isinstance(item, type) and issubclass(item, Node)
