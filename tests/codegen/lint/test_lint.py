"""`gradspec lint` on specs of one's own: naive rules are found, and better ones offered."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from gradspec_codegen.lint import candidates
from gradspec_codegen.lint.rewrites import Rewrite
from gradspec_codegen.lint.run import Linted, lint
from gradspec_codegen.target import Target
from tests.codegen.own_specs import command

NAIVE = """\
- family: naive

- name: my_softplus(Tensor self) -> Tensor
  doc: A smooth ramp.
  forward: log(1 + exp(self))

- name: my_tanh(Tensor self) -> Tensor
  doc: The hyperbolic tangent.
  forward: np.tanh(self)
  self: grad * (1 - result ** 2)
  result: auto_element_wise

- name: my_log_sigmoid(Tensor self) -> Tensor
  doc: The logarithm of the logistic function.
  forward: log(sigmoid(self))

- name: bernoulli(Tensor self) -> Tensor
  doc: "x / (exp(x) - 1)."
  forward: self / (exp(self) - 1)
  domain: {self: nonzero}

- name: growth(Tensor self) -> Tensor
  doc: "sqrt(1 + x) - 1."
  forward: sqrt(1 + self) - 1
  domain: {self: self > -1}

- name: ratio(Tensor self, Tensor other) -> Tensor
  doc: The square of a quotient.
  forward: self ** 2 / other ** 2
  promotes: self, other
  domain: {self: positive, other: positive}

- name: my_expm1(Tensor self) -> Tensor
  doc: Right as it is.
  forward: np.expm1(self)
  self: grad * exp(self)
  result: auto_element_wise
"""


def spec(folder: Path, text: str) -> Path:
    path = folder / "my_ops.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def linted(path: Path, *names: str) -> Linted:
    return lint(Target(path, package="my_ops"), names, thin=12)


@pytest.fixture(scope="module")
def naive(tmp_path_factory: pytest.TempPathFactory) -> Linted:
    return linted(spec(tmp_path_factory.mktemp("naive"), NAIVE))


def formulas(found: Linted, op: str) -> dict[str, str]:
    (advice,) = [f.advice for f in found.findings if f.subject.op.name == op and f.advice]
    assert advice.status == "proved"
    assert advice.after < advice.before
    return dict(advice.formulas)


def test_every_naive_rule_is_found_and_the_right_one_is_clean(naive: Linted) -> None:
    ops = {finding.subject.op.name for finding in naive.findings}
    assert ops == {"my_softplus", "my_tanh", "my_log_sigmoid", "bernoulli", "growth", "ratio"}
    assert not naive.skipped


@pytest.mark.parametrize(
    ("op", "what", "text"),
    [
        ("my_softplus", "forward", "-log_sigmoid(-self)"),
        ("my_tanh", "self", "_tanh_backward(grad, self)"),
        ("my_log_sigmoid", "forward", "log_sigmoid(self)"),
        ("bernoulli", "forward", "self / expm1(self)"),
        ("growth", "forward", "self / (sqrt(1 + self) + 1)"),
        ("ratio", "forward", "(self / other) ** 2"),
    ],
)
def test_the_rewritten_formula_is_offered(naive: Linted, op: str, what: str, text: str) -> None:
    assert formulas(naive, op)[what] == text


def test_a_finding_has_the_point_and_both_values(naive: Linted) -> None:
    (found,) = [
        f for f in naive.findings if f.subject.op.name == "my_tanh" and f.what.startswith("VJP")
    ]
    assert found.what == "VJP and JVP of self"
    assert {swept.dtype for swept in found.swept} == {"float32", "float64"}
    worst = found.swept[0].lost[0]
    (x,) = worst.point
    assert abs(x) > 8
    assert worst.exact == pytest.approx(4 * math.exp(-2 * abs(x)), rel=1e-5)
    assert worst.cause in ("underflow", "cancellation")
    assert NAIVE.splitlines()[found.span.line - 1] == "  self: grad * (1 - result ** 2)"


def test_a_rewrite_that_is_wrong_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that loses nothing anywhere by being another function: the proof refuses it."""
    from gradspec_codegen.lint.rewrites import rewrites

    (right,) = [r for r in rewrites() if r.text.startswith("log(sigmoid(X)) →")]
    wrong = Rewrite(right.before, right.before, "nobody 2000", "the same → the same")
    monkeypatch.setattr(candidates, "rewrites", lambda: (wrong,))
    path = spec(tmp_path, NAIVE)
    found = linted(path, "my_log_sigmoid")
    assert found.findings
    assert all(finding.advice is None for finding in found.findings)


