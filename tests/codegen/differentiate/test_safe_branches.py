"""A branch of `where` that is not taken leaves no nan in derivatives, written or derived."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad as fw
from tests.codegen.proving import imported

ENTRIES = """
- name: log_or_zero(Tensor self) -> Tensor
  forward: where(self > 0, log(self), 0)
  self: where(self > 0, grad / self, 0)
  result: auto_element_wise
- name: log_by_product(Tensor self) -> Tensor
  forward: where(self > 0, log(self), 0)
  self: grad * where(self > 0, 1 / self, 0)
  result: self_t * where(self_p > 0, reciprocal(self_p), 0)
  promotes: self
- name: log_by_one_line(Tensor self) -> Tensor
  forward: where(self > 0, log(self), 0)
- name: root_beyond_one(Tensor self) -> Tensor
  forward: where(self > 1, sqrt(self - 1), 0)
  self: |
    beyond = self - 1
    return where(self > 1, grad / (2 * sqrt(beyond)), 0)
  result: auto_element_wise
- name: root_by_result(Tensor self) -> Tensor
  forward: where(self > 0, sqrt(self), 0)
  self: where(self > 0, grad / (2 * result), 0)
  result: auto_element_wise
- name: entropy(Tensor self) -> Tensor
  forward: where(self > 0, self * log(self), 0)
  self: grad * where(self > 0, log(self) + 1, 0)
  result: auto_element_wise
- name: share(Tensor self) -> Tensor
  forward: where(self != 0, 1 / self, 0)
  self: -grad * where(self != 0, 1 / self ** 2, 0)
  result: auto_element_wise
- name: arc_inside(Tensor self) -> Tensor
  forward: where(abs(self) < 1, asin(self), 0)
  self: grad * where(abs(self) < 1, rsqrt(1 - self * self), 0)
  result: auto_element_wise
- name: waves_of_logs(Tensor self) -> Tensor
  forward: where(self > 0, log(self) ** 2 * sin(log(self)), 0)
- name: decay_by(Tensor self) -> Tensor
  forward: where(self > 0, exp(-2 / self) / self, 0)
- name: exp_below(Tensor self) -> Tensor
  forward: where(self < 50, exp(self), 0)
  self: grad * where(self < 50, exp(self), 0)
  result: auto_element_wise
- name: sum_of_exps(Tensor self) -> Tensor
  forward: sum(where(self < 50, exp(self), 0))
  examples: [{self: [2]}]
- name: log_of_composite(Tensor self) -> Tensor
  composite: where(self > 0, log(self), 0)
  examples: [{self: [2]}]
- name: mean_of_composite(Tensor self) -> Tensor
  composite: |
    beyond = self - 1
    return where(beyond > 0, sqrt(beyond), 0) / 2
  examples: [{self: [2]}]
"""

MASKED_AT = {
    "exp_below": [50.0, 60.0, 1000.0],
    "sum_of_exps": [50.0, 60.0, 1000.0],
    "log_of_composite": [-1.0, 0.0],
    "mean_of_composite": [0.5, 1.0],
    "log_or_zero": [-1.0, 0.0],
    "log_by_product": [-1.0, 0.0],
    "log_by_one_line": [-1.0, 0.0],
    "root_beyond_one": [0.5, 1.0],
    "root_by_result": [-1.0, 0.0],
    "entropy": [-1.0, 0.0],
    "share": [0.0, 0.0],
    "waves_of_logs": [-1.0, 0.0],
    "decay_by": [-1.0, 0.0],
    "arc_inside": [1.0, -1.0, 3.0],
}


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return imported(ENTRIES, tmp_path_factory.mktemp("safe"), "safe_branches")


Function = Callable[[gs.Tensor], gs.Tensor]


def pulled(function: Function) -> Function:
    """The gradient of the sum of a function, to be differentiated again."""

    def gradient(x: gs.Tensor) -> gs.Tensor:
        leaf = x if x.requires_grad else x.requires_grad_()
        (found,) = gs.autograd.grad(function(leaf).sum(), leaf, create_graph=True)
        return found

    return gradient


def pushed(function: Function) -> Function:
    """The tangent of a function for a tangent of ones."""

    def tangent(x: gs.Tensor) -> gs.Tensor:
        with fw.dual_level():
            return fw.unpack_dual(function(fw.make_dual(x, gs.ones_like(x)))).tangent

    return tangent


MODES: Mapping[str, Callable[[Function], Function]] = {
    "forward": lambda function: function,
    "VJP": pulled,
    "JVP": pushed,
    "VJP of the VJP": lambda function: pulled(pulled(function)),
    "JVP of the VJP": lambda function: pushed(pulled(function)),
    "VJP of the JVP": lambda function: pulled(pushed(function)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", MASKED_AT)
def test_nothing_comes_from_what_is_masked(ops: ModuleType, name: str, mode: str) -> None:
    x = gs.tensor(MASKED_AT[name], dtype=gs.float64)
    found = MODES[mode](getattr(ops, name))(x)
    np.testing.assert_array_equal(found.detach().numpy(), np.zeros(len(x)))


def test_the_gradient_of_the_cotangent_is_masked_too(ops: ModuleType) -> None:
    x = gs.tensor([0.0, 4.0], dtype=gs.float64, requires_grad=True)
    cotangent = gs.ones(2, dtype=gs.float64, requires_grad=True)
    (slope,) = gs.autograd.grad(ops.log_or_zero(x), x, cotangent, create_graph=True)
    (back,) = gs.autograd.grad(slope.sum(), cotangent)
    np.testing.assert_array_equal(back.numpy(), [0.0, 0.25])
