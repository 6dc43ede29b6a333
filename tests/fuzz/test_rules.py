"""Rules at calls that no example makes; `python -m tests.fuzz.rules.search` searches the table."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradspec.dispatch.registry import BY_NAME, OPS, import_all
from gradspec_codegen import auto
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.prove.inputs.draw import examples_of
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from tests.codegen.conftest import ENDLESS
from tests.codegen.proving import own_table

from .rules.search import WrongCall, check_calls

pytestmark = pytest.mark.filterwarnings("ignore")

RIGHT = (
    *("sin", "mul.Tensor", "maximum", "prod", "cumprod", "sort", "relu", "index_select"),
    *("gather", "mm", "linalg_det", "logsumexp", "pixel_shuffle", "constant_pad_nd"),
)

WRONG = {
    "a shift that fits even lengths only": """
  forward: roll(self, self.shape[0] // 2, 0)
  self: roll(grad, self.shape[0] // 2, 0)
  result: auto_linear
  examples: [{self: [4]}]
""",
    "a transposition that one row hides": """
  forward: linalg_inv(self)
  self: -(result @ grad @ result)
  result: -(result @ self_t @ result)
  examples: [{self: [1, 1]}]
""",
    "an index that occurs twice": """
  forward: index_select(self, 0, index)
  self: index_copy(0 * self, 0, index, grad)
  index: non_differentiable
  result: index_select(self_t, 0, index)
  examples: [{self: [3], index: {int: [2, 0]}}]
""",
    "an optional argument that no example gives": """
  forward: self * self if weight is None else self * self * weight
  self: 2 * grad * self if weight is None else 17 * grad
  weight: 42 * grad
  result: 2 * self_t * self_p if weight is None else self_t
  examples: [{self: [3]}]
""",
    "a product with a zero": """
  forward: prod(self)
  self: grad * result / self
  result: sum(self_t * result / self_p)
  examples: [{self: [3]}]
""",
    "a single point": """
  forward: sin(self)
  self: where(abs(self) == 0, 5 * grad, grad * cos(self))
  result: auto_element_wise
""",
    "single precision": """
  forward: sum(self * self)
  self: "grad * self if self.dtype == 'float32' else 2 * grad * self"
  result: 2 * sum(self_t * self_p)
  examples: [{self: [3]}]
""",
    "a list of other parts": """
  forward: cat(tensors, 0)
  tensors: split(grad, grad.shape[0] // len(tensors), 0)
  result: cat(tensors_t, 0)
  examples: [{tensors: [[2], [2]]}, {tensors: [[3], [3], [3]]}]
""",
    "memory of an argument": """
  forward: self
  self: grad
  result: self_t
  examples: [{self: [3]}]
""",
    "three flags together": """
  forward: self * self
  self: 3 * grad * self if a and b and c else 2 * grad * self
  result: 2 * self_t * self_p
  examples: [{self: [3]}]
""",
    "a large length": """
  forward: sum(self * self)
  self: 2 * grad * self if self.ndim == 0 or self.shape[0] < 100 else grad * self
  result: 2 * sum(self_t * self_p)
  examples: [{self: [3]}]
""",
    "beyond the domain": """
  forward: abs(self)
  self: grad
  result: self_t
  domain: {self: positive}
  examples: [{self: [3]}]
""",
    "a number that the formula tells apart": """
  forward: self * alpha
  self: grad * alpha if alpha <= 10 else grad
  result: self_t * alpha
  examples: [{self: [3]}]
""",
    "an argument declared constant": """
  forward: exp(self)
  self: non_differentiable
  examples: [{self: [3]}]
""",
}

ARGUMENTS = {
    "an index that occurs twice": "Tensor self, Tensor index",
    "an optional argument that no example gives": "Tensor self, Tensor? weight=None",
    "a list of other parts": "Tensor[] tensors",
    "three flags together": "Tensor self, bool a=False, bool b=False, bool c=False",
    "a number that the formula tells apart": "Tensor self, *, Scalar alpha=1",
}


SHOWN = {
    "a shift that fits even lengths only": "the JVP gives .*",
    "a transposition that one row hides": "the JVP gives .*",
    "an index that occurs twice": r"the JVP gives .*index=\[(\d), \1\]",
    "an optional argument that no example gives": r"the JVP gives .*weight=\[",
    "a product with a zero": r"is nan: the slopes .*self=\[.*\b0\. ",
    "a single point": r"the slopes of both sides .*self=\[.*\b0\. ",
    "single precision": "together with the others .*",
    "a list of other parts": r"raises IndexError.*tensors=\[\[\], \[\]\]",
    "memory of an argument": "lies in the memory of an argument.*",
    "three flags together": "the JVP gives .*a=True, b=True, c=True",
    "a large length": r"the JVP gives .*float64\[1\d\d\]",
    "beyond the domain": r"the slopes of both sides .*self=\[-",
    "a number that the formula tells apart": "the JVP gives .*alpha=10.5",
    "an argument declared constant": "is declared not to exist.*",
}
"""The reason and the call by which each is found."""


@pytest.fixture
def registered() -> Iterator[None]:
    """Forget the ops that a test registers."""
    import_all()
    known = [(each, dict(each)) for each in (BY_NAME, OPS)]
    yield
    for each, before in known:
        each.clear()
        each.update(before)  # type: ignore[arg-type]


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", RIGHT)
def test_rules_of_the_table_are_slopes_everywhere(name: str) -> None:
    spec = own_table().by_name(name)
    calls, compared = check_calls(spec, examples_of(spec), ENDLESS)
    assert calls > 20
    assert compared > 200


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("number", range(len(WRONG)), ids=list(WRONG))
def test_a_wrong_rule_shows_at_some_call(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    title, entry = list(WRONG.items())[number]
    signature = f"- name: fuzzed{number}({ARGUMENTS.get(title, 'Tensor self')}) -> Tensor\n"
    (tmp_path / "ops.yaml").write_text(f"{signature}  doc: An op.{entry}", encoding="utf-8")
    table = load_table(tmp_path / "ops.yaml", base=own_table())
    table = auto.fill_in(table, Table((*own_table().ops, *table.ops)), {})
    package = tmp_path / f"fuzzed_rules_{number}"
    package.mkdir()
    for file, text in PackageBuilder(table, package.name, own_table()).build().files.items():
        (package / file).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module(f"{package.name}.ops")
    (spec,) = table.ops
    with pytest.raises(WrongCall) as wrong:
        check_calls(spec, examples_of(spec), ENDLESS)
    assert re.search(SHOWN[title], f"{wrong.value} in {wrong.value.call}")
