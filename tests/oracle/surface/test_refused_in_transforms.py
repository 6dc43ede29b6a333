"""Reading values, and starting other passes, inside of function transforms: as in `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning"),
    pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad:UserWarning"),
    pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning"),
]

Function = Callable[[Any, Any], Any]
"""Takes a library and a tensor of three elements."""


def _masked(g: Any, x: Any) -> Any:
    y = g.zeros(3, dtype=x.dtype)
    y[x > 1] = x[x > 1] ** 2
    return y


def _written(g: Any, x: Any) -> Any:
    y = g.zeros(3, dtype=x.dtype)
    y[:2] = x[1:] * x[:2]
    return y * x


def _random(g: Any, x: Any) -> Any:
    noise = g.rand(3, dtype=x.dtype)
    return x * (noise if x[0] > 0 else -noise) / noise


READING: dict[str, Function] = {
    "item": lambda g, x: x * x.sum().item(),
    "float": lambda g, x: x**2 * float(x[1]),
    "branch": lambda g, x: x.sin() if x[0] > x[2] else x.cos(),
    "list": lambda g, x: g.stack([x * number for number in x.tolist()]),
    "mask": lambda g, x: x[x > 1] ** 2,
    "number": lambda g, x: g.full((2,), x[2].item()) * x[:2].sum(),
    "masked write": _masked,
    "written into zeros": _written,
    "copied into zeros": lambda g, x: g.zeros(3, dtype=x.dtype).copy_(x**3),
    "at indices": lambda g, x: g.ones(3, dtype=x.dtype).index_put_((x.long() % 3,), x * x),
    "copy of values": lambda g, x: g.tensor(x[0]) * x,
}


@pytest.mark.parametrize("function", READING.values(), ids=READING)
@pytest.mark.parametrize("transform", ["jacfwd", "hessian"])
def test_forward_jacobians_of_what_reads_values(
    torch: Any, function: Function, transform: str
) -> None:
    found = []
    for library in (gs, torch):
        x = library.tensor([0.5, 1.5, 2.5], dtype=library.float64)
        of = lambda x, g=library: function(g, x)  # noqa: E731
        found.append(getattr(library.func, transform)(of)(x).numpy())
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12)


def test_columns_one_by_one_draw_as_randomness_says(torch: Any) -> None:
    for library in (gs, torch):
        x = library.tensor([0.5, 1.5, 2.5], dtype=library.float64)
        of = lambda x, g=library: _random(g, x)  # noqa: E731
        same = library.func.jacfwd(of, randomness="same")(x)
        np.testing.assert_allclose(same.numpy(), np.eye(3), rtol=1e-12, atol=1e-12)
        with pytest.raises(RuntimeError, match="randomness"):
            library.func.jacfwd(of)(x)


def test_columns_one_by_one_share_their_draws() -> None:
    x = gs.tensor([0.5, 1.5, 2.5])

    def function(x: Any) -> Any:
        return x * gs.rand(1) * x.sum().item()

    jacobian = gs.func.jacfwd(function, randomness="same")(x)
    assert len(set(jacobian.diagonal().tolist())) == 1


def _set(name: str, target: Any, value: Any) -> None:
    setattr(target, name, value)


REFUSED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "requires_grad_": lambda g, x, y: y.requires_grad_(),
    "requires_grad_ of a new tensor": lambda g, x, y: g.zeros(3).requires_grad_(),
    "requires_grad_(False)": lambda g, x, y: x.requires_grad_(False),
    "of a module": lambda g, x, y: g.nn.LayerNorm(2).requires_grad_(),
    "backward": lambda g, x, y: (x * 2).sum().backward(),
    "backward of what is captured": lambda g, x, y: (y * 2).sum().backward(),
    "autograd.backward": lambda g, x, y: g.autograd.backward((y * 2).sum()),
    "data": lambda g, x, y: _set("data", x, x * 2),
    "data of what is captured": lambda g, x, y: _set("data", x, y),
    "data of a new tensor": lambda g, x, y: _set("data", g.zeros(3), x),
    "functional.jacobian": lambda g, x, y: g.autograd.functional.jacobian(lambda t: t * 2, x),
}

TRANSFORMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "grad": lambda f, h, x: f.grad(h)(x),
    "vmap": lambda f, h, x: f.vmap(h)(x[None]),
    "jvp": lambda f, h, x: f.jvp(h, (x,), (x,)),
    "jacrev": lambda f, h, x: f.jacrev(h)(x),
    "examples": lambda f, h, x: f.vmap(f.grad(h))(x[None]),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("act", REFUSED.values(), ids=REFUSED)
def test_refused_inside(torch: Any, act: Any, transform: Any) -> None:
    for library in (gs, torch):
        captured = library.ones(3, requires_grad=True)

        def function(x: Any, g: Any = library, y: Any = captured) -> Any:
            act(g, x, y)
            return (x * x).sum()

        words = "inside|under vmap transform"
        with pytest.raises(RuntimeError, match=words):
            transform(library.func, function, library.tensor([1.0, 2.0, 3.0]))
        assert captured.grad is None


def test_retain_grad_is_refused_inside(torch: Any) -> None:
    for library in (gs, torch):

        def function(x: Any) -> Any:
            y = x * 2
            y.retain_grad()
            return y.sum()

        with pytest.raises(RuntimeError, match="retain_grad"):
            library.func.grad(function)(library.ones(3))


TAKEN: dict[str, Callable[[Any, Any, Any], Any]] = {
    "attribute": lambda g, x, y: _set("requires_grad", g.zeros(3), True),
    "leaf": lambda g, x, y: g.zeros(3, requires_grad=True),
    "parameter": lambda g, x, y: g.nn.Parameter(g.zeros(3)),
    "module": lambda g, x, y: g.nn.Linear(3, 3),
    "data": lambda g, x, y: _set("data", y, y),
    "variable": lambda g, x, y: g.autograd.Variable(x),
    "frequencies": lambda g, x, y: g.fft.fftfreq(3),
}


@pytest.mark.parametrize("transform", ["grad", "jacrev"])
@pytest.mark.parametrize("act", TAKEN.values(), ids=TAKEN)
def test_taken_inside(torch: Any, act: Any, transform: str) -> None:
    found = []
    for library in (gs, torch):
        captured = library.ones(3)

        def function(x: Any, g: Any = library, y: Any = captured) -> Any:
            act(g, x, y)
            return (x * x * y).sum()

        x = library.tensor([1.0, 2.0, 3.0])
        found.append(getattr(library.func, transform)(function)(x).tolist())
    assert found[0] == found[1]


def test_vjp_refuses_results_of_whole_numbers(torch: Any) -> None:
    for library in (gs, torch):
        x = library.tensor([1.0, 2.0, 3.0])

        def function(x: Any) -> Any:
            return x * 2, x.argmax()

        with pytest.raises(RuntimeError, match="must be floating-point or complex"):
            library.func.vjp(function, x)
        with pytest.raises(RuntimeError, match="must be floating-point or complex"):
            library.func.jacrev(function)(x)
        result, _ = library.func.linearize(lambda x: x.long() * 2, x)
        assert result.tolist() == [2, 4, 6]
        with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
            library.func.vjp(lambda x: x.sum(), x)[1](1.0)


def test_copies_of_examples(torch: Any) -> None:
    x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    theirs = torch.func.vmap(torch.func.grad(lambda t: (torch.tensor(t[0]) * t).sum()))(
        torch.tensor(x)
    )
    ours = gs.func.vmap(gs.func.grad(lambda t: (gs.tensor(t[0]) * t).sum()))(gs.tensor(x))
    assert ours.tolist() == theirs.tolist()
    assert gs.func.vmap(lambda t: gs.array(t))(gs.tensor(x)).tolist() == x


FUNCTIONALIZED: dict[str, Callable[[Any, Any], Any]] = {
    "writes": lambda g, f: [f(lambda x: x.add_(1))(y := g.ones(3)), y],
    "views": lambda g, f: [
        f(lambda x: x.view(-1).mul_(2), remove="mutations_and_views")(y := g.ones(3)),
        y,
    ],
    "vmap": lambda g, f: g.func.vmap(f(lambda x: x.clone().add_(1)))(g.ones(2, 3)),
    "grad": lambda g, f: f(g.func.grad(lambda x: x.clone().mul_(x).sum()))(g.ones(3)),
    "by name": lambda g, f: f(lambda x, k=1: x * k)(x=g.ones(3), k=2),
    "no tensor": lambda g, f: f(lambda x: 3)(g.ones(3)),
    "trees": lambda g, f: f(lambda x: [x, {"a": x.relu_()}])(g.ones(3))[1]["a"],
}


@pytest.mark.parametrize("call", FUNCTIONALIZED.values(), ids=FUNCTIONALIZED)
def test_functionalize(torch: Any, call: Any) -> None:
    found = []
    for library in (gs, torch):
        result = call(library, library.func.functionalize)
        parts = result if isinstance(result, list) else [result]
        found.append([part.tolist() if hasattr(part, "tolist") else part for part in parts])
    assert found[0] == found[1]


def test_functionalize_refuses_other_words(torch: Any) -> None:
    for library in (gs, torch):
        with pytest.raises(RuntimeError, match="received invalid argument for remove=views"):
            library.func.functionalize(lambda x: x, remove="views")
