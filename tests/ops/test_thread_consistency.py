"""Sharing arrays among threads, block by block, changes no result or gradient of any op."""

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
from gradspec_codegen.render.module_names import THRESHOLDS
from tests.thresholds import set_thresholds

from .cases import CASES, Case, at, call_gradspec, check_alike, convert, leaf, outputs, variables


def count_as_large(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """From now on arrays of three elements are large; answers what threads are asked for."""
    shared = threads.in_threads
    asked: list[Any] = []

    def in_threads(function: Any, *args: Any) -> Any:
        asked.append(function)
        return shared(function, *args)

    import_all()
    generated = [module for name, module in sys.modules.items() if ".generated." in name]
    for module in generated:
        if hasattr(module, "in_threads"):
            monkeypatch.setattr(module, "in_threads", in_threads)
    set_thresholds(monkeypatch, **dict.fromkeys(THRESHOLDS, 3), CHUNK=2, CHAIN_BLOCK_BYTES=16)
    monkeypatch.setattr(threads._workers, "have_met_large", True)
    in_blocks = chains._applied_to_blocks

    def applied_to_blocks(link: Any, *args: Any) -> Any:
        found = in_blocks(link, *args)
        asked.append(link.node)
        return found

    monkeypatch.setattr(chains, "_applied_to_blocks", applied_to_blocks)
    return asked


def derivatives(case: Case) -> list[Any]:
    """The results of a call, and its first and second gradients, as arrays."""
    converted = convert(case.op, case.arguments(), leaf)
    result = call_gradspec(case.op, converted)
    found = outputs(case.op, result)
    recorded = [item for item in found if item.requires_grad]
    leaves = at(converted, variables(case.op, case.arguments()))
    grads: list[Any] = []
    if recorded and leaves:
        weights = [_weights(item) for item in recorded]
        options: Any = {"allow_unused": True, "retain_graph": True}
        grads += gs.autograd.grad(recorded, leaves, weights, **options)
        again = gs.autograd.grad(recorded, leaves, weights, create_graph=True, **options)
        curved = [grad for grad in again if grad is not None and grad.requires_grad]
        if curved:
            weights = [_weights(grad) for grad in curved]
            grads += gs.autograd.grad(curved, leaves, weights, allow_unused=True)
    return [None if item is None else item.detach().numpy() for item in (*found, *grads)]


def _weights(of: gs.Tensor) -> gs.Tensor:
    weights = gs.cos(gs.arange(of.numel()).reshape(of.shape) + 1.0)
    return gs.complex(weights, weights).to(of.dtype) if of.is_complex() else weights


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_threads_change_no_result(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    proved = derivatives(case)
    count_as_large(monkeypatch)
    check_alike(derivatives(case), proved)


def weighted_sum(a: Any, b: Any, c: Any) -> Any:
    return (
        gs.add(a, b, alpha=3) + gs.sub(b, a, alpha=0.5) + gs.rsub(a, c, alpha=2)
        + gs.addcmul(a, b, c, value=5) + gs.square(a) * gs.pow(b, 1) + c.cos()
    )  # fmt: skip


def test_arrays_of_one_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_as_large(monkeypatch)
    a, b, c = arrays = [np.linspace(start, 2, 7) for start in (0.5, 1.0, 1.5)]
    x, y, z = (gs.tensor(array, requires_grad=True) for array in arrays)
    result = weighted_sum(x, y, z)
    result.backward(gs.ones(7, dtype=gs.float64))
    assert "AddcmulBackward0" in {type(node).__name__ for node in asked}
    expected = (a + 3 * b) + (b - 0.5 * a) + (c - 2 * a) + (a + 5 * b * c) + a * a * b + np.cos(c)
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-14)
    slopes = (1 - 0.5 - 2 + 1 + 2 * a * b, 3 + 1 + 5 * c + a * a, 1 + 5 * b - np.sin(c))
    for leaf_, slope in zip((x, y, z), slopes, strict=True):
        assert leaf_.grad is not None
        np.testing.assert_allclose(leaf_.grad.numpy(), slope, rtol=1e-14)


def test_dropout(monkeypatch: pytest.MonkeyPatch) -> None:
    count_as_large(monkeypatch)
    x = gs.ones(50, dtype=gs.float64, requires_grad=True)
    y, _ = gs.native_dropout(x, 0.75, True)
    y.backward(gs.ones(50, dtype=gs.float64))
    assert x.grad is not None
    assert set(y.detach().numpy()) == {0.0, 4.0}
    np.testing.assert_array_equal(x.grad.numpy(), y.detach().numpy())


def test_all_gradients_of_several_steps_go_that_way(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_as_large(monkeypatch)
    for case in CASES:
        derivatives(case)
    used = {type(node).__name__ for node in asked if isinstance(node, Node)}
    modules = [module for name, module in sys.modules.items() if ".generated." in name]
    values = [value for module in modules for value in vars(module).values()]
    public = {value.__name__ for value in values if _is_public_node_of_one_input(value)}
    assert len(public) > 30
    assert public <= used


def _is_public_node_of_one_input(value: Any) -> bool:
    if not (isinstance(value, type) and issubclass(value, Node) and value.runs_in_blocks):
        return False
    return value.op[0] != "_" and "shape" not in value.saved_fields.values()


def test_many_formulas_go_that_way(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_as_large(monkeypatch)
    used = set()
    for case in CASES:
        calls.clear()
        derivatives(case)
        if calls:
            used.add(case.op.name)
    assert used >= {"add.Tensor", "mul.Tensor", "tan", "sigmoid", "tanh", "addcmul", "sqrt"}
