"""Uses of tensors, numbers and lists that fail at every call, told before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.spec.load import load_table
from tests.codegen.proving import own_table

SIGNATURE = (
    "op(Tensor self, Tensor[] tensors, Tensor? weight=None, Scalar alpha=1, int? n=None, "
    "int[] dims=[], str mode='a', bool flag=False, ScalarType? dtype=None) -> Tensor"
)


def messages(tmp_path: Path, formula: str, rules: str = "") -> list[str]:
    path = tmp_path / "ops.yaml"
    path.write_text(f"- name: {SIGNATURE}\n  forward: {formula}\n{rules}", encoding="utf-8")
    try:
        load_table(path, base=own_table())
    except SpecError as error:
        return [d.message for d in error.diagnostics if d.code == "GS036"]
    return []


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("self if alpha.dtype == 'float32' else -self", "`.dtype` of a number"),
        ("self if is_complex(alpha) else -self", "`is_complex` of a number"),
        ("self * tensors.shape[0]", "`.shape` of a list of tensors"),
        ("self * self.meta", "`.meta` of a tensor"),
        ("self * len(alpha)", "`len` of a number"),
        ("self if 'float' in self.dtype else -self", "`in` looks for a part of a dtype"),
        ("self if self.dtype[-2:] == '64' else -self", "a part of a dtype"),
        ("self if self.dtype < 'float64' else -self", "`<` of a dtype"),
        ("self if (self * 2).strides[0] == 8 else -self", "only arguments have `.strides`"),
        ("self * float(self)", "`float` of a tensor"),
        ("self * float(sum(self))", "`float` of a tensor"),
        ("self * self.shape", "`*` of a tensor and a list of numbers"),
        ("sum(self, dims + 1)", "`+` of a list of numbers and a number"),
        ("self * mode", "`*` of a text"),
        ("self + tensors", "`+` of a list of tensors"),
        ("self if self > 0 else -self", "a tensor has no one truth value"),
        ("self if self[0] else -self", "a tensor has no one truth value"),
        ("self if flag and self else -self", "a tensor has no one truth value"),
        ("sin(tensors)", "`sin` is given a list of tensors for `self`, which is a tensor"),
        ("sin(dims)", "`sin` is given a list of numbers for `self`, which is a tensor"),
        ("cat(tensors, mode)", "`cat` is given a text for `dim`, which is a number"),
        ("cumsum(self, self)", ""),
        ("self * weight", "`weight` may be None here"),
        ("self * n", "`n` may be None here"),
        ("self.ndim * self if n > 2 else self", "`n` may be None here"),
    ],
)
def test_what_fails_at_every_call_is_told(tmp_path: Path, formula: str, message: str) -> None:
    assert messages(tmp_path, formula) == ([message] if message else [])


@pytest.mark.parametrize(
    "formula",
    [
        "self * alpha if weight is None else self * weight",
        "self if n is None or n < 2 else self * n",
        "reshape(self, self.shape[:1] + (1,))",
        "reshape(self, tuple(dims) + (1,))",
        "where(self > 0, self, -self)",
        "self * (flag + 1)",
        "sum(self, dims) if len(dims) == 2 else self",
        "sum(self * self, dtype=dtype)",
        "cat(tensors[1:], -1) + tensors[0].ndim",
        "maximum(self, 0)",
        "self * len(tensors[0])",
    ],
)
def test_what_works_passes(tmp_path: Path, formula: str) -> None:
    assert messages(tmp_path, formula) == []


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("self if 'mean' in mode else -self", "`in` looks for a part of a text"),
        ("self if mode in 'mean' else -self", "`in` looks for a part of a text"),
        ("self if mode in ('mean') else -self", "`in` looks for a part of a text"),
        ("self if mode not in 'mean' else -self", "`not in` looks for a part of a text"),
        ("self if mode[0] == 'm' else -self", "a part of a text"),
        ("self if mode < 'mean' else -self", "`<` of a text"),
        ("self if mode + 's' == 'means' else -self", "`+` of a text"),
        ("self * len(mode)", "`len` of a text"),
        ("self if mode in ('mean', 'sum') else -self", ""),
        ("self if mode in ('mean',) else -self", ""),
        ("self if mode == 'mean' or mode != 'sum' else -self", ""),
    ],
)
def test_texts_are_compared_as_a_whole(tmp_path: Path, formula: str, message: str) -> None:
    """The proof goes through the texts that formulas mention, and not through all others."""
    assert messages(tmp_path, formula) == ([message] if message else [])


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("self * sum(self > 0, dtype='uint8')", "`uint8` is too narrow: it ends at 255"),
        ("_to_copy(_to_copy(self, dtype='int8'), dtype=self.dtype)", "`int8` is too narrow"),
        ("_to_copy(cumsum(self, 0), dtype='int16')", "`int16` is too narrow"),
        ("self * sum(self > 0, dtype='int64')", ""),
        ("sum(self, dtype=dtype)", ""),
        ("self if self.dtype == 'uint8' else -self", ""),
    ],
)
def test_integers_are_wide_enough_to_count_elements(
    tmp_path: Path, formula: str, message: str
) -> None:
    found = messages(tmp_path, formula)
    assert len(found) == bool(message)
    assert all(each.startswith(message) for each in found)


def test_a_gradient_is_asked_for_where_the_argument_is_given(tmp_path: Path) -> None:
    rules = "  weight: grad * weight\n  self: grad * weight\n"
    forward = "self if weight is None else self * weight * weight / 2"
    assert messages(tmp_path, forward, rules) == ["`weight` may be None here"]


def test_locals_have_the_kind_of_what_they_are_assigned(tmp_path: Path) -> None:
    block = "|\n    k = self.ndim - 1\n    y = sin(self)\n    return y * k.ndim if y else y"
    assert messages(tmp_path, block) == ["`.ndim` of a number", "a tensor has no one truth value"]
