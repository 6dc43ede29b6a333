"""`dynamic=True`: one capture for all sizes of a leading dimension."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.compiler.fitting import DiffersError, Filled, Fitting, instantiate

from .comparing import assert_gradients_same, assert_same

BACKENDS = ("numpy", "c")
SIZES = (7, 64, 2, 1000, 3, 5)


def data(size: int, width: int = 5, seed: int = 0) -> Any:
    """Normal random numbers in double precision."""
    rng = np.random.default_rng(seed)
    return gs.from_numpy(rng.normal(size=(size, width)))


def regression(weight: Any, x: Any, target: Any) -> Any:
    """A mean, which divides by the size."""
    return ((x @ weight).tanh() - target).square().mean()


def pieces(x: Any) -> Any:
    """Slices, differences, deviations, and what is made for a length."""
    count = x.shape[0]
    steps = x[1:] - x[:-1]
    made = gs.zeros(count, 2, dtype=x.dtype) + x[:, :2] + gs.arange(count)[:, None]
    total = steps.square().sum() / (count - 1) + x.std() + x.var(0).sum() + made.sum()
    return total, gs.cat([x, x]), x.softmax(0), x.reshape(count * 5), x.flip(0)


def recurrence(x: Any) -> Any:
    """A loop over the rows."""
    last, sums = gs.scan(lambda c, row: (0.5 * c + row, (c * row).sum()), x[0] * 0, x)
    return last.sum() + sums.sum()


def attention(x: Any) -> Any:
    """A product that has the size twice."""
    weights = (x @ x.T / x.shape[1] ** 0.5).softmax(-1)
    return (weights @ x).sin().sum()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [pieces, recurrence, attention], ids=lambda f: f.__name__)
def test_one_capture_does_for_all_sizes(function: Callable[..., Any], backend: str) -> None:
    compiled = gs.compile(function, backend=backend, dynamic=True)
    for size in SIZES:
        x = data(size).requires_grad_()
        assert_same(compiled(x), function(x), rtol=1e-10)
        assert_gradients_same(compiled, function, [x], rtol=1e-10)
    assert compiled.count_captures() == 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "loss",
    [
        lambda y: y.sum(1).mean() - 0.01 * y.sum(1).mean(),
        lambda y: y.sum(1).mean() / 3,
        lambda y: 0.3 * y.sum(1).var(),
    ],
)
def test_means_with_coefficients_are_captured_once(loss: Any, backend: str) -> None:
    weight = gs.ones(5, requires_grad=True)

    def gradient(x: Any) -> Any:
        loss(x * weight).backward()
        found = weight.grad.clone()
        weight.grad = None
        return found

    compiled = gs.compile(gradient, backend=backend, dynamic=True)
    for size in (7, 64, 3):
        x = data(size).float()
        assert_same(compiled(x), gradient(x), rtol=1e-5)
    assert compiled.count_captures() == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_0_and_1_have_captures_of_their_own(backend: str) -> None:
    def function(weight: Any, x: Any) -> Any:
        return (x @ weight).sin().sum(), x * weight

    compiled = gs.compile(function, backend=backend, dynamic=True)
    weight = data(1)[0].requires_grad_()
    for size in (4, 1, 0, 9, 1, 0, 2):
        x = data(size)
        assert_same(compiled(weight, x), function(weight, x), rtol=1e-12)
        assert_gradients_same(compiled, function, [weight, x], rtol=1e-12)
    assert compiled.count_captures() == 3


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_training_steps_with_batches_of_any_size(kind: str, backend: str) -> None:
    def trained(compiling: bool) -> list[Any]:
        gs.manual_seed(0)
        model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.BatchNorm1d(8), nn.Linear(8, 3))
        options: dict[str, Any] = {"momentum": 0.9} if kind == "SGD" else {}
        optimizer = getattr(gs.optim, kind)(model.parameters(), lr=0.01, **options)

        def step(x: Any, labels: Any) -> Any:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), labels)
            loss.backward()
            optimizer.step()
            return loss.detach()

        call = gs.compile(step, backend=backend, dynamic=True) if compiling else step
        rng = np.random.default_rng(3)
        losses = []
        for size in (7, 7, 64, 2, 1000, 3, 5, 64):
            x = gs.from_numpy(rng.normal(size=(size, 5)).astype(np.float32))
            losses.append(call(x, gs.from_numpy(rng.integers(0, 3, size))))
        if compiling:
            assert call.count_captures() == 1
        return [*losses, *model.parameters(), *model.buffers()]

    assert_same(trained(True), trained(False), rtol=2e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_varies_is_learnt_from_the_second_call(backend: str) -> None:
    def function(matrix: Any, x: Any) -> Any:
        return (matrix @ x.T).sum(1)

    compiled = gs.compile(function, backend=backend, dynamic=True)
    matrix = data(4, 5)  # as long as the first `x`: the guess is that both vary
    for size in (4, 6, 9, 20):
        x = data(size, seed=1)
        assert_same(compiled(matrix, x), function(matrix, x), rtol=1e-12)
    assert compiled.count_captures() == 2


def test_a_condition_on_the_size_is_looked_at_again() -> None:
    def function(x: Any) -> Any:
        return x * 2 if x.shape[0] > 10 else x * 3

    compiled = gs.compile(function, backend="numpy", dynamic=True)
    for size in (20, 30, 5, 10, 11, 400):
        x = data(size)
        assert_same(compiled(x), function(x))
    assert compiled.count_captures() == 3  # one for all from 11 on, and those of 5 and 10


@pytest.mark.parametrize(
    "asked", [lambda x: x.shape[0] % 2 == 0, lambda x: x.numel() > 290, lambda x: x.size(0) > 60]
)
def test_a_condition_that_differs_between_captures_is_warned_of(asked: Any) -> None:
    def function(x: Any) -> Any:
        return x * 2 if asked(x) else x * 3

    compiled = gs.compile(function, backend="numpy", dynamic=True)
    assert_same(compiled(data(20)), function(data(20)))
    with pytest.warns(UserWarning, match=r"test_dynamic.py:\d+: a condition depends on the size"):
        assert_same(compiled(data(31)), function(data(31)))
    for size in (58, 59, 61, 100):
        assert_same(compiled(data(size)), function(data(size)))


@pytest.mark.parametrize("made", [len, lambda x: int(x.shape[0])])
def test_a_number_that_is_made_of_the_size_is_warned_of(made: Any) -> None:
    def function(x: Any) -> Any:
        return x * (2 if made(x) > 25 else 3)

    compiled = gs.compile(function, backend="numpy", dynamic=True)
    assert_same(compiled(data(20)), function(data(20)))
    with pytest.warns(UserWarning, match=r"test_dynamic.py:\d+: a number is made of the size by"):
        assert_same(compiled(data(30)), function(data(30)))


def test_a_length_that_is_no_multiple_is_warned_of_with_its_line() -> None:
    def function(x: Any) -> Any:
        return x[: x.shape[0] // 2].sum()

    compiled = gs.compile(function, backend="numpy", dynamic=True)
    assert_same(compiled(data(20)), function(data(20)))
    with pytest.warns(UserWarning, match=r"captured for each size, because .*test_dynamic.py:\d+"):
        assert_same(compiled(data(31)), function(data(31)))


def test_rows_that_python_goes_through_are_warned_of() -> None:
    def function(x: Any) -> Any:
        total = x[0] * 0
        for row in x:
            total = total.sin() + row
        return total

    compiled = gs.compile(function, backend="numpy", dynamic=True)
    assert_same(compiled(data(3)), function(data(3)))
    with pytest.warns(UserWarning, match="captured for each size"):
        assert_same(compiled(data(4)), function(data(4)))


def test_a_function_that_is_well_for_all_sizes_warns_of_nothing() -> None:
    compiled = gs.compile(lambda x: x.sin().mean(), backend="numpy", dynamic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in range(2, 40):
            compiled(data(size))
    assert compiled.count_captures() == 1


def test_other_dimensions_are_captured_again() -> None:
    compiled = gs.compile(lambda x: x.sin().mean(0), backend="numpy", dynamic=True)
    for width in (5, 6, 1):
        for size in (3, 8):
            x = data(size, width)
            assert_same(compiled(x), x.sin().mean(0))
    assert compiled.count_captures() == 3


def test_what_lies_outside_is_guarded_for_all_sizes() -> None:
    settings = {"scale": 2.0}

    def function(x: Any) -> Any:
        return x * settings["scale"]

    compiled = gs.compile(function, backend="numpy", dynamic=True)
    assert_same(compiled(data(3)), data(3) * 2.0)
    assert_same(compiled(data(4)), data(4) * 2.0)
    settings["scale"] = 3.0
    assert_same(compiled(data(5)), data(5) * 3.0)
    assert_same(compiled(data(4)), data(4) * 3.0)


def test_a_size_that_is_the_bytes_of_an_element() -> None:
    compiled = gs.compile(lambda x: x.sin().sum(), backend="numpy", dynamic=True)
    for size in (3, 4, 8):
        x = gs.ones(size)  # of float32: at size 4 the shape equals the strides
        assert_same(compiled(x), x.sin().sum())
    assert compiled.count_captures() == 1


def test_arrays_and_layouts_that_are_no_rows() -> None:
    compiled = gs.compile(lambda x: x.sin().sum(1), backend="numpy", dynamic=True)
    for size in (3, 8):
        x = gs.from_numpy(np.asfortranarray(data(size).numpy()))
        assert_same(compiled(x), x.sin().sum(1), rtol=1e-12)


def test_the_function_that_fails_at_a_size_fails_as_it_does() -> None:
    compiled = gs.compile(lambda x: x.reshape(2, -1).sum(1), backend="numpy", dynamic=True)
    assert_same(compiled(data(4)), data(4).reshape(2, -1).sum(1), rtol=1e-12)
    with pytest.warns(UserWarning, match="captured for each size"), pytest.raises(RuntimeError):
        compiled(data(5))


def test_dropout_draws_as_many_numbers_as_there_are_elements() -> None:
    def function(x: Any) -> Any:
        return nn.functional.dropout(x, 0.5)

    compiled = gs.compile(function, backend="numpy", dynamic=True)
    for size in (4, 9, 30):
        gs.manual_seed(size)
        found = compiled(data(size))
        gs.manual_seed(size)
        assert_same(found, function(data(size)))
    assert compiled.count_captures() == 1


# ---- laws


@pytest.mark.parametrize(
    "rule",
    [
        lambda n: 3 * n - 1,
        lambda n: 1 / n,
        lambda n: 2 / (5 * n),
        lambda n: -0.01 / n,
        lambda n: 0.3 / (784 * n - 1),
        lambda n: n / (n - 1),
        lambda n: (3 * n - 1) / (3 * n),
        lambda n: float(n),
        lambda n: 1 / n**0.5,
        lambda n: slice(n - 1, None, n),
        lambda n: {"shape": [n, 2 * n, 4]},
    ],
)
def test_numbers_that_follow_from_the_size(rule: Callable[[int], Any]) -> None:
    fitted = Fitting((53, 58, 72)).fit(*(rule(n) for n in (53, 58, 72)))
    for size in (2, 3, 10, 999):
        assert instantiate(fitted, size) == rule(size)


@pytest.mark.parametrize("rule", [lambda n: n // 2, lambda n: n * n, lambda n: str(n), np.log])
def test_numbers_that_do_not_follow_are_refused(rule: Callable[[int], Any]) -> None:
    with pytest.raises(DiffersError):
        Fitting((53, 58, 72)).fit(*(rule(n) for n in (53, 58, 72)))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: np.full((n, 3), 1 / n, np.float32),
        lambda n: np.arange(n)[:, None],
        lambda n: np.arange(2.0 * n),
        lambda n: np.broadcast_to(np.float64(1 / n), (n, 2)),
        lambda n: np.zeros((n, 2), bool),
        lambda n: np.asarray(1 / n, np.float32),
        lambda n: np.full(n, np.float32(-0.1) / np.float32(10 * n - 1)),
        lambda n: n * np.eye(n),
        lambda n: np.zeros((3, n), np.float32).T,
    ],
)
def test_arrays_that_follow_from_the_size(make: Callable[[int], Any]) -> None:
    fitted = Fitting((53, 58, 72)).fit(*(make(n) for n in (53, 58, 72)))
    assert isinstance(fitted, Filled)
    for size in (2, 3, 10, 999):
        found, expected = fitted.at(size), make(size)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found, expected)
        lengths = zip(found.strides, expected.strides, found.shape, strict=True)
        assert all(one == other or length == 1 for one, other, length in lengths)


def test_arrays_that_are_computed_of_it_are_refused() -> None:
    with pytest.raises(DiffersError, match="computed of it"):
        Fitting((53, 58, 72)).fit(*(np.arange(n) ** 2 for n in (53, 58, 72)))


def test_what_changes_at_each_call_is_warned_of() -> None:
    compiled = gs.compile(lambda x, factor: x * factor, backend="numpy", dynamic=True)
    for factor in range(8):
        for size in (3, 5):
            assert_same(compiled(data(size), float(factor)), data(size) * factor)
    with pytest.warns(UserWarning, match="captured for the 9th time"):
        compiled(data(3), 8.0)
