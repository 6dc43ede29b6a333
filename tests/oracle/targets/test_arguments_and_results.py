"""Arguments of emitted functions besides tensors, their results, and gradients of `backward`."""

from __future__ import annotations

import inspect
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch.func import grad, hessian, jvp, vmap

from gradspec_codegen import auto
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.targets.emitted import FILLED, ORIGIN, imported

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]

SPEC = """
- family: forms

- name: shrunk(Tensor self, Tensor width) -> Tensor
  doc: A smooth shrinkage.
  forward: self - width * tanh(self / width)
  promotes: self, width

- name: bent(Tensor self, Tensor width) -> Tensor
  doc: A line that bends at zero.
  forward: where(self >= 0, self / width, exp(self / width) - 1)
  self: grad * where(self >= 0, 1 / width, exp(self / width) / width)
  width: -grad * where(self >= 0, self / width ** 2, self / width ** 2 * exp(self / width))
  result: auto_element_wise
  promotes: self, width
  domain: {width: positive}

- name: scaled_rows(Tensor self, Tensor weight) -> Tensor
  doc: Rows with a weight each.
  requires: self.ndim == 2 and weight.ndim == 1
  forward: self * unsqueeze(weight, 1)
  examples:
    - {self: [2, 2], weight: [2]}

- name: turned(Tensor self) -> Tensor
  doc: The exponentials of a matrix, turned.
  requires: self.ndim == 2
  forward: transpose(exp(self), 0, 1)
  self: transpose(grad, 0, 1) * exp(self)
  result: transpose(self_t * exp(self_p), 0, 1)
  examples:
    - {self: [2, 2]}

- name: determinant_of_sum(Tensor self, Tensor other) -> Tensor
  doc: The determinant of a sum.
  requires: self.ndim == 2 and other.shape == self.shape
  forward: linalg_det(self + other)
  examples:
    - {self: [2, 2], other: [2, 2]}

- name: solution(Tensor self, Tensor other) -> Tensor
  doc: The solution of equations, twice as large.
  requires: self.ndim == 2 and other.ndim == 1
  forward: 2 * linalg_solve(self, other)
  examples:
    - {self: [2, 2], other: [2]}

- name: solution_by_factors(Tensor self, Tensor factors, Tensor pivots) -> Tensor
  doc: The solution of equations whose matrix is factorised, twice as large.
  requires: self.ndim == 2 and factors.ndim == 2 and pivots.ndim == 1
  forward: 2 * linalg_lu_solve(factors, pivots, self)
  self: 2 * linalg_lu_solve(factors, pivots, grad, adjoint=True)
  factors: non_differentiable
  pivots: non_differentiable
  result: 2 * linalg_lu_solve(factors, pivots, self_t)
  examples:
    - {self: [2, 1], factors: [2, 2], pivots: {int: [1, 2]}}

- name: whole_mean(Tensor self, int[1] dim=-1) -> Tensor
  doc: A mean of squares that PyTorch takes for a whole.
  requires: self.ndim > 0
  forward: mean(self * self, dim, True)
  examples:
    - {self: [2]}
  torch: {custom_op: true}
"""


def _package() -> ModuleType:
    folder = Path(tempfile.mkdtemp(prefix="gradspec-forms-"))
    (folder / "forms.yaml").write_text(SPEC, encoding="utf-8")
    table = load_table(folder / "forms.yaml", base=FILLED)
    table = auto.fill_in(table, Table((*FILLED.ops, *table.ops)), {})
    known = Table((*FILLED.ops, *table.ops))
    files = FrameworkPackage(table, known, framework("torch"), ORIGIN).files({})
    return imported(files, folder)


OPS = _package()
X = torch.tensor([1.0, -2.0], requires_grad=True)


@pytest.mark.parametrize("number", [2, 2.0, True])
def test_numbers_stand_for_promoted_tensors(number: complex) -> None:
    """They decide no dtype, and get no gradient."""
    found = OPS.shrunk(X, number)
    expected = OPS.shrunk(X, torch.full((2,), float(number)))
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(
        torch.autograd.grad(found.sum(), X), torch.autograd.grad(expected.sum(), X)
    )
    torch.testing.assert_close(OPS.shrunk(1.5, X.detach()), OPS.shrunk(torch.tensor(1.5), X))
    assert OPS.shrunk(1.5, 2).dtype == torch.float32
    torch.testing.assert_close(vmap(lambda x: OPS.shrunk(x, number))(X), expected)
    compiled = torch.compile(lambda x: OPS.shrunk(x, number), fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(X), expected)


