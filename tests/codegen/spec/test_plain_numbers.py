"""`abs`, `min` and `max` of plain numbers are conditionals; of tensors they are ops."""

from __future__ import annotations

import pytest

from gradspec_codegen.ir.guard import FormulaError
from gradspec_codegen.ir.nodes import Call, Conditional
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.ir.walk import walk
from gradspec_codegen.render.to_text import formula_text
from gradspec_codegen.spec.plain_numbers import with_plain_numbers
from gradspec_codegen.spec.signature import parse_signature

SIGNATURE = parse_signature(
    "op(Tensor self, int n, float alpha=1.0, int[] dims=[], Scalar? bound=None) -> Tensor"
)


def read(text: str) -> str:
    found = with_plain_numbers(parse(text), SIGNATURE).expression
    assert found is not None
    return formula_text(found)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("abs(n)", "-n if n < 0 else n"),
        ("min(n, 3)", "3 if 3 < n else n"),
        ("max(self.ndim - 2, 0)", "0 if 0 > self.ndim - 2 else self.ndim - 2"),
        ("max(self.shape[-1], len(dims))", "len(dims) if len(dims) > self.shape[-1] else"),
        ("min(alpha, dims[0])", "dims[0] if dims[0] < alpha else alpha"),
    ],
)
def test_of_numbers(written: str, meant: str) -> None:
    assert read(written).startswith(meant)


@pytest.mark.parametrize("text", ["abs(self)", "min(self, 0)", "max(self * n)", "max(self, n)"])
def test_of_tensors(text: str) -> None:
    assert read(text) == text


def test_locals_that_are_numbers_count() -> None:
    block = with_plain_numbers(
        parse("k = self.ndim - 1\nm = k\ny = self * 2\nreturn y * max(m, 0) + max(y, 0)"), SIGNATURE
    )
    assert sum(isinstance(node, Conditional) for node in walk(block)) == 1
    assert [node.function for node in walk(block) if isinstance(node, Call)] == ["max"]


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("sum(dims)", "write it out"),
        ("prod(self.shape)", "numel"),
        ("min(self.shape[1:])", "write it out"),
        ("round(alpha)", "rounds down"),
    ],
)
def test_lists_and_numbers_are_no_tensors(text: str, help: str) -> None:
    with pytest.raises(FormulaError, match="takes a tensor") as caught:
        read(text)
    assert help in caught.value.help
