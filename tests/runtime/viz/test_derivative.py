"""The gradient of a program as formulas, beside derivatives by hand."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.viz import derivative

SVG = "{http://www.w3.org/2000/svg}"

NAMES: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "exp", "log", "sqrt", "tanh")},
    "reciprocal": lambda x: 1 / x,
    "relu": lambda x: np.maximum(x, 0),
    "threshold_backward": lambda grad, result, threshold: np.where(result <= threshold, 0, grad),
}

CASES: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "product": (lambda x: gs.sin(x) * x**2, lambda x: 2 * x * math.sin(x) + x**2 * math.cos(x)),
    "quotient": (lambda x: gs.sin(x) / x, lambda x: math.cos(x) / x - math.sin(x) / x**2),
    "used twice": (lambda x: x * x + x, lambda x: 2 * x + 1),
    "nested": (lambda x: gs.exp(-gs.sin(x)), lambda x: -math.cos(x) * math.exp(-math.sin(x))),
    "difference": (lambda x: 3 - 2 * (x - 1), lambda x: -2.0),
    "reflected": (lambda x: 2 / x - 1, lambda x: -2 / x**2),
    "scaled": (lambda x: gs.sub(x, x * x, alpha=3), lambda x: 1 - 6 * x),
    "logistic": (
        lambda x: gs.relu(x) / (1 + gs.exp(-x)),
        lambda x: 1 / (1 + math.exp(-x)) + x * math.exp(-x) / (1 + math.exp(-x)) ** 2,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("x", [0.7, 1.9])
def test_formulas_are_the_derivative(name: str, x: float) -> None:
    program, by_hand = CASES[name]
    space = {**NAMES, "x": x}
    for part, text in derivative(program, 1.3).formulas.items():
        if part == "∂y/∂x":
            assert float(eval(text, space)) == pytest.approx(by_hand(x), rel=1e-12)
        else:
            space[part] = eval(text, space)
    assert float(space["y"]) == pytest.approx(program(gs.tensor(x).double()).item(), rel=1e-6)


def test_ones_and_zeros_disappear() -> None:
    assert derivative(lambda x: (x.sin()).sum(), gs.ones(3)).formulas == {
        "y": "sum(sin(x))",
        "∂y/∂x": "cos(x)",
    }
    assert derivative(lambda a, b: a * b, 2.0, 3.0).formulas["∂y/∂a"] == "b"


def test_a_part_that_is_used_twice_has_a_name() -> None:
    found = derivative(lambda x, w: gs.tanh(x @ w + x.exp()).sum(), gs.ones(2, 2), gs.eye(2))
    assert found.formulas["t1"] == "mm(x, w) + exp(x)"
    assert str(found).splitlines()[0] == "t1 = mm(x, w) + exp(x)"


def test_the_inputs_are_left_as_they_are() -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    derivative(lambda x: x * 2, x)
    assert x.grad is None
    assert x.grad_fn is None


def test_the_picture_has_inputs_ops_and_gradients(tmp_path: Path) -> None:
    path = derivative(lambda x, y: x * y + gs.sin(x * y), 1.0, 2.0).render(tmp_path / "d.svg")
    texts = [node.text for node in ET.parse(path).iter(f"{SVG}text")]
    assert {"x", "y", "∂y/∂x", "∂y/∂y", "cos(x * y) * y + y", "gradient"} <= set(texts)
    assert "leaf, with its shape" not in texts


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(TypeError, match="fn returned int, not a tensor"):
        derivative(lambda x: 3, 1.0)
    with pytest.raises(RuntimeError):
        derivative(lambda x: gs.ones(2), 1.0)
    with pytest.raises(TypeError, match="give a function, and the tensors"):
        derivative(lambda: gs.ones(2))
    with pytest.raises(TypeError, match="give a function, and the tensors"):
        derivative(gs.ones(2), gs.ones(2))  # type: ignore[arg-type]

    def long(x: Any) -> Any:
        for _ in range(300):
            x = gs.sin(x) + x
        return x

    with pytest.raises(ValueError, match="terms, and a picture shows 400 at most"):
        derivative(long, 1.0)


def test_live_gradients_are_those_of_the_pass() -> None:
    x = gs.tensor([1.0, -2.0], requires_grad=True)
    w = gs.tensor([3.0, 0.5], requires_grad=True)
    y = (x * w).exp().sum()
    texts = gs.viz.make_dot(y, {"x": x, "w": w}, gradients=True).svg
    assert x.grad is None
    # exp's gradient is 1 at its result; mul's is exp(x w), at most e**3; that of x is 3 e**3.
    for size in ("max |grad| = 1<", f"max |grad| = {math.exp(3):.3g}<", f"{3 * math.exp(3):.3g}<"):
        assert size in texts
    assert "grad * np_exp" in texts or "grad * result" in texts
    y.backward()
    assert x.grad is not None
    assert "max |grad|" not in gs.viz.make_dot(x.sum()).svg
