"""An absent tangent or gradient takes part in nothing, whatever an author's formulas look like."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import gradspec as gs
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec.dispatch.registry import BY_NAME, OPS, import_all
from gradspec_codegen.cli import main
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.emit.write import staged
from gradspec_codegen.prove.report.verdict import Status
from gradspec_codegen.prove.workers import prove_ops
from gradspec_codegen.spec.load import load_table
from tests.codegen.proving import own_table, prove_text

inf = float("inf")

SPEC = textwrap.dedent("""\
- family: shares

- name: summed(Tensor self, Tensor other) -> Tensor
  doc: A product, whose JVP is derived from blocks.
  forward: self * other
  self: |
    share = other
    return grad * share
  other: |
    share = self
    return grad * share
  result: auto_element_wise
  promotes: self, other

- name: jointly(Tensor self, Tensor other) -> Tensor
  doc: A product with one rule for both arguments.
  forward: self * other
  self, other: (grad * other, grad * self)
  result: auto_element_wise
  promotes: self, other

- name: branching(Tensor self, Tensor other, Tensor? scale=None, *, bool twice=False) -> Tensor
  doc: A product that may be scaled and doubled.
  forward: |
    factor = 2 if twice else 1
    return self * other * factor if scale is None else self * other * scale * factor
  self: |
    factor = 2 if twice else 1
    return grad * other * factor if scale is None else grad * other * scale * factor
  other: |
    factor = 2 if twice else 1
    return grad * self * factor if scale is None else grad * self * scale * factor
  scale: |
    factor = 2 if twice else 1
    return grad * self * other * factor
  result: |
    product, moved = self_p * other_p, self_t * other_p
    if scale is not None:
        moved = (moved + other_t * self_p) * scale_p + scale_t * product * (1 if self_t.ndim else 1)
    else:
        moved = moved + other_t * self_p
    if twice:
        return moved + moved
    return moved
  promotes: self, other, scale
  examples:
    - {self: [2], other: [2], scale: null}
    - {self: [2], other: [2], scale: [2]}
    - {self: [2], other: [2], scale: null, twice: true}
    - {self: [2], other: [2], scale: [2], twice: true}

- name: weighed(Tensor[] tensors, Tensor factor) -> Tensor
  doc: The first of a list times a factor, plus the second.
  forward: tensors[0] * factor + tensors[1]
  requires:
    - len(tensors) == 2
    - tensors[0].shape == factor.shape
    - tensors[1].shape == factor.shape
  tensors: "[grad * factor, grad]"
  factor: "constant: it is fixed"
  result: tensors_t[0] * factor + tensors_t[1]
  examples:
    - {tensors: [[2], [2]], factor: {float: [0.5, 2.0]}}

- name: mixed(Tensor self, Tensor other, Tensor factor) -> Tensor
  doc: One tensor times a factor, less another.
  forward: |
    product = self * factor
    return product - other
  self: grad * factor
  other: -grad
  factor: "constant: it is fixed"
  result: auto_linear
  promotes: self, other, factor

- name: both(Tensor self, Tensor factor) -> (Tensor times, Tensor plus)
  doc: The product and the sum.
  forward: (self * factor, self + factor)
  self: |
    back = grad_times * factor
    return _sum_to_size(back + grad_plus, self.shape)
  factor: _sum_to_size(grad_times * self + grad_plus, factor.shape)
  times: self_t * factor_p + self_p * factor_t
  plus: self_t + factor_t
  examples:
    - {self: [2], factor: [2]}

- name: ends(Tensor self, Tensor factor) -> (Tensor low, Tensor high)
  doc: The smallest element, and the largest times a factor.
  requires: self.ndim > 0 and factor.ndim == 0
  forward: amin(self, [0]), amax(self, [0]) * factor
  self: |
    dtype, dims = grad_high.dtype, grad_low.ndim + 1
    lowest, highest = self == low, self == amax(self, [0])
    by_low = lowest * (grad_low / sum(lowest, [dims - dims], dtype=grad_low.dtype))
    by_high = grad_high * factor / sum(highest, [0], dtype=dtype)
    return by_low + highest * by_high
  factor: _sum_to_size(grad_high * amax(self, [0]), factor.shape)
  examples:
    - {self: [3], factor: []}

