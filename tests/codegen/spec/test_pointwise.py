"""Tests of which ops are known to compute element by element, by all of their formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from gradspec.dispatch.registry import BY_NAME, import_all
from gradspec_codegen import auto
from gradspec_codegen.pipeline import builtin_table
from gradspec_codegen.spec.elementwise import with_pointwise
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec

SPEC = """\
- name: halved(Tensor self) -> Tensor
  forward: self / 2 + np.sin(self)
  self: grad / 2 + grad * cos(self)
  result: auto_element_wise

- name: bent(Tensor self, Scalar at) -> Tensor
  forward: where(self > at, halved(self), 0)
  self: where(self > at, grad / 2 + grad * cos(self), 0)
  result: auto_element_wise

- name: centred(Tensor self) -> Tensor
  forward: self - 1
  self: grad - sum(grad)
  result: auto_linear

- name: halved_and_centred(Tensor self) -> Tensor
  forward: halved(centred(self))
  self: grad
  result: self_t

- name: first(Tensor self) -> Tensor
  forward: self[0]
  self: grad
  result: self_t

- name: scaled_by_size(Tensor self) -> Tensor
  forward: self * self.ndim
  self: grad * self.ndim
  result: auto_linear

- name: counted(Tensor self) -> Tensor
  forward: self * numel(self)
  self: grad * numel(self)
  result: auto_linear

- name: one(Tensor self) -> Tensor
  forward: self * 2
  self: other(grad)
  result: auto_linear

- name: other(Tensor self) -> Tensor
  forward: self * 2
  self: one(grad)
  result: auto_linear

- name: product(Tensor self, Tensor mat2) -> Tensor
  forward: self @ mat2
  self: grad
  mat2: grad
  result: self_t
"""


def test_all_formulas_count_and_the_ops_they_call(tmp_path: Path) -> None:
    file = tmp_path / "ops.yaml"
    file.write_text(SPEC, encoding="utf-8")
    base = builtin_table()
    table = with_pointwise(load_table(file, base=base), base)
    found = [op.name for op in table.ops if op.is_pointwise]
    assert found == ["halved", "bent", "one", "other"]


def _table() -> list[OpSpec]:
    table = builtin_table()
    return [*with_pointwise(auto.fill_in(table, table, {}), None).ops]


POINTWISE = {op.name: op for op in _table() if op.is_pointwise}


def test_known_ops_are_told_apart() -> None:
    assert {"exp", "mul.Tensor", "tanh", "addcdiv", "clamp_min"} <= {*POINTWISE}
    assert not {"sum", "cumsum", "_softmax", "mm", "addmm", "flip", "glu"} & {*POINTWISE}


def _is_called_with_tensors(op: OpSpec) -> bool:
    plain = [p for p in op.signature.params if p not in op.signature.tensor_params]
    return not op.is_private and all(p.type.base == "Scalar" for p in plain)


@pytest.mark.parametrize("name", [n for n, op in POINTWISE.items() if _is_called_with_tensors(op)])
def test_elements_of_the_table_do_not_see_each_other(name: str) -> None:
    import_all()
    op, rng = POINTWISE[name], np.random.default_rng(7)
    shape = (3, 2)
    arrays = [rng.uniform(0.1, 0.9, shape) for _ in op.signature.tensor_params]
    whole = _values_and_gradients(op, arrays)
    for place in np.ndindex(shape):
        single = _values_and_gradients(op, [array[place].reshape(1) for array in arrays])
        for got, of_all in zip(single, whole, strict=True):
            np.testing.assert_allclose(got, of_all[place].reshape(1), rtol=1e-14, atol=0)


def _values_and_gradients(op: OpSpec, arrays: list[np.ndarray]) -> list[np.ndarray]:
    is_of_bits = op.name.startswith(("bitwise", "gcd", "lcm"))
    tensors = [gs.tensor((a * 10).astype(np.int64) if is_of_bits else a) for a in arrays]
    for param, tensor in zip(op.signature.tensor_params, tensors, strict=True):
        has_slope = param.name in op.differentiable_params
        tensor.requires_grad_(has_slope and tensor.is_floating_point())
    given = iter(tensors)
    args = [next(given) if p in op.signature.tensor_params else 0.5 for p in op.signature.params]
    named = {p.name: a for p, a in zip(op.signature.params, args, strict=True) if p.keyword_only}
    result = BY_NAME[op.name].function(*args[: len(args) - len(named)], **named)
    found = [result.detach().numpy()]
    if result.requires_grad:
        leaves = [tensor for tensor in tensors if tensor.requires_grad]
        gradients = gs.autograd.grad(result.sum(), leaves, allow_unused=True)
        found += [g.numpy() for g in gradients if g is not None]
    return found
