"""Large gradients go block by block through a chain of nodes, and nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pytest

import gradspec as gs
from gradspec.fast.tuning import PARALLEL_ARITHMETIC_MIN
from gradspec.graph import chains

SIZE = PARALLEL_ARITHMETIC_MIN + 7

Array: TypeAlias = np.ndarray[Any, Any]
Function: TypeAlias = Callable[[gs.Tensor], gs.Tensor]


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of the nodes of every chain from now on."""
    found: list[list[str]] = []
    pass_through = chains._passed_through

    def noted(links: Any, grad: Any) -> Any:
        found.append([link.node.name() for link in links])
        return pass_through(links, grad)

    monkeypatch.setattr(chains, "_passed_through", noted)
    return found


@pytest.fixture(params=[1, 2, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = gs.get_num_threads()
    gs.set_num_threads(request.param)
    yield request.param
    gs.set_num_threads(before)


def numbers(dtype: str = "float64", shape: tuple[int, ...] = (SIZE,)) -> Array:
    gs.ones(SIZE).exp()  # a large array, as which chains are looked for
    return np.random.default_rng(0).uniform(0.1, 0.9, shape).astype(dtype)


def gradient(function: Function, array: Array) -> Array:
    x = gs.tensor(array, requires_grad=True)
    function(x).sum().backward()
    assert x.grad is not None
    return x.grad.numpy()


def nonlinear(x: gs.Tensor) -> gs.Tensor:
    return (-((x * 2 + 0.25).sin() ** 3)).exp().sigmoid().sqrt()


def of_complex_numbers(z: gs.Tensor) -> gs.Tensor:
    return (z * (1 + 2j)).sin().exp().real


def with_two_ways(x: gs.Tensor) -> gs.Tensor:
    y = x.sin().exp()
    return (y.cos() * y.sqrt().tanh()).exp().log()


def with_arrays_of_other_shapes(x: gs.Tensor) -> gs.Tensor:
    row = gs.arange(x.shape[-1], dtype=x.dtype) / x.shape[-1]
    return (x.sin() * row).exp().sqrt() * gs.tensor(3.0, dtype=x.dtype)


def out_of_order(x: gs.Tensor) -> gs.Tensor:
    return x.t().exp().sqrt().t().sin().exp()


@pytest.mark.parametrize(
    ("function", "shape", "dtype"),
    [
        (nonlinear, (SIZE,), "float64"),
        (nonlinear, (SIZE // 8, 8), "float32"),
        (of_complex_numbers, (SIZE,), "complex128"),
        (with_two_ways, (SIZE,), "float64"),
        (with_arrays_of_other_shapes, (SIZE // 8, 8), "float64"),
        (out_of_order, (SIZE // 8, 8), "float64"),
    ],
)
def test_a_large_gradient_is_as_its_pieces(
    function: Function,
    shape: tuple[int, ...],
    dtype: str,
    threads: int,
    passed: list[list[str]],
) -> None:
    """The pieces are small: each of their nodes runs by itself, as in the proofs."""
    array = numbers(dtype, shape)
    whole = gradient(function, array)
    chains_of_whole = list(passed)
    pieces = [gradient(function, piece) for piece in np.array_split(array, 9)]
    assert chains_of_whole
    assert passed == chains_of_whole
    expected = np.concatenate(pieces)
    assert whole.dtype == expected.dtype
    # Vector units round a last bit otherwise where a block ends, here of several functions.
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(whole, expected, rtol=40 * eps, atol=4 * eps)


def test_a_chain_goes_as_far_as_gradients_follow_each_other(passed: list[list[str]]) -> None:
    array = numbers()
    gradient(nonlinear, array)
    names = ["Sqrt", "Sigmoid", "Exp", "Neg", "Pow", "Sin", "Add", "Mul"]
    assert passed == [[f"{name}Backward0" for name in names]]
    passed.clear()
    gradient(with_two_ways, array)
    # The product leads to both ways, which meet in the exponential.
    assert passed == [
        ["LogBackward0", "ExpBackward0"],
        ["TanhBackward0", "SqrtBackward0"],
        ["ExpBackward0", "SinBackward0"],
    ]


def test_what_somebody_watches_is_computed_by_itself(passed: list[list[str]]) -> None:
    array = numbers()
    expected = np.cos(array) * np.exp(np.sin(array)) * np.cos(np.exp(np.sin(array)))
    seen: list[gs.Tensor] = []
    x = gs.tensor(array, requires_grad=True)
    y = x.sin().exp()
    y.register_hook(seen.append)
    y.sin().sum().backward()
    assert not passed
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(
        seen[0].numpy(), np.cos(np.exp(np.sin(array))), rtol=1e-13, atol=1e-15
    )
    # A gradient that is asked for on the way is seen as well.
    y = x.sin().exp()
    on_the_way, at_the_end = gs.autograd.grad(y.sin().log().sum(), [y, x])
    np.testing.assert_allclose(
        at_the_end.numpy(), (on_the_way * y * x.cos()).detach().numpy(), rtol=1e-13, atol=1e-15
    )


def test_only_what_is_asked_for_is_computed(passed: list[list[str]]) -> None:
    x, y = (gs.tensor(numbers(), requires_grad=True) for _ in range(2))
    (grad,) = gs.autograd.grad((x.sin().exp() + y.cos().log()).sum(), [x])
    assert passed == [["ExpBackward0", "SinBackward0"]]
    expected = np.exp(np.sin(numbers())) * np.cos(numbers())
    np.testing.assert_allclose(grad.numpy(), expected, rtol=1e-14, atol=1e-15)


def test_the_graph_is_freed_and_kept_as_ever(passed: list[list[str]]) -> None:
    x = gs.tensor(numbers(), requires_grad=True)
    y = x.sin().exp().sqrt()
    middle = y.grad_fn.next_functions[0][0]
    assert middle is not None
    y.backward(gs.ones_like(y), retain_graph=True)
    assert middle._saved_result.shape == x.shape
    y.backward(gs.ones_like(y))
    assert [len(names) for names in passed] == [3, 3]
    with pytest.raises(RuntimeError, match="freed"):
        middle._saved_result  # noqa: B018
    with pytest.raises(RuntimeError, match="second time") as caught:
        y.backward(gs.ones_like(y))
    assert "SqrtBackward0" in caught.value.__notes__[0]


def test_an_error_belongs_to_its_vertex() -> None:
    x = gs.tensor(numbers(), requires_grad=True)
    y = x * 1
    z = y.sin().exp().log()
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        z.sum().backward()
    assert caught.value.__notes__ == ["in the gradient of the op 'sin' (SinBackward0)"]
    zeros = gs.zeros(SIZE, dtype=gs.float64, requires_grad=True)
    y = (zeros.sqrt() + 1).exp().sum()
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError) as failed:
        y.backward()
    assert failed.value.__notes__ == ["in the gradient of the op 'sqrt' (SqrtBackward0)"]
    with np.errstate(divide="ignore"):
        y = (zeros.sqrt() + 1).exp().sum()
        y.backward()
    assert zeros.grad is not None
    assert np.isposinf(zeros.grad.numpy()).all()


def test_values_changed_before_they_were_kept(passed: list[list[str]]) -> None:
    """The version that counts is the one of when the op ran."""
    x = gs.tensor(numbers(), requires_grad=True)
    y = x * 1
    y += 1
    y.sin().exp().sum().backward()
    assert passed[0][:2] == ["ExpBackward0", "SinBackward0"]
    expected = np.exp(np.sin(numbers() + 1)) * np.cos(numbers() + 1)
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-14, atol=1e-15)


def test_gradients_that_are_differentiated_are_recorded(passed: list[list[str]]) -> None:
    x = gs.tensor(numbers(), requires_grad=True)
    (slope,) = gs.autograd.grad(x.sin().exp().sum(), [x], create_graph=True)
    assert not passed
    (curve,) = gs.autograd.grad(slope.sum(), [x])
    a = numbers()
    expected = np.exp(np.sin(a)) * (np.cos(a) ** 2 - np.sin(a))
    np.testing.assert_allclose(curve.numpy(), expected, rtol=1e-12, atol=1e-14)


def test_a_profiler_sees_every_vertex_once(passed: list[list[str]]) -> None:
    x = gs.tensor(numbers(), requires_grad=True)
    y = x.sin().exp().sqrt().sum()
    with gs.autograd.profiler.profile() as profile:
        y.backward()
    assert not passed
    counts = {average.key: average.count for average in profile.key_averages()}
    for name in ("SqrtBackward0", "ExpBackward0", "SinBackward0"):
        assert counts[name] == 1
