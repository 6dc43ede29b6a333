"""Names in a spec do not change the op that is emitted for PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gradspec_codegen.targets.frameworks import framework
from tests.codegen.targets import whole_kernels
from tests.codegen.targets.named import (
    PLACES,
    check,
    every_name_in_every_place,
    names_of_emitted_code,
    package_of,
    table_of,
)

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]


def _derive(function: Callable[..., Any], at: Any, tangents: Any) -> Any:
    leaves = [torch.from_numpy(x).requires_grad_() for x in at]
    out = function(*leaves)
    several = out if isinstance(out, tuple) else (out,)
    gradients = torch.autograd.grad(sum(each.sum() for each in several), leaves)
    plain = tuple(leaf.detach() for leaf in leaves)
    _, moved = torch.func.jvp(function, plain, tuple(map(torch.from_numpy, tangents)))
    moved = moved if isinstance(moved, tuple) else (moved,)
    return tuple([each.detach().numpy() for each in group] for group in (several, gradients, moved))


def test_every_name_in_every_place(tmp_path: Path) -> None:
    entries = every_name_in_every_place("torch")
    table = table_of(entries)
    assert table is not None
    package = package_of(table, "torch", tmp_path)
    for names in entries:
        check(package, names, _derive)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_all_names_at_once(data: st.DataObject, tmp_path: Path) -> None:
    word = st.sampled_from(names_of_emitted_code("torch"))
    names = {place: data.draw(word, place) for place in PLACES}
    table = table_of([names])
    assume(table is not None and not names["op"].startswith("_"))
    assert table is not None
    check(package_of(table, "torch", tmp_path), names, _derive)


WHOLE = """
- family: {family}
- name: {op}(Tensor {x}, Scalar {a}=30) -> Tensor
  doc: A smooth bound that a kernel computes.
  forward: |
    {local} = {x} / {a}
    return {a} * tanh({local})
  {x}: grad * (1 - (result / {a}) ** 2)
  result: auto_element_wise
  torch: {{custom_op: true, kernel: whole_kernels.whole_cap}}
"""


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_names_of_custom_ops(data: st.DataObject, tmp_path: Path) -> None:
    sys.modules["whole_kernels"] = whole_kernels  # as it would be on the path of a program
    word = st.sampled_from(names_of_emitted_code("torch"))
    names = {place: data.draw(word, place) for place in PLACES if place != "y"}
    table = table_of([names], WHOLE)
    assume(table is not None and not names["op"].startswith("_"))
    assert table is not None
    op = getattr(package_of(table, "torch", tmp_path), names["op"])
    x = np.array([0.5, -2.0])
    value, slope = 3 * np.tanh(x / 3), 1 - np.tanh(x / 3) ** 2
    values, gradients, tangents = _derive(lambda t: op(t, 3.0), (x,), (2 * x,))
    np.testing.assert_allclose(values[0], value)
    np.testing.assert_allclose(gradients[0], slope)
    np.testing.assert_allclose(tangents[0], slope * 2 * x)


def test_the_attributes_of_contexts_are_known() -> None:
    """A plain value is kept under its own name only where PyTorch has no use for that."""
    found: set[str] = set()

    class Square(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            found.update(dir(ctx))
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            found.update(dir(ctx))
            return 2 * grad * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx: Any, x_t: Any) -> Any:
            found.update(dir(ctx))
            return 2 * x_t * ctx.saved_tensors[0]

    def square(x: Any) -> Any:
        return Square.apply(x)

    x = torch.ones(2, 2, requires_grad=True)
    square(x).sum().backward()
    torch.func.vmap(torch.func.grad(lambda row: square(row).sum()))(x)
    torch.func.vmap(lambda row: torch.func.jvp(square, (row,), (row,)))(x)
    named = {name for name in found if not name.startswith("_")}
    assert {"saved_tensors", "needs_input_grad"} <= named <= framework("torch").context
