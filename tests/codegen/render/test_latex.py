"""Formulas as LaTeX."""

from __future__ import annotations

import pytest

from gradspec_codegen.ir.parse import parse
from gradspec_codegen.render.to_latex import latex


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("grad * other", r"g \, \mathit{other}"),
        ("(a + b) * c", r"\left(a + b\right) \, c"),
        ("a - (b - c)", r"a - \left(b - c\right)"),
        ("a - b - c", "a - b - c"),
        ("grad * 2", r"g \cdot 2"),
        ("grad / (1 + self)", r"\frac{g}{1 + x}"),
        ("(a / b) ** 2", r"\left(\frac{a}{b}\right)^{2}"),
        ("-self ** 2", "-x^{2}"),
        ("(-self) ** 2", r"\left(-x\right)^{2}"),
        ("exp(-self * self)", r"e^{-x \, x}"),
        ("exp(self) ** 2", r"\left(e^{x}\right)^{2}"),
        ("sqrt(2 / pi)", r"\sqrt{\frac{2}{\pi}}"),
        ("abs(self - min)", r"\left|x - \mathit{min}\right|"),
        ("self_t * other_p", r"\dot{x} \, \mathit{other}"),
        ("grad_values", r"g_{\mathit{values}}"),
        ("sum(grad * result, dim, True)", r"\sum_{\mathit{dim}} g \, y"),
        ("mm(t(self), grad)", r"x^{\top} \, g"),
        ("transpose(self, -2, -1)", r"x^{\top}"),
        ("conj(transpose(self, -2, -1))", r"\overline{x^{\top}}"),
        ("_mh(a @ b)", r"\left(a \, b\right)^{\mathsf{H}}"),
        (
            "where(eq(self, 0) & lt(a, b + 1), 1, 2)",
            r"\begin{cases} 1 & \text{if } "
            r"\left(x = 0\right) \wedge \left(a < b + 1\right) \\ 2 & \text{otherwise} \end{cases}",
        ),
        ("sigmoid(self)", r"\sigma\left(x\right)"),
        ("1e-5", r"1 \cdot 10^{-5}"),
        ("(a < b) & ~c", r"\left(a < b\right) \wedge \left(\neg c\right)"),
        (
            "where(self >= 0, grad, 0)",
            r"\begin{cases} g & \text{if } x \ge 0 \\ 0 & \text{otherwise} \end{cases}",
        ),
        (
            "grad if alpha == 1 else grad * alpha",
            r"\begin{cases} g & \text{if } \mathit{alpha} = 1 \\ "
            r"g \, \mathit{alpha} & \text{otherwise} \end{cases}",
        ),
        ("grads[0].shape[1]", r"\operatorname{shape}(\mathit{grads}_{0})_{1}"),
    ],
)
def test_expressions(formula: str, expected: str) -> None:
    assert latex(parse(formula)) == expected


def test_letters_give_way_to_arguments_that_are_called_so() -> None:
    formula = parse("where(x > 0, self, result)")
    assert latex(formula, ["self", "x"]) == (
        r"\begin{cases} \mathit{self} & \text{if } x > 0 \\ y & \text{otherwise} \end{cases}"
    )
    assert latex(parse("self_t * y"), ["self", "y"]) == r"\dot{x} \, y"


def test_block_is_a_row_a_statement() -> None:
    block = parse("share = grad / 2\nif n == 0:\n    return share\nreturn share * n")
    assert latex(block) == (
        r"\begin{aligned} \mathit{share} &= \frac{g}{2} \\ "
        r"& \mathit{share} \quad \text{if } n = 0 \\ & \mathit{share} \, n \end{aligned}"
    )


def test_braces_match_in_every_shipped_formula() -> None:
    from tests.codegen.proving import own_table

    shown = 0
    for op in own_table().ops:
        for _, rule in (*op.vjps, *op.jvps):
            if hasattr(rule, "block"):
                text = latex(rule.block).replace(r"\{", "").replace(r"\}", "")
                assert text.count("{") == text.count("}")
                assert text.count(r"\left") == text.count(r"\right")
                assert text.count(r"\begin") == text.count(r"\end")
                shown += 1
    assert shown > 100
