"""Loops of compiled programs stay loops: their numbers and gradients are those of eager rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.compiler import CaptureError
from gradspec.compiler.program import Loop, Program

from .comparing import assert_gradients_same, assert_same

BACKENDS = ("numpy", "c")
PRECISION = {np.float32: 3e-5, np.float64: 1e-11}
"""Loops that add over rounds, which add in another order than eager code."""


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def normal(*shape: int, dtype: Any = np.float64, requires_grad: bool = True) -> gs.Tensor:
    rng = np.random.default_rng(sum(shape) + len(shape))
    array = np.asarray(rng.normal(size=shape)).astype(dtype)
    return gs.from_numpy(array).requires_grad_(requires_grad)


def loops_in(program: Program) -> list[Loop]:
    """The loops of a program, and those in their bodies."""
    own = [step.args[0] for step in program.steps if step.function == "array.loop"]
    return [loop for each in own for loop in (each, *loops_in(each.body))]


def loops_of(compiled: Any, *args: Any) -> list[Loop]:
    shown = gs.compiler.explain(compiled, *args)
    programs = [shown.forward] + ([] if shown.backward is None else [shown.backward])
    return [loop for report in programs for loop in loops_in(report.program)]


def check(function: Callable[..., Any], inputs: list[Any], backend: str, loops: int) -> None:
    """Compare results and gradients with eager, and count the loops of both programs."""
    compiled = gs.compile(function, backend=backend)
    precision = PRECISION[inputs[0].array.dtype.type]
    with gs.no_grad():
        assert_same(compiled(*inputs), function(*inputs), precision)
    assert_gradients_same(compiled, function, inputs, rtol=precision)
    assert len(loops_of(compiled, *inputs)) == loops


# ---- numbers and gradients


@pytest.mark.parametrize("dtype", list(PRECISION))
def test_rows_states_and_what_is_outside(backend: str, dtype: Any) -> None:
    def function(x: Any, w: Any, b: Any) -> Any:
        def body(state: Any, row: Any) -> Any:
            new = (state * w + row).tanh() + b.exp()
            return new, {"new": new * 2, "old": state}

        last, each = gs.scan(body, x[0] * b, x)
        return (last * each["new"].sum(0)).sum() + each["old"].square().sum() * each["new"][3]

    inputs = [normal(9, 3, dtype=dtype), normal(3, dtype=dtype), normal(1, 3, dtype=dtype)]
    check(function, inputs, backend, 2)


def test_the_last_row_first(backend: str) -> None:
    def function(x: Any) -> Any:
        last, each = gs.scan(lambda s, row: (s * 0.5 + row * s, s * row), x[0], x, reverse=True)
        return last.sum() + (each * gs.arange(1.0, 8.0)[:, None]).sum()

    check(function, [normal(7, 2)], backend, 2)


def test_states_in_a_pytree(backend: str) -> None:
    def function(q: Any, v: Any, k: Any) -> Any:
        def body(state: Any, _: Any) -> Any:
            force = -k * state["q"]
            v = state["vs"][0] + 0.1 * force
            return {"q": state["q"] + 0.1 * v, "vs": [v, state["vs"][1]]}, None

        last, none = gs.scan(body, {"q": q, "vs": [v, k]}, length=20)
        assert none is None
        return last["q"] * last["vs"][0] * last["vs"][1]

    check(function, [normal(3), normal(3), normal(3)], backend, 2)


def test_results_by_themselves(backend: str) -> None:
    """The last state has no cotangent; a state that is not differentiated counts the rounds."""

    def function(x: Any) -> Any:
        def body(state: Any, row: Any) -> Any:
            total, count = state
            return (total + row, count + 1), total * row / (count + 1)

        _, each = gs.scan(body, (x[0], gs.tensor(0)), x)
        return each

    check(function, [normal(6, 2)], backend, 2)


def test_a_state_that_begins_without_gradient(backend: str) -> None:
    def function(x: Any) -> Any:
        last, _ = gs.scan(lambda s, row: (s * row + row, None), gs.zeros(2, dtype=gs.float64), x)
        return last

    check(function, [normal(6, 2)], backend, 2)


def test_a_state_that_is_forgotten(backend: str) -> None:
    def function(x: Any, y: Any) -> Any:
        def body(state: Any, row: Any) -> Any:
            a, b = state
            return (a * row + b, gs.ones(2, dtype=gs.float64)), a * b

        (a, b), each = gs.scan(body, (y, y * 2), x)
        return a + b + each.sum(0)

    check(function, [normal(6, 2), normal(2)], backend, 2)


def test_what_a_body_hands_through(backend: str) -> None:
    def function(x: Any, w: Any) -> Any:
        last, each = gs.scan(lambda s, row: (s, (row, w, s, row)), w * 2, x)
        return (last * each[0] * each[1] * each[2] + each[3]).sum(0)

    check(function, [normal(6, 2), normal(2)], backend, 2)


def test_products_and_sums(backend: str) -> None:
    def function(x: Any, w: Any) -> Any:
        def body(state: Any, row: Any) -> Any:
            state = gs.softmax(state @ w + row, 0)
            return state, state.max()

        last, each = gs.scan(body, x[0], x)
        return last * each.sum()

    check(function, [normal(8, 5), normal(5, 5)], backend, 2)


def test_pieces_of_a_state(backend: str) -> None:
    def function(y: Any, k: Any) -> Any:
        def body(y: Any, _: Any) -> Any:
            q, v = y[:3], y[3:]
            return y + 0.1 * gs.cat([v, -k * q - q * q * q]), y[::2]

        last, each = gs.scan(body, y, length=30)
        return last[:3] * each.sum(0)

    check(function, [normal(6), normal(3)], backend, 2)


def test_a_loop_in_a_loop(backend: str) -> None:
    def function(x: Any, w: Any) -> Any:
        def outer(state: Any, row: Any) -> Any:
            def inner(inner_state: Any, element: Any) -> Any:
                new = (inner_state * w + element).tanh()
                return new, new * state

            last, each = gs.scan(inner, state, row)
            return last + row.sum(0), each.sum(0)

        last, each = gs.scan(outer, x[0, 0], x)
        return last * each.sum(0)

    check(function, [normal(6, 5, 2), normal(2)], backend, 4)


def test_a_number_that_counts(backend: str) -> None:
    def function(x: Any) -> Any:
        return gs.fori_loop(2, 12, lambda nr, y: y * 0.5 + x * nr, x)

    check(function, [normal(3)], backend, 2)


def test_a_branch_in_a_body(backend: str) -> None:
    def function(x: Any) -> Any:
        def body(state: Any, row: Any) -> Any:
            new = gs.cond(row.sum() > 0, lambda s, r: s + r, lambda s, r: s * r, (state, row))
            return new, None

        return gs.scan(body, x[0], x)[0]

    check(function, [normal(8, 2)], backend, 2)


def test_a_loop_in_a_module(backend: str) -> None:
    class Cell(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = nn.Linear(4, 4)
            self.given = nn.Linear(3, 4)

        def forward(self, x: Any) -> Any:
            def body(state: Any, row: Any) -> Any:
                state = (self.hidden(state) + self.given(row)).tanh()
                return state, state

            return gs.scan(body, gs.zeros(2, 4), x)[1]

    gs.manual_seed(0)
    cell = Cell()
    x = normal(7, 2, 3, dtype=np.float32)
    compiled = gs.compile(cell, backend=backend)
    assert_gradients_same(compiled, cell, [x], list(cell.parameters()), rtol=3e-5)
    assert len(loops_of(compiled, x)) == 2


def test_training_through_a_loop(backend: str) -> None:
    rate = gs.tensor([0.3, 0.2], dtype=gs.float64)
    found = []
    for wrapped in (lambda step: step, lambda step: gs.compile(step, backend=backend)):
        weight = gs.tensor([0.1, 0.1], dtype=gs.float64, requires_grad=True)
        optimizer = gs.optim.SGD([weight], lr=0.05)

        def step(weight: Any = weight, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            last = gs.fori_loop(0, 9, lambda nr, y: y + 0.1 * (weight - rate * y), weight * 0)
            loss = (last - 1).square().sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        call = wrapped(step)
        found.append([call().item() for _ in range(4)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
    assert found[0][3] < found[0][0]


def test_gradients_of_gradients(backend: str) -> None:
    def loss(x: Any, w: Any) -> Any:
        return gs.scan(lambda s, row: ((s * w + row).tanh(), None), w, x)[0].sum()

    inputs = [normal(6, 2), normal(2)]
    hessian = gs.func.hessian(loss, argnums=1)
    compiled = gs.compile(hessian, backend=backend)
    assert_same(compiled(*inputs), hessian(*inputs), 1e-11)
    once = gs.compile(loss, backend=backend)
    by_w = [
        gs.autograd.grad(call(*inputs), [inputs[1]], create_graph=True) for call in (once, loss)
    ]
    again = [gs.autograd.grad(grad.sum(), inputs) for (grad,) in by_w]
    assert_same(again[0], again[1], 1e-11)


def test_a_gradient_that_is_taken_inside(backend: str) -> None:
    """A loop with `create_graph`, in a function that is differentiated itself."""

    def function(x: Any, w: Any) -> Any:
        last, _ = gs.scan(lambda s, row: (s * w + row * s, None), w * 2, x)
        (slope,) = gs.autograd.grad(last.sum(), [w], create_graph=True)
        return slope * w

    inputs = [normal(6, 2), normal(2)]
    compiled = gs.compile(function, backend=backend)
    assert_gradients_same(compiled, function, inputs, rtol=1e-11)


def test_examples_of_vmap(backend: str) -> None:
    def one(x: Any, w: Any) -> Any:
        return gs.scan(lambda s, row: ((s * w + row).tanh(), None), w, x)[0].sum()

    per_example = gs.func.vmap(gs.func.grad(one, argnums=1), in_dims=(0, None))
    inputs = [normal(3, 6, 2), normal(2)]
    assert_same(gs.compile(per_example, backend=backend)(*inputs), per_example(*inputs), 1e-12)


def test_a_function_without_c_in_a_body(backend: str) -> None:
    """The whole loop then runs on NumPy."""

    def function(x: Any) -> Any:
        return gs.scan(lambda s, row: (s + row.cumsum(0), row.sort()[0]), x[0], x)

    check(function, [normal(6, 4)], backend, 2)


def test_the_number_of_a_round_is_an_index(backend: str) -> None:
    def function(x: Any, y: Any) -> Any:
        return gs.fori_loop(0, 9, lambda i, s: s.sin() * x[i] + x[i - 1], y)

    check(function, [normal(9, 3), normal(3)], backend, 2)


def test_many_rounds_are_few_steps(backend: str) -> None:
    def function(x: Any) -> Any:
        return gs.fori_loop(0, 20_000, lambda _, y: y + 1e-4 * (x - y), x * 0)

    compiled = gs.compile(function, backend=backend)
    x = gs.ones(2, dtype=gs.float64, requires_grad=True)
    result = compiled(x)
    np.testing.assert_allclose(result.detach().numpy(), 1 - (1 - 1e-4) ** 20_000, rtol=1e-10)
    (slope,) = gs.autograd.grad(result.sum(), [x])
    np.testing.assert_allclose(slope.numpy(), 1 - (1 - 1e-4) ** 20_000, rtol=1e-10)
    assert len(gs.compiler.explain(compiled, x).forward.program.steps) < 10


# ---- while_loop


def test_rounds_that_depend_on_data(backend: str) -> None:
    def newton(a: Any) -> Any:
        def is_far(x: Any, rounds: Any) -> Any:
            return (x * x - a).abs() > 1e-12 * a

        x, rounds = gs.while_loop(
            is_far, lambda x, n: ((x + a / x) / 2, n + 1), (a * 1, gs.tensor(0))
        )
        return x, rounds

    compiled = gs.compile(newton, backend=backend)
    for number in (2.0, 1.0, 1e6, 7.0):
        given = gs.tensor(number, dtype=gs.float64)
        found, expected = compiled(given), newton(given)
        assert found[1].item() == expected[1].item()
        assert found[0].item() == pytest.approx(number**0.5, rel=1e-12)
    assert compiled.count_programs() == 1
    assert compiled(gs.tensor(1.0, dtype=gs.float64))[1].item() == 0


def test_rounds_that_depend_on_data_have_no_gradient(backend: str) -> None:
    def double(x: Any) -> Any:
        return gs.while_loop(lambda s: s.sum() < 10, lambda s: (s * 2,), (x,))[0]

    compiled = gs.compile(double, backend=backend)
    x = gs.ones(2, requires_grad=True)
    with pytest.raises(CaptureError, match=r"test_loops.*while_loop.*no_grad"):
        compiled(x)
    with gs.no_grad():
        assert compiled(x).tolist() == [8.0, 8.0]


# ---- what cannot be a loop


def test_what_is_recorded_round_by_round(backend: str) -> None:
    """A list by a Python number, a write to a tensor from outside, random numbers."""
    factors = [1.0, 2.0, 3.0, 4.0, 5.0]

    def by_number(x: Any) -> Any:
        return gs.fori_loop(0, 5, lambda nr, y: y * factors[nr], x)

    def by_write(x: Any) -> Any:
        total = gs.zeros(2, dtype=gs.float64)

        def body(_: Any, y: Any) -> Any:
            total.add_(y)
            return y * 2

        gs.fori_loop(0, 5, body, x)
        return total

    x = normal(2)
    check(by_number, [x], backend, 0)
    check(by_write, [x], backend, 0)

    def drawn(x: Any) -> Any:
        return gs.scan(lambda s, _: (s + gs.rand(2, dtype=gs.float64), None), x, length=6)[0]

    compiled = gs.compile(drawn, backend=backend)
    found = []
    for call in (drawn, compiled):
        gs.manual_seed(3)
        found.append(call(x).detach())
    assert_same(found[1], found[0], 1e-14)


def test_a_condition_in_a_body_is_refused(backend: str) -> None:
    def function(x: Any) -> Any:
        def body(state: Any, row: Any) -> Any:
            return (state + row if row.sum() > 0 else state), None

        return gs.scan(body, x[0], x)[0]

    with pytest.raises(CaptureError, match=r"test_loops.*gs\.where"):
        gs.compile(function, backend=backend)(normal(6, 2))


def test_a_tensor_that_leaves_its_round_is_refused(backend: str) -> None:
    def function(x: Any) -> Any:
        kept: list[Any] = []

        def body(state: Any, row: Any) -> Any:
            kept.append(state * row)
            return state + row, None

        return gs.scan(body, x[0], x)[0] + kept[-1]

    with pytest.raises(CaptureError, match="made in a round of a loop is used outside"):
        gs.compile(function, backend=backend)(normal(6, 2))


def test_a_body_that_is_wrong(backend: str) -> None:
    def function(x: Any) -> Any:
        return gs.scan(lambda s, row: (gs.stack([s, row]), None), x[0], x)[0]

    with pytest.raises(ValueError, match="expected a result like"):
        gs.compile(function, backend=backend)(normal(6, 2))
