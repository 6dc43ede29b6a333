"""Large gradients pass chains of elementwise nodes block by block, with the same values."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pytest

import gradspec as gs
from gradspec.fast import parallel_for
from gradspec.fast.tuning import PARALLEL_ARITHMETIC_MIN
from gradspec.graph import chains
from tests.thresholds import set_thresholds

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


# ---- random graphs, with every gradient counted as large

Step: TypeAlias = tuple[str, int, int]

UNARY = (
    *("sin", "cos", "neg", "abs", "square", "sigmoid", "tanh", "relu", "atan", "erf", "t"),
    *("+ 1.5", "* 0.7", "1 -", "/ 3", "clamp", "contiguous"),
)
BINARY = ("add", "sub", "mul", "maximum", "where", "/")
SHAPE = (4, 4)


def run_step(lib: Any, name: str, x: Any, y: Any) -> Any:
    """Run one step, of one tensor or of two."""
    match name:
        case "+ 1.5":
            return x + 1.5
        case "* 0.7":
            return x * 0.7
        case "1 -":
            return 1 - x
        case "/ 3":
            return x / 3
        case "t":
            return x.t() if x.ndim == 2 else x
        case "clamp":
            return x.clamp(-1, 1)
        case "where":
            return lib.where(x > y, x, y * 2)
        case "/":
            return x / (y.abs() + 1)
    return getattr(lib, name)(x, y) if name in BINARY else getattr(x, name)()


def make_steps(rng: random.Random, leaves: int) -> list[Step]:
    """Most steps go on from the last: so there are long chains, and places where they meet."""
    steps = []
    for last in range(leaves - 1, leaves + rng.randrange(4, 18)):
        first = last if rng.random() < 0.75 else rng.randrange(last + 1)
        name = rng.choice(UNARY if rng.random() < 0.65 else BINARY)
        steps.append((name, first, rng.randrange(last + 1)))
    return steps


def gradients_of_graph(lib: Any, seed: int) -> list[Any]:
    """Return the gradients of all leaves, or by `autograd.grad` that of the last one."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    tensors = []
    for shape in (*rng.choices([SHAPE, SHAPE, (1, 4), ()], k=3), SHAPE):
        asks = len(tensors) == 3 or rng.random() < 0.5
        tensors.append(lib.tensor(numbers.standard_normal(shape), requires_grad=asks))
    leaves = [leaf for leaf in tensors if leaf.requires_grad]
    for name, first, second in make_steps(rng, len(tensors)):
        tensors.append(run_step(lib, name, tensors[first], tensors[second]))
        if rng.random() < 0.02 and tensors[-1].requires_grad:
            tensors[-1].register_hook(lambda grad: grad * 2)
    total = tensors[-1].sum()
    if not total.requires_grad:
        return []
    if rng.random() < 0.4:
        return list(lib.autograd.grad(total, leaves[-1:], allow_unused=True))
    total.backward(retain_graph=True)
    total.backward()
    return [leaf.grad for leaf in leaves]


@pytest.mark.oracle
def test_random_graphs_have_the_gradients_of_pytorch(
    torch: Any, monkeypatch: pytest.MonkeyPatch, passed: list[list[str]]
) -> None:
    set_thresholds(monkeypatch, CHAIN_BLOCK_BYTES=40, PARALLEL_UFUNC_MIN=2)
    monkeypatch.setattr(parallel_for._workers, "have_met_large", True)
    for seed in range(1_000):
        ours, theirs = gradients_of_graph(gs, seed), gradients_of_graph(torch, seed)
        assert len(ours) == len(theirs), seed
        for found, expected in zip(ours, theirs, strict=True):
            assert (found is None) == (expected is None), seed
            if found is not None:
                np.testing.assert_allclose(
                    found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12, err_msg=f"seed {seed}"
                )
    assert len(passed) > 500
    assert max(map(len, passed)) > 5