- name: unwritten(Tensor self, Tensor other, Tensor third) -> Tensor
  doc: A product, of which one gradient has been forgotten.
  forward: self * other * third
  self: "not_implemented: nobody has needed it"
  other: grad * self * third
  third: "constant: it is read from a table"
  result: self_p * other_t * third
  promotes: self, other, third
""")


@pytest.fixture(scope="module")
def shares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package of the spec, which is proved."""
    folder = tmp_path_factory.mktemp("absent")
    (folder / "shares.yaml").write_text(SPEC, encoding="utf-8")
    words = ["codegen", str(folder / "shares.yaml"), "--out", str(folder / "absent_shares")]
    made = CliRunner().invoke(main, [*words, "-j", "1"])
    assert made.exit_code == 0, made.output
    import_all()  # a family that is imported meanwhile would be forgotten
    before = dict(OPS), dict(BY_NAME)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("absent_shares")
    for found, known in zip((OPS, BY_NAME), before, strict=True):
        found.clear()
        found.update(known)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """`inf * 0` of the primals themselves is meant."""
    with np.errstate(all="ignore"):
        yield


def tensor(*values: float) -> gs.Tensor:
    return gs.tensor(values, dtype=gs.float64)


def tangent_of(function: Any, *args: Any, at: int, **options: Any) -> Any:
    """The tangent of a result where one argument alone has one, of ones."""
    with dual_level():
        given = list(args)
        given[at] = make_dual(given[at], gs.ones_like(given[at]))
        found = unpack_dual(function(*given, **options)).tangent
    return None if found is None else found.tolist()


@pytest.mark.parametrize("name", ["summed", "jointly", "branching"])
def test_a_product_of_what_is_infinite(shares: ModuleType, name: str) -> None:
    x, y = tensor(inf, 0.0), tensor(0.0, inf)
    function = getattr(shares, name)
    assert tangent_of(function, x, y, at=0) == [0.0, inf]
    assert tangent_of(function, x, y, at=1) == [inf, 0.0]


def test_locals_branches_and_optional_arguments(shares: ModuleType) -> None:
    x, y, z = tensor(inf, 2.0), tensor(3.0, 5.0), tensor(7.0, inf)
    assert tangent_of(shares.branching, x, y, z, at=0) == [21.0, inf]
    assert tangent_of(shares.branching, x, y, z, at=0, twice=True) == [42.0, inf]
    assert tangent_of(shares.branching, x, y, None, at=0, twice=True) == [6.0, 10.0]
    # The others do not depend on it: inf * 0 would be nan.
    zeros = tensor(0.0, 0.0)
    assert tangent_of(shares.branching, zeros, y, z, at=0) == [21.0, inf]


def test_a_sum_that_is_linear_in_both(shares: ModuleType) -> None:
    x, y, factor = tensor(1.0, 2.0), tensor(3.0, inf), tensor(inf, 2.0)
    assert tangent_of(shares.mixed, x, y, factor, at=0) == [inf, 2.0]
    assert tangent_of(shares.mixed, x, y, factor, at=1) == [-1.0, -1.0]


