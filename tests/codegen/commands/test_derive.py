"""`gradspec derive`: the entries it prints load, generate and prove."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gradspec_codegen.authoring.derived import derive_entry
from gradspec_codegen.cli import main
from tests.codegen.proving import own_table, prove_text

SPEC = Path(__file__).parents[3] / "specs" / "derivatives.yaml"


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run `gradspec derive` with these words on the shipped table."""

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, ["derive", *words, "--spec", str(SPEC)])

    return invoke


EXPRESSIONS = {
    "smooth_ramp": ("x * tanh(log1p(exp(x)))", {}),
    "softsign": ("x / (1 + abs(x))", {}),
    "log_ratio": ("log(x) / y", {}),
    "bent_ramp": ("where(x > 0, x, exp(x) - 1)", {}),
    "half_circle": ("sqrt(1 - x * x)", {}),
    "shifted_log": ("log(x - 1.5)", {}),
    "pole": ("1 / (x - 2)", {}),
    "length": ("sqrt(x * x + y * y + z * z + 1)", {}),
    "swish": ("x * sigmoid(beta * x)", {"beta": "1"}),
}


def test_entries_load_generate_and_prove(tmp_path: Path) -> None:
    entries = [
        derive_entry(text, own_table(), name=name, scalars=scalars).text
        for name, (text, scalars) in EXPRESSIONS.items()
    ]
    verdicts = prove_text("".join(entries), tmp_path, "derived_ops")
    found = {name: (verdict.status, verdict.notes) for name, (_, verdict) in verdicts.items()}
    assert found == dict.fromkeys(EXPRESSIONS, ("proved", ()))


@pytest.mark.parametrize(
    ("expression", "domain"),
    [
        ("log(x)", {"self": "positive"}),
        ("log(-x)", {"self": "negative"}),
        ("log(x - 1.5)", {"self": "self > 1.5"}),
        ("log(1 + exp(x))", {}),
        ("sqrt(1 - x * x)", {"self": "-1 < self < 1"}),
        ("asin(2 * x)", {"self": "-0.5 < self < 0.5"}),
        ("1 / x", {"self": "nonzero"}),
        ("1 / (x - 2)", {"self": "self != 2"}),
        ("1 / (1 + x * x)", {}),
        ("log(x) / y", {"self": "positive", "other": "nonzero"}),
    ],
)
def test_domains(expression: str, domain: dict[str, str]) -> None:
    assert dict(derive_entry(expression, own_table()).op.domain) == domain


@pytest.mark.parametrize(
    ("expression", "kinks"),
    [
        ("abs(x) * 3", {"self == 0": 0}),
        ("where(x > 1, 2 * x, x + 1)", {"self == 1": 1}),
        ("x * abs(x - 0.5)", {"self == 0.5": 0}),
        ("x / (1 + abs(x))", {}),
        ("where(x > 0, x, exp(x) - 1)", {}),
        ("exp(x)", {}),
    ],
)
def test_kinks_are_what_the_formula_gives_there(expression: str, kinks: dict[str, float]) -> None:
    assert dict(derive_entry(expression, own_table()).op.kinks) == kinks


def test_what_cannot_be_told_is_left_to_the_author() -> None:
    entry = derive_entry("log(x * y)", own_table())
    assert dict(entry.op.domain) == {}
    assert entry.remarks == ("it is defined where other*self > 0",)


def test_prints_yaml_with_a_comment(run: Callable[..., Result]) -> None:
    result = run("sin(x) ** 2", "--name", "sin_squared")
    assert result.exit_code == 0
    first, *rest = result.output.splitlines()
    assert first.startswith("# Derived by sympy; proved: ")
    assert rest[0] == "- name: sin_squared(Tensor self) -> Tensor"
    assert "  result: auto_element_wise" in rest


def test_json(run: Callable[..., Result]) -> None:
    answer = json.loads(run("x * y", "--no-prove", "--json").output)
    assert answer["ok"]
    assert answer["proof"] == "not proved"
    assert "  self: grad * other\n" in answer["entry"]


@pytest.mark.parametrize(
    ("expression", "message", "caret"),
    [
        ("x +", "the formula ends too early", "   ^"),
        ("sin(x) + foo(x)", "no op of the table is called `foo`", " " * 9 + "^^^"),
        ("floor(x)", "`np.floor` is not known to sympy", "^^^^^^^^"),
        ("pi * 2", "there is no tensor in it", "^^^^^^"),
    ],
)
def test_mistakes_are_shown_in_the_expression(
    expression: str, message: str, caret: str, run: Callable[..., Result]
) -> None:
    result = run(expression)
    assert result.exit_code == 1
    assert message in result.output
    assert f"1 | {expression}\n  | {caret}\n" in result.output


def test_scalar_needs_a_default(run: Callable[..., Result]) -> None:
    result = run("x * beta", "--scalar", "beta")
    assert result.exit_code == 2
    assert "write NAME=DEFAULT" in result.output


def test_a_condition_on_elements_is_pointed_to_where() -> None:
    done = CliRunner().invoke(main, ["derive", "x if x > 0 else -x"])
    assert done.exit_code == 1
    assert "`where(condition, a, b)`" in done.output
