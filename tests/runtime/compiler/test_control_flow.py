"""`scan`, `fori_loop`, `while_loop`, `cond`, as they are and compiled."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs
from gradspec.compiler import CaptureError

from .comparing import assert_same


def running(x: gs.Tensor) -> Any:
    """The running sum of squares, and its double at each row."""
    return gs.scan(lambda s, row: (s + row * row, {"twice": 2 * (s + row * row)}), x[0] * 0, x)


@pytest.mark.parametrize("call", [running, gs.compile(running, backend="numpy")])
def test_scan(call: Any) -> None:
    x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    last, each = call(x)
    assert last.item() == 14.0
    assert each["twice"].tolist() == [2.0, 10.0, 28.0]
    (last + each["twice"].sum()).backward()
    assert x.grad.tolist() == [14.0, 20.0, 18.0]  # (1 + 2 * rows from here on) * 2 * x


def test_scan_backwards_and_without_rows() -> None:
    last, each = gs.scan(
        lambda s, x: (s * 2 + x, s), gs.tensor(0.0), gs.arange(1.0, 4.0), reverse=True
    )
    assert (last.item(), each.tolist()) == (17.0, [8.0, 3.0, 0.0])
    last, each = gs.scan(lambda s, _: (s * 2, None), gs.tensor(1.0), length=5)
    assert (last.item(), each) == (32.0, None)


def test_fori_loop() -> None:
    def power(x: gs.Tensor) -> Any:
        return gs.fori_loop(0, 3, lambda nr, y: y * x + nr, x)

    x = gs.tensor(2.0, requires_grad=True)
    for call in (power, gs.compile(power, backend="numpy")):
        result = call(x)  # x^4 + x + 2
        assert result.item() == 20.0
        assert gs.autograd.grad(result, [x])[0].item() == 33.0


def test_while_loop() -> None:
    x = gs.tensor(1.5, requires_grad=True)

    def grow(x: gs.Tensor) -> Any:
        return gs.while_loop(lambda s, _: s < 10, lambda s, n: (s * x, n + 1), (x, 0))

    last, rounds = grow(x)
    assert rounds == 5
    last.backward()
    assert x.grad.item() == pytest.approx(6 * 1.5**5)
    with pytest.raises(CaptureError, match=r"test_control_flow.*rounds of while_loop.*fori_loop"):
        gs.compile(grow, backend="numpy")(x)


def test_cond() -> None:
    def choose(x: gs.Tensor) -> Any:
        return gs.cond(x.sum() > 0, lambda x: (x * 2, [x]), lambda x: (-x, [x + 1]), (x,))

    compiled = gs.compile(choose, backend="numpy")
    for sign in (1.0, -1.0):
        x = (sign * gs.ones(3)).requires_grad_()
        assert_same(compiled(x), choose(x))
        answers = [gs.autograd.grad(call(x)[0].sum(), [x]) for call in (compiled, choose)]
        assert_same(*answers)
    assert compiled.count_programs() == 1


def test_states_must_be_alike() -> None:
    with pytest.raises(ValueError, match="expected a result like"):
        gs.fori_loop(0, 2, lambda nr, x: gs.stack([x, x]), gs.ones(2))
    with pytest.raises(ValueError, match="must be one number"):
        gs.scan(lambda s, x: (s, x), gs.ones(2), [gs.ones(2), gs.ones(3)])
    with pytest.raises(ValueError, match="none at all"):
        gs.scan(lambda s, x: (s, x), gs.ones(2))


def test_a_compiled_body_is_captured_once() -> None:
    body = gs.compile(lambda s, x: (s * x, s + x), backend="numpy")
    last, each = gs.scan(body, gs.tensor(1.0), gs.arange(1.0, 5.0))
    assert (last.item(), each.tolist()) == (24.0, [2.0, 3.0, 5.0, 10.0])
    assert body.count_programs() == 1