def test_items_of_a_list(shares: ModuleType) -> None:
    x, y, factor = tensor(1.0, 2.0), tensor(3.0, 4.0), tensor(inf, 2.0)
    with dual_level():
        dual = make_dual(y, gs.ones(2).double())
        assert unpack_dual(shares.weighed([x, dual], factor)).tangent.tolist() == [1.0, 1.0]
        dual = make_dual(x, gs.ones(2).double())
        assert unpack_dual(shares.weighed([dual, y], factor)).tangent.tolist() == [inf, 2.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_cotangents_of_outputs_that_nobody_used(shares: ModuleType, create_graph: bool) -> None:
    x, factor = tensor(inf, 2.0).requires_grad_(), tensor(3.0, inf).requires_grad_()
    plus = shares.both(x, factor)[1]
    grads = gs.autograd.grad(plus.sum(), (x, factor), create_graph=create_graph)
    assert [grad.tolist() for grad in grads] == [[1.0, 1.0], [1.0, 1.0]]
    times = shares.both(x, factor)[0]
    grads = gs.autograd.grad(times.sum(), (x, factor), create_graph=create_graph)
    assert [grad.tolist() for grad in grads] == [[3.0, inf], [inf, 2.0]]


@pytest.mark.parametrize("create_graph", [False, True])
def test_dtypes_of_cotangents_that_are_absent(shares: ModuleType, create_graph: bool) -> None:
    """The dtype of a gradient is known only where the gradient is present."""
    x, factor = tensor(1.0, 5.0, 1.0).requires_grad_(), tensor(2.0)[0].requires_grad_()
    low, high = shares.ends(x, factor)
    (grad,) = gs.autograd.grad(low, x, retain_graph=True, create_graph=create_graph)
    assert grad.tolist() == [0.5, 0.0, 0.5]
    grads = gs.autograd.grad(high, (x, factor), create_graph=create_graph)
    assert [each.tolist() for each in grads] == [[0.0, 2.0, 0.0], 5.0]
    low, high = shares.ends(x, factor)
    (grad,) = gs.autograd.grad(low + high, x, create_graph=create_graph)
    assert grad.tolist() == [0.5, 2.0, 0.5]


def test_a_derivative_that_nobody_has_written(shares: ModuleType) -> None:
    x, y, z = (tensor(value).requires_grad_() for value in (2.0, 3.0, 5.0))
    with pytest.raises(RuntimeError, match=r"'unwritten' is not differentiable.*'third'.*a table"):
        shares.unwritten(x, y, z)
    with gs.no_grad():
        shares.unwritten(x, y, z)
    out = shares.unwritten(x, y, z.detach())
    assert [grad_node is None for grad_node, _ in out.grad_fn.next_functions] == [False, False]
    (by_y,) = gs.autograd.grad(out, y, retain_graph=True)
    assert by_y.item() == 10.0
    for asked in ([x], [x, y]):
        with pytest.raises(NotImplementedError, match="'unwritten: input' is not implemented"):
            gs.autograd.grad(out, asked, retain_graph=True)
    with pytest.raises(NotImplementedError, match="nobody has needed it"):
        gs.autograd.grad(out, y, create_graph=True)[0] + out.backward()


def test_a_tangent_that_nobody_has_written_how_to_carry_on(shares: ModuleType) -> None:
    x, y, z = tensor(2.0), tensor(3.0), tensor(5.0)
    assert tangent_of(shares.unwritten, x, y, z, at=1) == [10.0]
    with pytest.raises(RuntimeError, match=r"'unwritten' .* argument 'third': it is read from"):
        tangent_of(shares.unwritten, x, y, z, at=2)
    with pytest.raises(NotImplementedError, match=r"forward AD with unwritten.*needed it"):
        tangent_of(shares.unwritten, x, y, z, at=0)


REFUSED = {
    "a product of two": "self_t * other_p + (self_t + other_t) * (other_t * 0)",
    "a number beside": "self_t * other_p + other_t * self_p + 0",
    "two in one call": "mul(self_t, other_p) + maximum(self_t, other_t)",
    "a power": "self_t * other_p + other_t ** 1 * self_p",
    "a quotient": "self_t * other_p + other_t * self_p + 0 / (self_t + other_t)",
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_taken_apart_is_refused(tmp_path: Path, case: str) -> None:
    text = textwrap.dedent(f"""\
    - name: product(Tensor self, Tensor other) -> Tensor
      doc: A product.
      forward: self * other
      self: grad * other
      other: grad * self
      result: {REFUSED[case]}
      promotes: self, other
    """)
    with pytest.raises(SpecError) as refusal:
        prove_text(text, tmp_path, "refused")
    assert [found.code for found in refusal.value.diagnostics] == ["GS073"]


@pytest.mark.parametrize(
    ("right", "wrong", "label"),
    [
        (
            "None if factor_t is None else self * factor_t",
            "None if factor_t is None or self_t is None else self * factor_t",
            "the tangent of factor alone",
        ),
        (
            "add_present(back, grad_plus)",
            "(add_present(back, grad_plus) if back is not None else -grad_plus)",
            "of plus alone",
        ),
    ],
)
def test_code_that_is_wrong_where_one_is_absent_is_refuted(
    tmp_path: Path, right: str, wrong: str, label: str
) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(SPEC, encoding="utf-8")
    table = load_table(path, base=own_table())
    files = PackageBuilder(table, "doctored", own_table()).build().files
    assert right in files["shares.py"]
    files["shares.py"] = files["shares.py"].replace(right, wrong)
    op = table.by_name("both")
    with staged(files) as staging:
        (verdict,) = prove_ops([op], staging, "doctored", jobs=1)
    assert verdict.status is Status.REFUTED
    assert label in verdict.counterexample.label
