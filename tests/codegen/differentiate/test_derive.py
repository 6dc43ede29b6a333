"""Derived rules read as a person's, and say why where there is none."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gradspec_codegen.auto import fill_in
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.prove.report.verdict import Status
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import AutoElementwise, Formula, NonDifferentiable, OpSpec, Table
from gradspec_codegen.target import builtin_spec
from tests.codegen.proving import prove_text, read_table


def filled(text: str, folder: Path) -> OpSpec:
    """The op of an entry, with the rules that it leaves out."""
    path = folder / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    (op,) = read_table(path).ops
    return op


def rules_of(op: OpSpec) -> dict[str, str]:
    """The formulas of an op by argument and output."""
    vjps = {name: rule for names, rule in op.vjps for name in names}
    found = {**vjps, **dict(op.jvps)}
    return {name: rule.text for name, rule in found.items() if isinstance(rule, Formula)}


DERIVED = {
    "log_sum_of_powers(Tensor self, int dim)": (
        "log(sum(exp(self), dim))",
        {
            "self": "exp_value = exp(self)\n"
            "return _unreduce(grad / sum(exp_value, dim), self.shape, dim, False) * exp_value",
            "result": "exp_value = exp(self_p)\n"
            "return sum(self_t * exp_value, dim) / sum(exp_value, dim)",
        },
        "{self: [2, 3], dim: 1}",
    ),
    "attend(Tensor q, Tensor k, Tensor v)": (
        "softmax(q @ _mt(k), -1) @ v",
        {
            "v": "transpose_value = transpose(k, -2, -1)\n"
            "softmax_value = _softmax(q @ transpose_value, -1)\n"
            "return _matmul_right(grad, softmax_value, v)",
        },
        "{q: [2, 2], k: [2, 2], v: [2, 1]}",
    ),
    "scaled_sum(Tensor self, Tensor weight)": (
        "sum(self * weight)",
        {
            "weight": "product = self * weight\n"
            "back_product = _unreduce(grad, product.shape, None, False)\n"
            "return _sum_to_size(back_product * self, weight.shape)",
            "result": "sum(self_t * weight_p + self_p * weight_t)",
        },
        "{self: [2, 2], weight: [2]}",
    ),
    "square_of(Tensor self)": (
        "sum(self * self)",
        {
            "self": "2 * _unreduce(grad, self.shape, None, False) * self",
            "result": "sum(2 * self_p * self_t)",
        },
        "{self: [2]}",
    ),
    "shares(Tensor self, int dim=-1)": (
        "exp(self - amax(self, dim, True)) / sum(exp(self - amax(self, dim, True)), dim, True)",
        {
            "self": "_softmax_backward_data(grad, result, dim)",
            "result": "result * (self_t - sum(self_t * result, dim, True))",
        },
        "{self: [2, 3]}",
    ),
    "signed_power(Tensor self, float p=0.5)": (
        "sign(self) * abs(self) ** p",
        {"self": "grad * p * abs(self) ** (p - 1)"},
        "{self: [2]}",
    ),
    "perhaps_weighted(Tensor self, Tensor? weight=None)": (
        "sum(self) if weight is None else sum(self * weight)",
        {
            "self": "if weight is None:\n"
            "    return _unreduce(grad, self.shape, None, False)\n"
            "else:\n"
            "    product = self * weight\n"
            "    return _sum_to_size(_unreduce(grad, product.shape, None, False) * weight, "
            "self.shape)",
        },
        "{self: [2]}, {self: [2], weight: [2]}",
    ),
    "ratio_of_products(Tensor a, Tensor b, Tensor c)": (
        "a @ b / c",
        {
            "a": "product = a @ b\n"
            "back_product = _sum_to_size(grad / c, product.shape)\n"
            "return _matmul_left(back_product, a, b)",
            "b": "product = a @ b\n"
            "back_product = _sum_to_size(grad / c, product.shape)\n"
            "return _matmul_right(back_product, a, b)",
        },
        "{a: [2, 2], b: [2, 2], c: [2]}",
    ),
    "chosen_twice(Tensor self, Tensor other)": (
        "sum(where(self > 0, where(self > 0, other * self, 0.0), 0.0))",
        {
            "self": "product = other * self\n"
            "back_product = where(self > 0, _unreduce(grad, product.shape, None, False), 0)\n"
            "return _sum_to_size(back_product * other, self.shape)",
            "result": "sum(where(self_p > 0, other_t * self_p + other_p * self_t, 0))",
        },
        "{self: [2], other: [2]}",
    ),
    "weighted_as_given(Tensor self, Tensor weight)": (
        "reshape(exp(self), self.shape) * weight",
        {
            "self": "view(_sum_to_size(grad * weight, self.shape), self.shape, copy=True)"
            " * exp(self)"
        },
        "{self: [2], weight: [2]}",
    ),
    "total_times_sum(Tensor self, Tensor other)": (
        "sum((self + other) * sum(self + other))",
        {
            "result": "total = self_p + other_p\n"
            "moved_total = expand(self_t, total.shape) + expand(other_t, total.shape)\n"
            "return sum(moved_total * sum(total) + total * sum(moved_total))",
        },
        "{self: [2], other: [2]}",
    ),
}


@pytest.mark.parametrize("signature", DERIVED)
def test_rules_that_are_derived(signature: str, tmp_path: Path) -> None:
    forward, expected, examples = DERIVED[signature]
    text = f"- name: {signature} -> Tensor\n  forward: {forward}\n  examples: [{examples}]\n"
    found = rules_of(filled(text, tmp_path))
    assert {name: found[name] for name in expected} == expected


def test_a_node_keeps_what_only_the_shape_is_read_of(tmp_path: Path) -> None:
    op = filled(
        "- name: ratio(Tensor a, Tensor b, Tensor c) -> Tensor\n  forward: a @ b / c\n", tmp_path
    )
    assert op.kernel is not None
    assert op.kernel.text == "product = a @ b\nreturn product / c"
    for name, rule in rules_of(op).items():
        assert name == "result" or "(a @ b).shape" not in rule


@pytest.mark.parametrize(
    "forward",
    [
        "exp(2 * self) / sum(exp(self), 1, True)",
        "exp(self) / amax(exp(self), 1, True)",
        "exp(self) / sum(exp(self), 1, True) ** 2",
        "exp(self) / (sum(exp(self), 1, True) + 1)",
        "exp(self) / sum(exp(self))",
    ],
)
def test_other_quotients_are_no_shares(forward: str, tmp_path: Path) -> None:
    text = f"- name: quotient(Tensor self) -> Tensor\n  forward: {forward}\n"
    for rule in rules_of(filled(text, tmp_path)).values():
        assert "_softmax" not in rule


def test_an_elementwise_definition_is_complete_by_itself(tmp_path: Path) -> None:
    op = filled(
        "- name: leaky(Tensor self, Tensor other) -> Tensor\n"
        "  forward: where(self > 0, self, 0.1 * self) * other\n",
        tmp_path,
    )
    assert op.promotes == ("self", "other")
    assert dict(op.kinks)
    assert isinstance(dict(op.jvps)["result"], AutoElementwise)


def test_a_value_that_gradients_read_is_kept(tmp_path: Path) -> None:
    op = filled(
        "- name: kept(Tensor self) -> Tensor\n"
        "  forward: log(sum(np.exp(self)))\n"
        "  examples: [{self: [2]}]\n",
        tmp_path,
    )
    assert op.kernel is not None
    assert op.kernel.text == "exp_value = exp(self)\nreturn log(sum(exp_value))"


def test_a_branch_that_is_not_taken_has_a_slope(tmp_path: Path) -> None:
    text = (
        "- name: rooted(Tensor self) -> Tensor\n"
        "  forward: where(self > 1, sqrt(self - 1), 0)\n"
        "- name: roots(Tensor self) -> Tensor\n"
        "  forward: sum(where(self > 0.5, 1 / self, 4 * self))\n"
        "  examples: [{self: [2]}]\n"
    )
    found = prove_text(text, tmp_path, "branches_with_slopes")
    for op, verdict in found.values():
        assert verdict.status is Status.PROVED, verdict
        assert "where(self > " in rules_of(op)["self"]


def test_numbers_of_dimensions_decide_conditions(tmp_path: Path) -> None:
    """A stack is no scalar, and its last two dimensions are two: `flatten` asks for that."""
    op = filled(
        textwrap.dedent("""\
        - name: turned_pairs(Tensor self, Tensor angle) -> Tensor
          doc: Neighbours as points of a plane, turned.
          requires: self.ndim > 0 and angle.ndim > 0 and self.shape[-1] == 2 * angle.shape[-1]
          forward: |
            even, odd = self[..., ::2], self[..., 1::2]
            turned = even * cos(angle) - odd * sin(angle), even * sin(angle) + odd * cos(angle)
            return flatten(stack(turned, -1), -2)
          examples:
            - {self: [4], angle: [2]}
        """),
        tmp_path,
    )
    rules = rules_of(op)
    assert rules.keys() == {"self", "angle", "result"}
    assert [rules[name].count("if ") for name in rules] == [0, 0, 1], "only extents of zero matter"


def test_what_is_required_tells_dimensions(tmp_path: Path) -> None:
    """A solution for a vector is one, the product of matrices a matrix, and a trace a number."""
    op = filled(
        textwrap.dedent("""\
        - name: shifted_fit(Tensor A, Tensor b) -> Tensor
          requires:
            - A.ndim == 2
            - b.shape == (A.shape[0],)
          forward: sum(linalg_solve(transpose(A, 0, 1) @ A, transpose(A, 0, 1) @ b)) - trace(A)
        """),
        tmp_path,
    )
    rules = rules_of(op)
    assert [rules[name].count("if ") for name in ("A", "b", "result")] == [0, 0, 0]
    assert "_trace_backward(-grad, A.shape)" in rules["A"]


def test_what_is_required_tells_sizes(tmp_path: Path) -> None:
    """A gradient as large as its argument has no sum; that of a bias has one by number."""
    op = filled(
        textwrap.dedent("""\
        - name: channel_waves(Tensor x, Tensor rate, Tensor? shift=None) -> Tensor
          requires:
            - x.ndim == 3
            - rate.shape == (x.shape[1],)
            - shift is None or shift.shape == (x.shape[2],)
          forward: |
            angle = x * view(rate, [1, -1, 1])
            angle = angle if shift is None else angle + shift
            return sin(angle)
        """),
        tmp_path,
    )
    rules = rules_of(op)
    assert not any("_sum_to_size" in text for text in rules.values()), rules
    assert ", (0, 2), True)" in rules["rate"]
    assert rules["shift"].endswith("return sum(grad * cos(angle + shift), (0, 1))")


def test_ways_that_differ_in_a_name_are_one(tmp_path: Path) -> None:
    op = filled(
        textwrap.dedent("""\
        - name: gate(Tensor x, Tensor w, Tensor? b=None) -> Tensor
          requires:
            - x.ndim == 2 and w.ndim == 2 and x.shape[1] == w.shape[0]
            - b is None or b.shape == (w.shape[1],)
          forward: |
            p = x @ w if b is None else x @ w + b
            return tanh(p) * sigmoid(p)
        """),
        tmp_path,
    )
    assert rules_of(op)["x"].startswith("p = x @ w if b is None else x @ w + b\nreturn ")


def test_what_all_ways_compute_stands_before_the_condition(tmp_path: Path) -> None:
    op = filled(
        textwrap.dedent("""\
        - name: distance(Tensor self, Tensor other, bool mean=False) -> Tensor
          requires: self.shape == other.shape
          forward: |
            difference = self - other
            scaled = tanh(difference)
            return sum(scaled * difference) / 3 if mean else sum(scaled * difference)
        """),
        tmp_path,
    )
    for text in rules_of(op).values():
        before, _, behind = text.partition("if mean:")
        lines = [line.partition(" = ")[0] for line in before.splitlines()]
        assert lines.count("difference") == lines.count("scaled") == 1
        assert "difference = self" not in behind


def test_whole_numbers_have_no_gradient(tmp_path: Path) -> None:
    op = filled(
        "- name: picked(Tensor self, Tensor index) -> Tensor\n"
        "  forward: sum(index_select(self, 0, index))\n"
        "  examples: [{self: [3], index: {int: [0, 2]}}]\n",
        tmp_path,
    )
    assert isinstance(op.rule("index"), NonDifferentiable)
    assert isinstance(op.rule("self"), Formula)


def test_a_mask_stays_one(tmp_path: Path) -> None:
    text = (
        "- name: kept_where(Tensor self, Tensor mask) -> Tensor\n"
        "  forward: where(mask, self, 0)\n"
        "  examples: [{self: [2], mask: {bool: [true, false]}}]\n"
    )
    op, verdict = prove_text(text, tmp_path, "with_mask")["kept_where"]
    assert verdict.status is Status.PROVED, verdict
    assert op.promotes == ()
    assert isinstance(op.rule("mask"), NonDifferentiable)


def test_a_vjp_that_is_written_stays(tmp_path: Path) -> None:
    text = (
        "- name: partly(Tensor self) -> Tensor\n"
        "  forward: cumsum(self * self, 0)\n"
        "  self: 2 * self * flip(cumsum(flip(grad, [0]), 0), [0])\n"
        "  examples: [{self: [3]}]\n"
    )
    op, verdict = prove_text(text, tmp_path, "partly_derived")["partly"]
    assert verdict.status is Status.PROVED
    assert rules_of(op) == {
        "self": "2 * self * flip(cumsum(flip(grad, [0]), 0), [0])",
        "result": "cumsum(2 * self_p * self_t, 0)",
    }


def test_a_gradient_has_the_layout_of_an_argument_and_of_nothing_else(tmp_path: Path) -> None:
    text = (
        "- name: squashed_product(Tensor self, Tensor other) -> Tensor\n"
        "  requires: self.ndim == 2 and other.ndim == 2\n"
        "  forward: mm(tanh(self), other)\n"
        "  examples: [{self: [1, 2], other: [2, 1]}]\n"
    )
    op, verdict = prove_text(text, tmp_path, "squashed_product")["squashed_product"]
    assert verdict.status is Status.PROVED, verdict
    assert rules_of(op)["self"] == "_tanh_backward(mm(grad, t(other)), self)"
    assert rules_of(op)["other"] == "mm(t(tanh(self)), grad, strides=other.strides)"


def test_items_of_a_list_get_gradients_by_number(tmp_path: Path) -> None:
    text = (
        "- name: first_by_third(Tensor[] parts) -> Tensor\n"
        "  requires: len(parts) == 3\n"
        "  forward: sum(parts[0]) * sum(parts[2])\n"
        "  examples: [{parts: [[2], [2], [2]]}]\n"
    )
    op, verdict = prove_text(text, tmp_path, "items_by_number")["first_by_third"]
    assert verdict.status is Status.PROVED, verdict
    assert "_zero(parts[1])" in rules_of(op)["parts"]
    assert "parts_t[1]" not in rules_of(op)["result"]


def test_items_of_a_list_of_any_length_are_none(tmp_path: Path) -> None:
    text = (
        "- name: first_of(Tensor[] parts) -> Tensor\n"
        "  forward: sum(parts[0])\n"
        "  examples: [{parts: [[2], [2]]}]\n"
    )
    with pytest.raises(SpecError) as caught:
        filled(text, tmp_path)
    (found,) = caught.value.diagnostics
    assert "no `len(parts) == …` is required" in found.message


REFUSED = {
    "np.tensordot(self, self, 1)": "`np.tensordot` is no op of the table",
    "sum(floor_divide(self, 2 * self))": "`floor_divide` has no derivative by `self`",
}


@pytest.mark.parametrize("forward", REFUSED)
def test_what_cannot_be_derived_is_told(forward: str, tmp_path: Path) -> None:
    head = "- name: opaque(Tensor self) -> Tensor\n"
    text = f"{head}  forward: {forward}\n  examples: [{{self: [2]}}]\n"
    with pytest.raises(SpecError) as caught:
        filled(text, tmp_path)
    (found,) = caught.value.diagnostics
    assert found.code == "GS072"
    assert REFUSED[forward] in found.message


def test_all_that_cannot_be_derived_is_told(tmp_path: Path) -> None:
    """Each op once, also where another one calls it."""
    tail = "  examples: [{self: [2]}]\n"
    opaque = "  forward: np.tensordot(self, self, 1)\n"
    text = (
        f"- name: first(Tensor self) -> Tensor\n{opaque}{tail}"
        f"- name: right(Tensor self) -> Tensor\n  forward: sum(sin(self))\n{tail}"
        f"- name: calls_first(Tensor self) -> Tensor\n  forward: 2 * first(self)\n{tail}"
        f"- name: second(Tensor self) -> Tensor\n{opaque}{tail}"
    )
    path = tmp_path / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_table(path)
    told = [found.message.split("`")[1] for found in caught.value.diagnostics]
    assert told == ["first", "second"]


def test_ops_behind_composites_have_their_rules(tmp_path: Path) -> None:
    """`pad` chooses among ops whose own rules are derived."""
    path = tmp_path / "ops.yaml"
    path.write_text(
        "- name: mirrored(Tensor self) -> Tensor\n"
        "  requires: self.ndim == 3 and self.shape[2] > 1\n"
        "  forward: pad(self, [1, 1], 'reflect')\n"
        "  examples: [{self: [1, 1, 3]}]\n",
        encoding="utf-8",
    )
    own = load_table(path, base=load_table(builtin_spec()))
    (op,) = fill_in(own, Table((*load_table(builtin_spec()).ops, *own.ops)), {}).ops
    assert "reflect" in rules_of(op)["self"] or "_reflection_pad1d" in rules_of(op)["self"]


def test_expanded_tensors_have_as_many_dimensions_as_sizes(tmp_path: Path) -> None:
    text = (
        "- name: grouped(Tensor q, Tensor k, float cap=0.0) -> Tensor\n"
        "  requires: q.ndim == 3 and k.ndim == 3 and q.shape[0] % k.shape[0] == 0\n"
        "  forward: |\n"
        "    repeats = q.shape[0] // k.shape[0]\n"
        "    keys = flatten(expand(unsqueeze(k, 1), [-1, repeats, -1, -1]), 0, 1)\n"
        "    scores = q @ transpose(keys, 1, 2)\n"
        "    return cap * tanh(scores / cap) if cap > 0 else scores\n"
        "  examples: [{q: [2, 1, 2], k: [1, 2, 2]}, {q: [2, 1, 2], k: [1, 2, 2], cap: 2.0}]\n"
    )
    rules = rules_of(filled(text, tmp_path))
    assert rules["k"].count("if") == 1
    assert "ndim == 0" not in rules["k"]


def test_an_item_of_any_list_may_be_asked_for_its_shape(tmp_path: Path) -> None:
    text = (
        "- name: mixed(Tensor[] parts, Tensor weight) -> Tensor\n"
        "  requires: weight.ndim == 1 and weight.shape[0] == len(parts)\n"
        "  forward: sum(reshape(weight, [-1] + [1] * parts[0].ndim) * stack(parts), 0)\n"
        "  examples: [{parts: [[2], [2]], weight: [2]}]\n"
    )
    _, verdict = prove_text(text, tmp_path, "shapes_of_items")["mixed"]
    assert verdict.status is Status.PROVED, verdict