def test_what_is_no_tensor_is_refused() -> None:
    message = r"shrunk\(\): argument 'width' must be Tensor, not list"
    with pytest.raises(TypeError, match=message):
        OPS.shrunk(X, [1.0, 2.0])
    message = r"scaled_rows\(\): argument 'weight' must be Tensor, not float"
    with pytest.raises(TypeError, match=message):
        OPS.scaled_rows(torch.ones(2, 2), 2.0)


def test_a_result_that_is_a_view_of_a_step_is_no_view() -> None:
    """It may be changed in place, and its tangent may lie in another order."""
    x = torch.tensor([[0.0, 1.0], [2.0, 3.0]], dtype=torch.float64, requires_grad=True)
    OPS.turned(x).mul_(2).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach().exp())
    modes = {"check_forward_ad": True, "check_batched_grad": True}
    assert torch.autograd.gradcheck(OPS.turned, (x,), check_batched_forward_grad=True, **modes)
    inner = grad(lambda m: OPS.turned(m).sum())
    compiled = torch.compile(inner, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x.detach()), x.detach().exp())


def test_second_derivatives_of_determinants() -> None:
    """PyTorch's own derivatives at singular matrices, by nested JVPs, are nan and wrong."""
    zero = torch.zeros(2, 2, dtype=torch.float64)
    bend = hessian(lambda m: OPS.determinant_of_sum(m, zero))(zero).reshape(4, 4)
    expected = [[0.0, 0, 0, 1], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]]
    torch.testing.assert_close(bend, torch.tensor(expected, dtype=torch.float64))
    direction = torch.tensor([[1.0, -0.5], [2.0, 0.75]], dtype=torch.float64)
    start = torch.tensor([[-0.5, -0.75], [-7.0, 4.0]], dtype=torch.float64)

    def along(t: torch.Tensor) -> torch.Tensor:
        moved: torch.Tensor = OPS.determinant_of_sum(start + t * direction, zero)
        return moved

    t = torch.zeros((), dtype=torch.float64)
    one = torch.ones_like(t)
    _, twice = jvp(lambda t: jvp(along, (t,), (one,))[1], (t,), (one,))
    assert twice.item() == pytest.approx(2 * (1.0 * 0.75 + 0.5 * 2.0))


def test_solutions_below_two_vmaps() -> None:
    """`jacfwd` maps over directions, `vmap` over matrices: PyTorch's own `lu_solve` is wrong."""
    rng = torch.Generator().manual_seed(2)
    matrices = torch.randn(3, 2, 2, dtype=torch.float64, generator=rng)
    right = torch.tensor([0.5, -1.5], dtype=torch.float64)
    bend = hessian(lambda m: OPS.solution(m, right).sin().sum())
    torch.testing.assert_close(vmap(bend)(matrices), torch.stack([bend(m) for m in matrices]))
    columns = torch.randn(4, 2, 1, dtype=torch.float64, generator=rng)

    def solutions(matrix: torch.Tensor) -> torch.Tensor:
        factors, pivots = torch.linalg.lu_factor(matrix)
        found: torch.Tensor = vmap(lambda c: OPS.solution_by_factors(c, factors, pivots))(columns)
        return found

    expected = 2 * torch.linalg.solve(matrices.unsqueeze(1), columns)
    torch.testing.assert_close(vmap(solutions)(matrices), expected)


def test_whole_ops_with_lists_of_numbers_are_batched_and_compiled() -> None:
    x = torch.tensor([[1.0, -2.0], [0.5, 4.0]], dtype=torch.float64)
    expected = (x * x).mean(-1, keepdim=True)
    torch.testing.assert_close(vmap(OPS.whole_mean)(x), expected)
    family = sys.modules[f"{OPS.__name__}.forms"]
    torch.testing.assert_close(vmap(lambda row: family.whole_mean__op(row, [0]))(x), expected)
    inner = grad(lambda m: OPS.whole_mean(m, (0, 1)).sum())
    compiled = torch.compile(inner, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), x / 2)


def test_backward_computes_nothing_twice() -> None:
    family = sys.modules[f"{OPS.__name__}.forms"]
    source = inspect.getsource(family.Shrunk_Reverse.backward)
    assert source.count("torch.tanh(") == 1
    first, again = inspect.getsource(family.Bent_Reverse.backward).split("return", 1)
    assert first.count("torch.where(") == 2, "no branch is guarded that is not differentiated"
    assert again.count("torch.where(") > 2
    assert first.count("torch.exp(") == 1


def test_guarded_branches_where_gradients_are_differentiated() -> None:
    """The branch that is not taken overflows, and leaves no nan behind."""
    x = torch.tensor([2000.0, -1.0], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(OPS.bent(x, 1.0).sum(), x, create_graph=True)
    torch.testing.assert_close(first, torch.tensor([1.0, torch.e**-1], dtype=torch.float64))
    (second,) = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(second, torch.tensor([0.0, torch.e**-1], dtype=torch.float64))
