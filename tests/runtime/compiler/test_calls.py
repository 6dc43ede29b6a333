"""The short way into a program, which calls take that are like the last one."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn

SCALE = 2.0


@pytest.fixture(params=["numpy", "c"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_layouts_dtypes_and_gradients_in_turn(backend: str) -> None:
    compiled = gs.compile(lambda x: x * 2 + 1, backend=backend)
    matrix = gs.arange(6.0).reshape(2, 3)
    given = [
        matrix,
        matrix.t(),
        matrix[:, ::2],
        matrix.double(),
        matrix.clone().requires_grad_(),
        gs.arange(6),
        gs.tensor(1.0),
    ]
    for _ in range(2):
        for x in given:
            for _ in range(2):  # the second goes the short way
                found = compiled(x)
                assert found.tolist() == (2 * x.detach() + 1).tolist()
                assert found.dtype == x.dtype
                assert found.requires_grad == x.requires_grad
    assert compiled.count_programs() == len(given)


def test_an_argument_that_is_given_twice(backend: str) -> None:
    compiled = gs.compile(lambda x, y: (x * y).sum(), backend=backend)
    x, y = gs.ones(2, requires_grad=True), gs.full((2,), 3.0, requires_grad=True)
    for _ in range(2):
        for pair, slopes in (((x, y), (3.0, 1.0)), ((x, x), (2.0, 2.0))):
            found = gs.autograd.grad(compiled(*pair), [pair[0]])
            assert found[0].tolist() == [slopes[0]] * 2


def test_numbers_and_texts_are_compared(backend: str) -> None:
    def function(x: Any, power: int, name: str = "sum") -> Any:
        return getattr(x**power, name)()

    compiled = gs.compile(function, backend=backend)
    x = gs.tensor([1.0, 3.0])
    for _ in range(2):
        assert compiled(x, 2, "sum").item() == 10.0
        assert compiled(x, 3, "sum").item() == 28.0
        assert compiled(x, 2, "mean").item() == 5.0
        assert compiled(x, True, "sum").item() == 4.0
        assert compiled(x, 1, "sum").item() == 4.0
        assert compiled(x, power=2).item() == 10.0
    with pytest.raises(TypeError):
        compiled(x)


def test_modes_are_looked_at(backend: str) -> None:
    compiled = gs.compile(lambda x: x * 2, backend=backend)
    x = gs.ones(2, requires_grad=True)
    for _ in range(3):
        assert compiled(x).requires_grad
        with gs.no_grad():
            for _ in range(2):
                assert not compiled(x).requires_grad
        with gs.inference_mode():
            for _ in range(2):
                assert compiled(x).is_inference()
        assert not compiled(x).is_inference()


def test_the_default_dtype_is_looked_at(backend: str) -> None:
    compiled = gs.compile(lambda x: x * gs.tensor(0.5), backend=backend)
    x = gs.ones(2, dtype=gs.int64)
    assert [compiled(x).dtype for _ in range(2)] == [gs.float32] * 2
    gs.set_default_dtype(gs.float64)
    try:
        assert [compiled(x).dtype for _ in range(2)] == [gs.float64] * 2
    finally:
        gs.set_default_dtype(gs.float32)
    assert compiled(x).dtype == gs.float32


def test_what_is_outside_is_looked_at(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    added = [gs.ones(2), 1]
    options = {"scale": gs.ones(2)}

    def function(x: Any) -> Any:
        return x * SCALE + added[0] * added[1] + options["scale"]

    compiled = gs.compile(function, backend=backend)
    x = gs.ones(2)

    def check(expected: float) -> None:
        for _ in range(3):
            assert compiled(x).tolist() == [expected] * 2

    check(4.0)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    check(5.0)
    added[1] = 4
    check(8.0)
    added[0] = gs.full((2,), 2.0)
    check(12.0)
    options["scale"].mul_(5.0)  # by reference
    check(16.0)
    options["scale"] = gs.zeros(1)
    check(11.0)
    added.append(None)
    check(11.0)
    del options["scale"]
    with pytest.raises(KeyError):
        compiled(x)


def test_modules_are_looked_at(backend: str) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.0))
    with gs.no_grad():
        model[0].weight.copy_(gs.eye(2))
        model[0].bias.zero_()
    compiled = gs.compile(model, backend=backend)
    x = gs.tensor([[1.0, 2.0]])
    assert [compiled(x).tolist() for _ in range(2)] == [[[1.0, 2.0]]] * 2
    model[0].bias = nn.Parameter(gs.ones(2))
    assert [compiled(x).tolist() for _ in range(2)] == [[[2.0, 3.0]]] * 2
    model[0].weight.requires_grad_(False)
    model[0].bias.requires_grad_(False)
    assert [compiled(x).requires_grad for _ in range(2)] == [False] * 2
    model[0] = nn.Identity()
    assert [compiled(x).tolist() for _ in range(2)] == [[[1.0, 2.0]]] * 2


def test_a_tensor_comes_back_as_it_is(backend: str) -> None:
    compiled = gs.compile(lambda x, y: y, backend=backend)
    x, y = gs.ones(2), gs.zeros(2)
    assert all(compiled(x, y) is y for _ in range(3))
    assert compiled(y, x) is x


def test_threads_call_by_turns(backend: str) -> None:
    compiled = gs.compile(lambda *xs: sum(x * x for x in xs), backend=backend)
    wrong: list[Any] = []

    def run(count: int) -> None:
        xs = [gs.full((count,), float(nr)) for nr in range(1, count + 1)]
        expected = float(np.sum(np.arange(1, count + 1) ** 2))
        wrong.extend(r for r in (compiled(*xs) for _ in range(200)) if r[0].item() != expected)

    threads = [threading.Thread(target=run, args=(count,)) for count in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_transform_sees_the_function_itself(backend: str) -> None:
    compiled = gs.compile(lambda x: (x * x).sum(), backend=backend)
    x = gs.ones(3, 2)
    assert [compiled(x[0]).item() for _ in range(2)] == [2.0, 2.0]
    assert gs.func.vmap(compiled)(x).tolist() == [2.0, 2.0, 2.0]
    assert compiled(x[0]).item() == 2.0


def test_gradients_that_come_and_go(backend: str) -> None:
    """A gradient that the function replaces may be there before the call, or not."""
    x = gs.ones(3, requires_grad=True)

    def replaced() -> Any:
        x.grad = None
        (x * x).sum().backward()
        return x.grad

    def added() -> Any:
        (x * x).sum().backward()
        return {"grad": x.grad, "of": [x, ("x", 1)]}

    compiled = gs.compile(replaced, backend=backend)
    accumulates = gs.compile(added, backend=backend)
    for _ in range(2):
        for _ in range(3):
            assert compiled().tolist() == [2.0] * 3
            assert x.grad.tolist() == [2.0] * 3
        x.grad = None
        assert compiled().tolist() == [2.0] * 3
        x.grad = None
        for nr in range(1, 4):
            found = accumulates()
            assert found["grad"].tolist() == x.grad.tolist() == [2.0 * nr] * 3
            assert found["of"][0] is x
            assert found["of"][1] == ("x", 1)
        x.grad = None


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_result_that_is_a_number_goes_on_through_numbers(backend: str) -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    total = gs.compile(lambda x: (x * x).sum(), backend=backend)(x)
    (2 * total + total * total).backward()  # the engine adds up cotangents without dimensions
    assert x.grad.tolist() == [(2 + 2 * 5) * 2.0, (2 + 2 * 5) * 4.0]