OTHER = """\
- family: shifted

- name: shifted(Tensor self) -> Tensor
  doc: "exp(x) - 1, and a little."
  forward: exp(self) - 1
"""


def test_the_proof_has_the_last_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rewrite that agrees to fifteen digits, and so would be measured as better."""
    from gradspec_codegen.ir.parse import parse
    from gradspec_codegen.lint.rewrites import rewrites

    (right,) = [r for r in rewrites() if r.text.startswith("exp(X) - 1 →")]
    near = parse("expm1(X) * 1.0000000000000002").expression
    assert near is not None
    wrong = Rewrite(right.before, near, "nobody 2000", "nearly")
    monkeypatch.setattr(candidates, "rewrites", lambda: (wrong,))
    found = linted(spec(tmp_path, OTHER))
    assert found.findings
    assert all(finding.advice is None for finding in found.findings)


ACCEPTED = """\
- family: accepted

- name: gain(Tensor self) -> Tensor
  doc: "sqrt(1 + x) - 1."
  forward: sqrt(1 + self) - 1
  domain: {self: self > -1}
  accuracy:
    (self > -2) & (self < 1): nobody looks at these
    self > 1e9: and this is not needed
"""


def test_findings_are_accepted_with_a_reason(tmp_path: Path) -> None:
    found = linted(spec(tmp_path, ACCEPTED))
    assert found.findings == ()
    assert [text for _, text in found.unused] == ["self > 1e9"]
    excused = {text for swept in found.swept for text, _ in swept.excused}
    assert excused == {"(self > -2) & (self < 1)"}


def test_conditions_are_checked_like_other_formulas(tmp_path: Path) -> None:
    path = spec(tmp_path, ACCEPTED.replace("self > 1e9", "selv > 1e9"))
    result = command("lint", path)
    assert result.exit_code == 1
    assert "GS034" in result.output
    assert "`selv` is no name that a condition formula knows" in result.output


def test_the_command_exits_with_1_where_digits_are_lost(tmp_path: Path) -> None:
    path = spec(tmp_path, NAIVE)
    result = command("lint", path, "--op", "growth", "--thin", 6)
    assert result.exit_code == 1
    assert "error[GS090]: `growth` loses digits: its forward" in result.output
    assert "write `forward: self / (sqrt(1 + self) + 1);" in result.output


def test_the_command_tells_programs_the_same(tmp_path: Path) -> None:
    path = spec(tmp_path, NAIVE)
    arguments = ("lint", path, "--op", "growth", "--thin", 6, "--no-rewrite", "--json")
    found: dict[str, Any] = json.loads(command(*arguments).stdout)
    assert found["ok"] is False
    assert found["ops"] == 1
    first = found["findings"][0]
    assert first["of"] == "forward"
    assert first["place"].endswith("my_ops.yaml:24:12")
    assert {lost["dtype"] for lost in first["lost"]} == {"float32", "float64"}


def test_a_clean_op_exits_with_0(tmp_path: Path) -> None:
    result = command("lint", spec(tmp_path, NAIVE), "--op", "my_expm1", "--thin", 6)
    assert result.exit_code == 0
    assert "no finding" in result.output


def test_an_unknown_op_is_a_mistake_of_usage(tmp_path: Path) -> None:
    result = command("lint", spec(tmp_path, NAIVE), "--op", "my_tan")
    assert result.exit_code == 2
    assert "my_tanh" in result.output
