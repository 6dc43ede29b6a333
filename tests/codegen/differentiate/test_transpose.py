"""One half of the rules gives the other where a definition has no derivative: it is transposed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.prove.report.verdict import Status
from tests.codegen.proving import prove_text

from .test_derive import filled, rules_of

GATHERED = (
    "- name: picked_along(Tensor self, int dim, Tensor index) -> Tensor\n"
    "  forward: kernels.gather(self, dim, index)\n"
    "  {rule}\n"
    "  index: non_differentiable\n"
    "  examples: [{{self: [2, 3], dim: 1, index: {{int: [[0, 2], [1, 1]]}}}}]\n"
)
INVERSE = (
    "- name: inverse_of(Tensor self) -> Tensor\n"
    "  requires: [self.ndim == 2, 'self.shape[0] == self.shape[1]']\n"
    "  forward: kernels.inv_ex(self, False)[0]\n"
    "  {rule}\n"
    "  examples: [{{self: [2, 2]}}]\n"
)
FACTORS = (
    "- name: factors_of(Tensor self) -> (Tensor values, Tensor vectors)\n"
    "  forward: kernels.eigh(self, 'L')\n"
    "  {rule}\n"
    "  examples: [{{self: {{eigh: [2, 2]}}}}]\n"
)
PUT = (
    "- name: put_where(Tensor self, Tensor mask, Tensor source) -> Tensor\n"
    "  requires: self.shape == mask.shape\n"
    "  forward: kernels.masked_scatter(self, mask, source)\n"
    "  {rule}\n"
    "  mask: non_differentiable\n"
    "  examples: [{{self: [3], mask: {{bool: [true, false, true]}}, source: [2]}}]\n"
)
ONE_HALF = {
    "a JVP from a VJP": (
        GATHERED,
        "self: _gather_backward(grad, self, dim, index)",
        {"result": "gather(self_t, dim, index)"},
    ),
    "a VJP from a JVP": (
        GATHERED,
        "result: gather(self_t, dim, index)",
        {"self": "_gather_backward(grad, self, dim, index)"},
    ),
    "two VJPs from a JVP": (
        PUT,
        "result: masked_scatter(self_t, mask, source_t)",
        {"self": "_sum_to_size(masked_fill(grad, mask, 0), self.shape)"},
    ),
    "a JVP from two VJPs": (
        PUT,
        "self: masked_fill(grad, mask, 0)\n  source: _masked_take(grad, mask, source.shape)",
        {
            "result": "_masked_put(source_t, result.shape, mask) + "
            "_sum_to_size(masked_fill(self_t, mask, 0), result.shape)"
        },
    ),
    "a JVP of matrices": (
        INVERSE,
        "self: -matmul(_mt(result), matmul(grad, _mt(result)))",
        {},
    ),
    "a VJP of matrices": (INVERSE, "result: -matmul(result, matmul(self_t, result))", {}),
    "two JVPs from a VJP": (
        FACTORS,
        "self: |\n"
        "    turned = matmul(_mt(vectors), grad_vectors) / _differences(values)\n"
        "    kept = turned - diag_embed(diagonal(turned, 0, -2, -1))\n"
        "    back = matmul(matmul(vectors, kept + diag_embed(grad_values)), _mt(vectors))\n"
        "    return (back + _mt(back)) / 2",
        {},
    ),
}


@pytest.mark.parametrize("case", ONE_HALF)
def test_one_half_gives_the_other(case: str, tmp_path: Path) -> None:
    entry, rule, expected = ONE_HALF[case]
    text = entry.format(rule=rule)
    ((op, verdict),) = prove_text(text, tmp_path, f"half_{len(case)}").values()
    assert verdict.status is Status.PROVED, verdict
    found = rules_of(op)
    assert {name: found[name] for name in expected} == expected


def test_a_wrong_half_is_refuted(tmp_path: Path) -> None:
    text = GATHERED.format(rule="self: 2 * _gather_backward(grad, self, dim, index)")
    ((_, verdict),) = prove_text(text, tmp_path, "wrong_half").values()
    assert verdict.status is Status.REFUTED


def test_what_is_absent_stays_absent(tmp_path: Path) -> None:
    op = filled(
        "- name: filtered(Tensor self, Tensor weight, Tensor? bias=None) -> Tensor\n"
        "  forward: |\n"
        "    ones, zeros = (1,), (0,)\n"
        "    f = False\n"
        "    c = kernels.convolution(self, weight, bias, ones, zeros, ones, f, zeros, 1, 1, '')\n"
        "    return c\n"
        "  result: |\n"
        "    change = conv1d(self_t, weight_p) + conv1d(self_p, weight_t)\n"
        "    return change if bias is None else change + unsqueeze(bias_t, -1)\n"
        "  examples: [{self: [1, 1, 3], weight: [1, 1, 2]}]\n",
        tmp_path,
    )
    assert "_t" not in "".join(rules_of(op)[name] for name in ("self", "weight", "bias"))


REFUSED = {
    "self: grad * grad * self": "its VJPs are not linear in `grad`",
    "self: auto": "`kernels.gather` is no op of the table",
}


@pytest.mark.parametrize("rule", REFUSED)
def test_what_cannot_be_transposed_is_told(rule: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        filled(GATHERED.format(rule=f"{rule}\n  result: auto"), tmp_path)
    (found,) = caught.value.diagnostics
    assert found.code == "GS072"
    assert REFUSED[rule] in found.message


def test_the_op_itself_is_no_half(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        filled(GATHERED.format(rule="result: auto_linear"), tmp_path)
    assert [each.code for each in caught.value.diagnostics] == ["GS043"]
